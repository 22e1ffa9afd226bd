package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameRequest is the time in which further signals count as the same request: timeout(1) sends two,
// and so do the terminal and a program between it and this one.
const sameRequest = time.Second

// endOnSignals returns a context that ends on Ctrl-C, SIGTERM, or a closed terminal (SIGHUP; not
// under nohup). A second Ctrl-C or SIGTERM, later than sameRequest, then ends the program at once.
func endOnSignals() (ctx context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
		// The kernel and the shell may both send one: a second must not interrupt the end that the
		// first has begun. This channel keeps receiving them.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGPIPE) // the reader of the output may have ended by the same signal
		time.Sleep(sameRequest)
		stop()
	})
	return ctx, stop
}
