"""Jobs that workers of every kind can import, with accidents that happen once."""

import os
import signal
import struct
import sys
import time
import warnings
from pathlib import Path


class Squares:
    """Squares numbers, and has accidents on the way.

    Args:
        folder: where it is noted which accidents have happened.
        accidents: the signal that a worker sends itself, once, before it squares a number.
    """

    def __init__(self, folder, accidents=None, seconds=0.002):
        self.folder, self.accidents, self.seconds = Path(folder), accidents or {}, seconds

    def begin(self, items):
        pass

    def one(self, item):
        if item in self.accidents and self._first_time(item):
            os.kill(os.getpid(), self.accidents[item])
            time.sleep(5)  # until the signal arrives
        if item < 0:
            warnings.warn("below zero", stacklevel=1)
        time.sleep(self.seconds)
        return item * item

    def _first_time(self, item):
        try:
            (self.folder / f"accident-{item}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def weight(self, result):
        return 8

    def packed(self, items, results):
        return list(results)


class Deadly(Squares):
    """Ends the process whenever it meets a certain number."""

    def one(self, item):
        if item == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().one(item)


class TornOff(Squares):
    """Dies once, in the middle of sending a result: the length of a message has arrived, and a part of the message."""

    def one(self, item):
        if item == 30 and self._first_time(item):
            frame = sys._getframe()
            while "result_queue" not in frame.f_locals:
                frame = frame.f_back
            os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 100_000) + b"only a part")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().one(item)
