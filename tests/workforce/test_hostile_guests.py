"""What the code of guests may do in a worker, and workers in a task: it concerns their own items alone."""

import asyncio
import os
import pickle
import signal
import threading
import time
import warnings
from concurrent.futures import Future

import pytest
from shared_jobs import Squares

from ns_mab_gym.workforce import Crew, UnfitWorkerError, dispatch, hired
from ns_mab_gym.workforce.parcels import Parcel, Trouble, carry_out


class SpeechlessError(Exception):
    """An error that fails when it is asked what it says, and that cannot be sent."""

    def __init__(self):
        super().__init__(lambda: None)

    def __str__(self):
        raise RuntimeError("nothing to say")


class Guests(Squares):
    """Calls the guest that is its item."""

    def __init__(self):
        super().__init__("")

    def one(self, item):
        return item()


class Mixin:
    """What a class of warnings may be derived from besides."""


def raising(error):
    def guest():
        raise error

    return guest


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SpeechlessError(), "SpeechlessError: (its text cannot be had: RuntimeError) (test_hostile_guests.py, line "),
        (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine (test_hostile_guests.py, line "),
        (asyncio.CancelledError(), "CancelledError (test_hostile_guests.py, line "),
        (GeneratorExit(), "GeneratorExit (test_hostile_guests.py, line "),
        (SystemExit(3), "SystemExit: 3 (test_hostile_guests.py, line "),
    ],
)
def test_whatever_a_guest_raises_elsewhere_is_the_trouble_of_its_item_alone(error, words):
    sent = carry_out(Guests(), [lambda: 1, raising(error), lambda: 3], 60.0, elsewhere=True)
    parcel = pickle.loads(pickle.dumps(sent))
    assert (parcel.well, parcel.content, parcel.left) == ((0, 2), [1, 3], 0)
    [(number, trouble)] = parcel.troubles
    assert number == 1
    assert trouble.error.startswith(words)


def test_a_warning_of_a_class_that_cannot_be_sent_arrives_as_one_of_the_nearest_that_can():
    class HouseWarning(Mixin, DeprecationWarning):
        """Found under no name; the first that it is derived from is no warning."""

    def guest():
        warnings.warn("old", HouseWarning, stacklevel=1)

    parcel = pickle.loads(pickle.dumps(carry_out(Guests(), [guest], 60.0, elsewhere=True)))
    assert parcel.caught == (("old", DeprecationWarning),)


def test_a_process_that_dies_while_it_has_nothing_to_do_is_replaced():
    with hired("processes", 1) as crew:
        first = crew.submit(os.getpid).result(60)
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while crew._pools[0]._flags.broken is None:  # until its pool knows
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert crew.submit(os.getpid).result(60) != first


def leave_a_thread():
    threading.Thread(target=time.sleep, args=(600,)).start()  # an interpreter that ends waits for it
    return os.getpid()


def test_a_thread_that_a_guest_leaves_behind_does_not_keep_its_process():
    crew = hired("processes", 1)
    process = crew.submit(leave_a_thread).result(60)
    closing = threading.Thread(target=crew.close, args=(False,), daemon=True)
    closing.start()
    closing.join(30)
    if waits := closing.is_alive():
        os.kill(process, signal.SIGKILL)
    assert not waits


class Forger(Crew):
    """Answers every task with the same thing."""

    name = "forger"
    slots = 1

    def __init__(self, answer):
        self.answer, self.submitted = answer, 0

    def submit(self, function, *arguments):
        self.submitted += 1
        assert self.submitted < 100, "it is asked again and again"
        task = Future()
        task.set_result(self.answer)
        return task

    def close(self, at_once):
        pass


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"results",
        Parcel(None, (), (), 0, ()),  # of the one item nothing is said
        Parcel(None, (), (), 1, ()),  # it was not begun, for ever
        Parcel([1], (0,), (), -1, ()),  # more items than there are
        Parcel([1, 1], (0, 0), (), 0, ()),  # it arrives twice
        Parcel([1], (7,), (), 0, ()),  # another item
        Parcel([1], (0,), ((0, Trouble("bad")),), 0, ()),  # it went well, and did not
    ],
)
def test_a_worker_must_account_for_each_of_its_items(answer):
    with pytest.raises(UnfitWorkerError, match="something else than the results of its task"):
        list(dispatch(Forger(answer), Guests(), [lambda: 1]))
