"""The switches of the page: their order, and which of them say who is compared."""

from ns_mab_gym.experiments import paper_readings
from ns_mab_gym.experiments.paper_names import ALGORITHMS
from ns_mab_gym.experiments.report.switches import switches_of

from . import by_hand


def test_who_is_compared_and_how_comes_before_what_sentences_mean():
    *others, lasts, there = by_hand.judged()
    switches = switches_of([lasts, there, *others])  # the first claim asks what a sentence means
    assert [switch.choice for switch in switches] == [by_hand.RIVALS, by_hand.TUNING, by_hand.SPAN]
    assert [switch.anchor for switch in switches] == ["choice-0", "choice-1", "choice-2"]
    assert [switch.about_agents for switch in switches] == [True, True, False]
    assert [switch.data("abc")["shown"] for switch in switches] == [[("a", "b", "c"), ("a", "b")], [], []]
    assert switches[1].data("abc")["labels"] == {"b": ["b", by_hand.BOLD]}
    assert switches[1].data(["b (τ = 9)"])["labels"] == {"b (τ = 9)": ["b (τ = 9)", "b (τ = 9) (boldly)"]}
    assert switches[2].data("abc")["labels"] == {}


def test_of_the_papers_choices_only_one_is_about_who_is_compared():
    about = [choice for choice in paper_readings.CHOICES if choice.compares]
    assert [choice.key for choice in about] == ["KL-UCB"]
    missing = {frozenset(ALGORITHMS) - frozenset(reading.value) for reading in about[0].readings}
    assert missing == {frozenset(), frozenset({"KL-UCB"})}
