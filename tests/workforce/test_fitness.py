"""A worker with other versions, other code or other files is refused, and says what differs."""

import sys

import pytest

from ns_mab_gym.installed_versions import versions
from ns_mab_gym.kept_files import KeptFile
from ns_mab_gym.sources import digest_of
from ns_mab_gym.workforce import Crew, UnfitWorkerError
from ns_mab_gym.workforce.fitness import Needs, check_fitness, ensure_all_fit, lacks, needs_of

ENGINE = ("ns_mab_gym.play.engine",)


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """A module of a user's, which nothing has imported yet."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_this_process_is_as_fit_as_itself(own_module, tmp_path):
    (tmp_path / "means.csv").write_text("a,b\n0.1,0.2\n")
    code = {ENGINE: digest_of(ENGINE), (own_module,): digest_of([own_module])}
    needs = needs_of(code, [KeptFile(tmp_path / "means.csv")])
    assert lacks(needs) == []
    check_fitness(needs)


@pytest.mark.parametrize("package", ["python", "ns-mab-gym", "numpy", "numba", "gymnasium"])
def test_other_versions(package):
    wanted = versions() | {package: "0.0.1"}
    with pytest.raises(UnfitWorkerError, match=f"does: {package} {versions()[package]} instead of 0.0.1; give"):
        check_fitness(Needs(tuple(wanted.items())))


def test_other_code(own_module, tmp_path):
    needs = needs_of({(own_module,): digest_of([own_module])})
    (tmp_path / f"{own_module}.py").write_text("VALUE = 2\n")
    assert lacks(needs) == [f"another version of the code of {own_module}"]
    (tmp_path / f"{own_module}.py").write_text("VALUE = 1  # the same, with a comment\n")
    assert lacks(needs) == []


def test_code_that_is_not_there(own_module, tmp_path):
    needs = needs_of({(own_module,): digest_of([own_module])})
    (tmp_path / f"{own_module}.py").unlink()
    [line] = lacks(needs)
    assert line == f"no module {own_module} (install it there, or put it on PYTHONPATH)"


def test_code_that_was_edited_after_the_worker_loaded_it(own_module, tmp_path):
    """What the file says now is what is asked for, but it is not what the worker would play."""
    __import__(own_module)
    (tmp_path / f"{own_module}.py").write_text("VALUE = 3\n")
    [line] = lacks(needs_of({(own_module,): digest_of([own_module])}))
    assert line == f"{own_module} as it was before an edit (start the worker anew)"


def test_other_files(tmp_path):
    import pickle

    here = KeptFile.__new__(KeptFile, _written(tmp_path / "means.csv", "a,b\n0.1,0.2\n"))
    sent = pickle.loads(pickle.dumps(here))  # as a worker receives it: the path and the hash
    _written(tmp_path / "means.csv", "a,b\n0.1,0.3\n")
    assert lacks(needs_of({}, [sent])) == [f"another file at {str(here)!r}"]
    (tmp_path / "means.csv").unlink()
    [line] = lacks(needs_of({}, [pickle.loads(pickle.dumps(here))]))
    assert line.startswith(f"no file that can be read at {str(here)!r}")


def _written(path, text):
    path.write_text(text)
    return path


class Asked(Crew):
    """Workers that give the answers they were told to give."""

    name = "asked"
    slots = 2

    def __init__(self, answers):
        self.answers = answers

    def everywhere(self, function, *arguments):
        return self.answers

    def submit(self, function, *arguments):
        raise NotImplementedError

    def close(self, at_once):
        pass


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (
            {"a": [], "b": ["numpy 1 instead of 2", "no module mine"]},
            "worker b would not compute what this machine does: numpy 1 instead of 2; no module mine; ",
        ),
        ({"a": ModuleNotFoundError("No module named 'ns_mab_gym'")}, "does: ModuleNotFoundError: No module named"),
        ({"a": OSError("connection closed"), "b": ["numpy 1 instead of 2"]}, "worker b would not compute"),
    ],
)
def test_every_worker_is_asked_before_the_work(answers, words):
    with pytest.raises(UnfitWorkerError) as caught:
        ensure_all_fit(Asked(answers), needs_of({}))
    assert words in str(caught.value)
    ensure_all_fit(Asked({"a": [], "b": []}), needs_of({}))
    ensure_all_fit(Asked({}), needs_of({}))


@pytest.mark.parametrize("error", [OSError("connection closed"), TimeoutError(), ConnectionResetError()])
def test_a_worker_that_dies_while_it_is_asked_is_not_asked_further(error):
    ensure_all_fit(Asked({"a": error, "b": []}), needs_of({}))
