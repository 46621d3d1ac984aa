"""A function that workers of every kind can import, with accidents."""

import os
import struct
import sys
import time
import warnings
from pathlib import Path


class Squares:
    """Squares numbers, and has accidents on the way.

    Args:
        folder: where it is noted which accidents have happened.
        once: the signals that a worker sends itself before it squares a number, the first time.
        always: the signals that it sends itself every time.
    """

    def __init__(self, folder, once=None, always=None):
        self.folder, self.once, self.always = Path(folder), once or {}, always or {}

    def __call__(self, item):
        if item in self.always or (item in self.once and self.first_time(item)):
            os.kill(os.getpid(), self.always.get(item) or self.once[item])
            time.sleep(5)  # until the signal arrives
        if item < 0:
            warnings.warn("below zero", stacklevel=1)
        time.sleep(0.002)
        return item * item

    def first_time(self, item):
        try:
            (self.folder / f"accident-{item}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class TornOff(Squares):
    """Dies once, in the middle of sending a result: the length of a message has arrived, and a part of the message."""

    def __call__(self, item):
        if item == 30 and self.first_time(item):
            frame = sys._getframe()
            while "result_queue" not in frame.f_locals:
                frame = frame.f_back
            os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 100_000) + b"only a part")
            os.kill(os.getpid(), 9)
        return super().__call__(item)
