package poll

import (
	"syscall"
	"unsafe"
)

// Bytes read from sockets and written to them, and connections that are being made; see runtime.
//
//go:linkname labCount
func labCount(got, put, dials int)

//go:linkname labIsOn
func labIsOn() bool

// LabDial says that a connection is being made (1), or no longer (-1).
func LabDial(n int) { labCount(0, 0, n) }

// labDrop counts what was sent to a socket that is closed before it was read.
func labDrop(fd int) {
	var unread int32
	if labIsOn() {
		_, _, failed := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCINQ, uintptr(unsafe.Pointer(&unread)))
		if failed == 0 && unread > 0 {
			labCount(int(unread), 0, 0)
		}
	}
}
