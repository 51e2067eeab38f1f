"""The protocol of the simulated clock, with a program that is not there."""

from __future__ import annotations

import mmap
import os
import struct

import pytest

from schedlab.bridge.kubernetes.clock import VARIABLE, ClockLost, GoClock, Report


class Program:
    """The other ends of a clock's pipes."""

    def __init__(self, clock: GoClock) -> None:
        self._orders, self._reports, page = (os.dup(descriptor) for descriptor in clock.theirs)
        self._page = mmap.mmap(page, mmap.PAGESIZE, prot=mmap.PROT_READ)
        os.close(page)
        clock.handed_over()

    def report(self, *fields: int) -> None:
        os.write(self._reports, struct.pack("<QqqQQ", *fields))

    def order(self) -> tuple[int, int]:
        number, time = struct.unpack("<Qq", os.read(self._orders, 16))
        return number, time

    def shown(self) -> int:
        (time,) = struct.unpack("<q", self._page[:8])
        return int(time)

    def end(self) -> None:
        os.close(self._orders)
        os.close(self._reports)


def test_orders_and_reports() -> None:
    clock = GoClock(1000, tick=5, seed=7)
    orders, reports, page = clock.theirs
    assert clock.environment() == {VARIABLE: f"{orders},{reports},1000,5,7,{page}"}
    program = Program(clock)
    clock.receive()  # nothing yet
    assert clock.idle is None
    program.report(0, 1000, 2000, 10, 20)
    clock.receive()
    assert clock.idle == Report(0, 1000, 2000, 10, 20)
    assert clock.next == 2000
    clock.show(1500)
    assert program.shown() == clock.now == 1500
    assert clock.idle is not None  # nothing of it was due
    clock.set(2000)
    assert program.order() == (1, 2000)
    assert clock.idle is None  # it has not obeyed yet
    program.report(1, 2000, (1 << 63) - 1, 10, 20)
    clock.receive()
    assert clock.idle is not None
    assert clock.next is None  # it has no timer
    program.end()
    with pytest.raises(ClockLost):
        clock.receive()
    clock.close()


def test_reports_that_were_overtaken_do_not_count() -> None:
    clock = GoClock(0)
    program = Program(clock)
    program.report(0, 0, 50, 10, 20)
    program.report(0, 0, 60, 10, 10)  # of a thread that counted earlier and was slow
    clock.receive()
    assert clock.reports == 2
    assert clock.idle == Report(0, 0, 50, 10, 20)
    program.report(0, 0, 70, 10, 20)
    clock.receive()
    assert clock.next == 70
    program.end()
    clock.close()


def test_reports_may_come_in_pieces() -> None:
    clock = GoClock(0)
    orders, reports = (os.dup(descriptor) for descriptor in clock.theirs[:2])
    clock.handed_over()
    data = struct.pack("<QqqQQ", 0, 1, 2, 3, 4) + struct.pack("<QqqQQ", 0, 5, 6, 7, 8)
    os.write(reports, data[:47])
    clock.receive()
    assert clock.report == Report(0, 1, 2, 3, 4)
    os.write(reports, data[47:])
    clock.receive()
    assert clock.report == Report(0, 5, 6, 7, 8)
    os.close(orders)
    os.close(reports)
    with pytest.raises(ClockLost):
        clock.set(10)
    clock.close()
