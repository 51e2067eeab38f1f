"""What is changed in Go's own sources so that a program runs on a simulated clock (Go 1.26, Linux).

Each edit replaces a short text that must be found exactly once in a named function: on another Go nothing is changed
by mistake, for the text is not there. The functions that begin with `lab` are in the .go files beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass

GO = "1.26"  # the release that the edits were written for


@dataclass(frozen=True, slots=True)
class Edit:
    """In `function` of `file` (below Go's src), `old` becomes `new`; without a function, anywhere in the file."""

    file: str
    function: str
    old: str
    new: str


def _before(file: str, function: str, mark: str, added: str) -> Edit:
    return Edit(file, function, mark, added + mark)


def _after(file: str, function: str, mark: str, added: str) -> Edit:
    return Edit(file, function, mark, mark + added)


def _timer_time(file: str, function: str, old: str) -> Edit:
    """The time of timers instead of real time."""
    return Edit(file, function, old, old.replace("nanotime()", "labNano()"))


TIME, SCHEDULER, POLL, RANDOM = "runtime/time.go", "runtime/proc.go", "internal/poll/fd_unix.go", "runtime/rand.go"

# The simulated time never goes into the runtime's own scheduler: 0 says that the time is not known.
_UNKNOWN = "if lab.on {\n\t\t\tnow = 0\n\t\t}\n"

_WAIT = """var list gList
		var delta int32
		if lab.on && (pollUntil == 0 || pollUntil > labNano()) {
			if list, delta = netpoll(0); list.empty() {
				labReport()
				list, delta = netpoll(-1)
			}
		} else {
			if lab.on {
				delay = 0 // a timer is due
			}
			list, delta = netpoll(delay)
		}
		"""

EDITS = (
    # What programs see.
    Edit(
        TIME,
        "time_runtimeNow",
        "return time_now()",
        "if lab.on {\n\t\tt := labLook()\n\t\treturn t / 1e9, int32(t % 1e9), t\n\t}\n\treturn time_now()",
    ),
    Edit(
        TIME,
        "time_runtimeNano",
        "return nanotime()",
        "if lab.on {\n\t\treturn labLook()\n\t}\n\treturn nanotime()",
    ),
    # When timers are due.
    _timer_time(TIME, "timeSleep", "now = nanotime()"),
    _timer_time(TIME, "(t *timer) maybeRunAsync", "now := nanotime()"),
    _timer_time(TIME, "(t *timer) maybeRunChan", "now := nanotime()"),
    Edit(
        TIME,
        "(ts *timers) check",
        "if now == 0 {\n\t\tnow = nanotime()",
        "if now == 0 || lab.on {\n\t\tnow = labNano()",
    ),
    _timer_time("runtime/netpoll.go", "poll_runtime_pollSetDeadline", "d += nanotime()"),
    # The scavenger would sleep in simulated time, for as long as it has worked in real time.
    _after(
        "runtime/mgcscavenge.go",
        "bgscavenge",
        "for {\n",
        "\t\tif lab.on {\n\t\t\tscavenger.park()\n\t\t\tcontinue\n\t\t}\n",
    ),
    # Threads that have nothing to do.
    _before(SCHEDULER, "schedinit", "randinit() //", "labStart()\n\t"),
    _after(SCHEDULER, "findRunnable", "now, pollUntil, _ := pp.timers.check(0, nil)\n", _UNKNOWN),
    _before(SCHEDULER, "findRunnable", "if w != 0 && (pollUntil == 0", _UNKNOWN),
    Edit(SCHEDULER, "findRunnable", "list, delta := netpoll(delay) // block until new work is available\n\t\t", _WAIT),
    _before(SCHEDULER, "findRunnable", "stopm()\n\tgoto top\n}", "if lab.on {\n\t\tlabReport()\n\t}\n\t"),
    _after(
        SCHEDULER,
        "handoffp",
        "pidleput(pp, 0)\n\tunlock(&sched.lock)\n",
        "\tif lab.on {\n\t\tnetpollBreak() // perhaps nothing runs any more\n\t\treturn\n\t}\n",
    ),
    # The system monitor is there for threads that are long in system calls: it need not wake up with all others.
    _before(SCHEDULER, "sysmon", "usleep(delay)", "if lab.on {\n\t\t\tdelay = 10 * 1000\n\t\t}\n\t\t"),
    Edit(SCHEDULER, "sysmon", "if debug.schedtrace <= 0 && (sched", "if debug.schedtrace <= 0 && !lab.on && (sched"),
    # Chance.
    _before(RANDOM, "randinit", "globalRand.state.Init(*seed)", "labSeed(seed)\n\t"),
    Edit(RANDOM, "maps_rand", "return rand()", "if lab.on {\n\t\treturn 0\n\t}\n\treturn rand()"),
    Edit("math/rand/rand.go", "", "runtime_rand runtime.rand", "runtime_rand runtime.labRand"),
    Edit("math/rand/v2/rand.go", "", "runtime_rand runtime.rand", "runtime_rand runtime.labRand"),
    # What goes through sockets.
    _before(
        POLL,
        "(fd *FD) Read",
        "err = fd.eofError(n, err)",
        "if n > 0 && !fd.isFile {\n\t\t\tlabCount(n, 0, 0)\n\t\t}\n\t\t",
    ),
    _after(POLL, "(fd *FD) Write", "nn += n\n", "\t\t\tif !fd.isFile {\n\t\t\t\tlabCount(0, n, 0)\n\t\t\t}\n"),
    _before(POLL, "(fd *FD) destroy", "fd.pd.close()", "if !fd.isFile {\n\t\tlabDrop(fd.Sysfd)\n\t}\n\t"),
    _after("internal/poll/writev.go", "(fd *FD) Writev", "n += int64(wrote)\n", "\t\tlabCount(0, int(wrote), 0)\n"),
    _before(
        "net/fd_unix.go",
        "(fd *netFD) connect",
        "switch err := connectFunc",
        "poll.LabDial(1)\n\tdefer poll.LabDial(-1)\n\t",
    ),
)

# Files of ours, and where in Go's sources they belong.
ADDED = {
    "runtime_clock.go": "runtime/schedlab_clock.go",
    "os_clock.go": "os/schedlab_clock.go",
    "poll_clock.go": "internal/poll/schedlab_clock.go",
}
