"""The switches of the page: their order, and which of them say who is compared."""

import pytest

from ns_mab_gym.experiments import paper_readings
from ns_mab_gym.experiments.paper_names import ALGORITHMS
from ns_mab_gym.experiments.readings import Choice, Reading
from ns_mab_gym.experiments.report.switches import shown_under, switches_of

from . import by_hand


def test_who_is_compared_and_how_comes_before_what_sentences_mean():
    *others, lasts, there = by_hand.judged()
    switches = switches_of([lasts, there, *others], "abc")  # the first claim asks what a sentence means
    assert [switch.choice for switch in switches] == [by_hand.RIVALS, by_hand.TUNING, by_hand.SPAN]
    assert [switch.anchor for switch in switches] == ["choice-0", "choice-1", "choice-2"]
    assert [switch.about_agents for switch in switches] == [True, True, False]
    assert switches[0].shown == (("a", "b", "c"), ("a", "b"))
    assert switches[1].data("abc")["labels"] == {"b": ["b", by_hand.BOLD]}
    assert switches[1].data(["b (τ = 9)"])["labels"] == {"b (τ = 9)": ["b (τ = 9)", "b (τ = 9) (boldly)"]}
    assert switches[2].data("abc")["labels"] == {}


@pytest.mark.parametrize("value", [1, "ab", (1, 2), ("a", "z"), (), None])
def test_a_value_that_is_no_tuple_of_compared_agents_says_nothing_about_who_is_compared(value: object):
    choice = Choice("key", "question?", (Reading("one", "", ("a", "b")), Reading("two", "", value)))
    assert shown_under(choice, "abc") == ()


def test_of_the_papers_choices_only_one_is_about_who_is_compared():
    about = [choice for choice in paper_readings.CHOICES if shown_under(choice, ALGORITHMS)]
    assert [choice.key for choice in about] == ["KL-UCB"]
    missing = {frozenset(ALGORITHMS) - frozenset(shown) for shown in shown_under(about[0], ALGORITHMS)}
    assert missing == {frozenset(), frozenset({"KL-UCB"})}
