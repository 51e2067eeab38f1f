package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// A clock that is set from outside. Timers and the time that programs see are simulated; the garbage collector,
// sysmon and the network poller keep real time. Off without the variable that labStart looks for.
var lab struct {
	on     bool
	orders int           // the pipe from which times come
	page   *atomic.Int64 // memory that the simulator shares: a time at which no timer is due needs no order
	out    uintptr       // the pipe into which reports go
	tick   int64         // what each look at the clock takes, in nanoseconds
	now    atomic.Int64  // nanoseconds since 1970
	step   atomic.Int64  // looks at the clock within one instant
	order  atomic.Uint64 // number of the last order that was obeyed
	got    atomic.Int64  // bytes read from sockets
	put    atomic.Int64  // bytes written to sockets
	dials  atomic.Int64  // connections that are being made
	random atomic.Uint64
}

const (
	labVariable = "SCHEDLAB_GO_CLOCK=" // orders,reports,start,tick,seed,page
	labMostStep = 900000               // an instant is shorter than a millisecond: the simulator's time is in these
	labShared   = 1                    // MAP_SHARED
)

// labStart runs before anything of the runtime needs random numbers, so the environment has to be read by hand.
func labStart() {
	n := int32(0)
	for argv_index(argv, argc+1+n) != nil {
		p := argv_index(argv, argc+1+n)
		s := unsafe.String(p, findnull(p))
		n++
		if len(s) < len(labVariable) || s[:len(labVariable)] != labVariable {
			continue
		}
		var fields [6]int64
		at := 0
		for _, c := range []byte(s[len(labVariable):]) {
			if c == ',' && at < len(fields)-1 {
				at++
			} else if c >= '0' && c <= '9' {
				fields[at] = fields[at]*10 + int64(c-'0')
			} else {
				throw("SCHEDLAB_GO_CLOCK is not orders,reports,start,tick,seed,page")
			}
		}
		lab.orders, lab.out, lab.tick = int(fields[0]), uintptr(fields[1]), fields[3]
		lab.now.Store(fields[2])
		lab.random.Store(uint64(fields[4]))
		if fields[5] > 0 {
			page, err := mmap(nil, physPageSize, _PROT_READ, labShared, int32(fields[5]), 0)
			if err != 0 {
				throw("SCHEDLAB_GO_CLOCK: the page cannot be mapped")
			}
			lab.page = (*atomic.Int64)(page)
		}
		lab.on = true
		return
	}
}

// labNow is the time that the simulator said last, in an order or in the page.
//
//go:nosplit
func labNow() int64 {
	now := lab.now.Load()
	if lab.page != nil {
		if told := lab.page.Load(); told > now && lab.now.CompareAndSwap(now, told) {
			lab.step.Store(0)
			return told
		}
	}
	return now
}

// labNano is the time of timers.
//
//go:nosplit
func labNano() int64 {
	if !lab.on {
		return nanotime()
	}
	return labNow() + min(lab.step.Load(), labMostStep)
}

// labLook is the time that programs see: later at every look, so that what is ordered by time stays in order.
func labLook() int64 {
	if lab.tick > 0 {
		return lab.now.Add(lab.tick)
	}
	return labNow() + min(lab.step.Add(1), labMostStep)
}

// labRand is what math/rand draws from: a sequence of its own (splitmix64), for all threads together.
//
//go:linkname labRand
//go:nosplit
func labRand() uint64 {
	if !lab.on {
		return rand()
	}
	z := lab.random.Add(-0x61c8864680b583eb)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// labSeed replaces the seed that the system gives: of hashes, among others.
func labSeed(seed *[32]byte) {
	if lab.on {
		for i := range seed {
			seed[i] = byte(i) ^ 0x5a
		}
	}
}

//go:linkname labDescriptors
func labDescriptors() (orders, reports int) {
	if !lab.on {
		return -1, -1
	}
	return lab.orders, int(lab.out)
}

//go:linkname labSet
func labSet(order uint64, t int64) {
	if t > lab.now.Load() {
		lab.now.Store(t)
		lab.step.Store(0)
	}
	lab.order.Store(order)
}

//go:linkname poll_labCount internal/poll.labCount
func poll_labCount(got, put, dials int) {
	if !lab.on {
		return
	}
	if got != 0 {
		lab.got.Add(int64(got))
	}
	if put != 0 {
		lab.put.Add(int64(put))
	}
	if dials != 0 {
		lab.dials.Add(int64(dials))
	}
}

//go:linkname poll_labIsOn internal/poll.labIsOn
func poll_labIsOn() bool { return lab.on }

// labReport is called by a thread that is about to wait without a P. It writes a report if nothing at all can run
// before somebody sends bytes or sets the clock.
func labReport() {
	// First the counters, then the look at all goroutines: a report may be too late, but is never too early.
	var report [5]uint64
again:
	report[0] = lab.order.Load()
	report[1] = uint64(lab.now.Load())
	report[3] = uint64(lab.got.Load())
	report[4] = uint64(lab.put.Load())
	if sched.npidle.Load() != gomaxprocs || sched.nmspinning.Load() != 0 || lab.dials.Load() != 0 {
		return
	}
	all, n := atomicAllG()
	for i := uintptr(0); i < n; i++ {
		gp := atomicAllGIndex(all, i)
		switch readgstatus(gp) &^ _Gscan {
		case _Grunnable, _Gcopystack, _Gpreempted:
			return
		case _Grunning: // without a P it is on its way into a system call, of whose beginning nobody tells
			osyield()
			goto again
		case _Gsyscall: // who waits for signals is in one for ever
			if funcname(findfunc(gp.startpc)) != "os/signal.loop" {
				return
			}
		}
	}
	next := timeSleepUntil()
	if next <= labNano() {
		netpollBreak() // timers are due: look again
		return
	}
	report[2] = uint64(next)
	write1(lab.out, unsafe.Pointer(&report[0]), int32(unsafe.Sizeof(report)))
}
