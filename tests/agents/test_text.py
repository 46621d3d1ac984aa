"""Values as people write them: numbers, lists, truth values, and what belongs to a bracket."""

import pytest

from ns_mab_gym.agents.core.arguments import nearest, positive_int
from ns_mab_gym.agents.core.registry import _split, plain, read_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500", 500),
        ("1e4", 10_000),
        ("1E+3", 1_000),
        ("2.0", 2),
        ("0.5", 0.5),
        ("-1e-3", -0.001),
        ("1e300", 1e300),  # too large to be exact as an integer
        ("true", True),
        ("False", False),
        ("[0.1, 5e1,true]", [0.1, 50, True]),
        ("[]", []),
        ("gaussian", "gaussian"),
        ("cusum(threshold=5)", "cusum(threshold=5)"),
    ],
)
def test_a_text_means_a_value_of_its_own_type(text, value):
    assert read_value(text) == value
    assert type(read_value(text)) is type(value)


def test_whole_numbers_of_a_description_are_integers_however_deep():
    given = {"horizon": 1e4, "mu": [0.0, 0.5], "reward": {"scale": 2.0}, "blind": True, "sigma": float("inf")}
    assert plain(given) == given
    read = plain(given)
    assert [type(each) for each in (read["horizon"], read["mu"][0], read["reward"]["scale"], read["blind"])] == [
        int, int, int, bool,
    ]  # fmt: skip


def test_signs_within_brackets_belong_to_the_value():
    assert _split("a=[1,2],b=f(x=1, y=[2,3]),c=3", ",") == ["a=[1,2]", "b=f(x=1, y=[2,3])", "c=3"]
    assert _split("(1|2)|3", "|") == ["(1|2)", "3"]
    assert _split("", ",") == []
    assert _split("a),b", ",") == ["a)", "b"]  # a bracket that nobody opened is a letter


def test_a_whole_float_in_python_stays_an_error_that_says_what_to_write():
    with pytest.raises(TypeError, match=r"horizon must be a positive integer, got 10000.0; write 10000$"):
        positive_int("horizon", 1e4)
    with pytest.raises(TypeError, match=r"horizon must be a positive integer, got 2.5$"):
        positive_int("horizon", 2.5)
    with pytest.raises(TypeError, match=r"got -3.0; a hint$"):
        positive_int("horizon", -3.0, hint="a hint")


def test_a_guess_comes_with_the_whole_list_if_that_is_short():
    few, many = ["local", "global"], [f"word-{n}" for n in range(9)]
    assert nearest("globl", few) == "did you mean 'global'? choose one of 'local', 'global'"
    assert nearest("zzz", few) == "choose one of 'local', 'global'"
    assert nearest("word-33", many) == "did you mean 'word-3'?"
    assert nearest("ts", ["tss"]) == "did you mean 'tss'?"  # there is nothing else to choose
