package os

import (
	"internal/byteorder"
	"syscall"
	_ "unsafe" // for go:linkname
)

//go:linkname labDescriptors runtime.labDescriptors
func labDescriptors() (orders, reports int)

//go:linkname labSet runtime.labSet
func labSet(order uint64, t int64)

const labSimulatorGone = 97 // how a program ends that is not simulated any more

func init() {
	orders, reports := labDescriptors()
	if orders < 0 {
		return
	}
	// Two pipes and not one socket: the poller would hear of each report that is read, as of room to write.
	syscall.SetNonblock(orders, true)
	syscall.CloseOnExec(orders)
	syscall.CloseOnExec(reports)
	go labListen(NewFile(uintptr(orders), "clock"))
}

// labListen obeys orders: a number and a time, eight bytes each.
func labListen(clock *File) {
	var order [16]byte
	for {
		for have := 0; have < len(order); {
			n, err := clock.Read(order[have:])
			if err != nil {
				Exit(labSimulatorGone)
			}
			have += n
		}
		labSet(byteorder.LEUint64(order[:8]), int64(byteorder.LEUint64(order[8:])))
	}
}
