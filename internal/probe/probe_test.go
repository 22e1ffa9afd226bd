package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestEndedByPeer: a connection that the peer has ended is probed again, whichever operation of this
// host noticed the end first.
func TestEndedByPeer(t *testing.T) {
	of := func(op string, number syscall.Errno) error {
		err := &net.OpError{Op: op, Net: "tcp4", Err: os.NewSyscallError(op, number)}
		return fmt.Errorf("%w: failed to negotiate stream multiplexer: %s", ErrUnreachable, err)
	}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{of("read", syscall.ECONNRESET), true},
		{of("write", syscall.ECONNRESET), true},
		{of("write", syscall.EPIPE), true},
		{of("connect", syscall.ECONNREFUSED), false},
		{fmt.Errorf("%w: connected, but no answer to a ping: connection failed", ErrUnreachable), true},
		{fmt.Errorf("%w: remote error: tls: bad certificate", ErrClock), false},
		{errors.New("broken pipe"), false},
	} {
		if got := endedByPeer(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
