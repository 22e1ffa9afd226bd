package evaluator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
)

// worker is a process of a Workers, which evaluates one trial at a time.
type worker struct {
	*process
	output *workerOutput
	input  *os.File // the worker's standard input
	unread *os.File // the read end of input, for reading the bytes that the worker has not read
	proven bool     // the worker has answered at least once
}

// startWorker starts a process. The text of an error continues "the worker ...".
func startWorker(l launch, log *triallog.Writer) (*worker, error) {
	w := &worker{output: &workerOutput{}}
	w.output.direct(log)
	var err error
	if w.unread, w.input, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("could not be started: %w", err)
	}
	l.stdin, l.stdout, l.stderr = w.unread, writerFunc(w.output.printed), writerFunc(w.output.complained)
	if w.process, err = l.start(); err != nil {
		closeAll([]*os.File{w.unread, w.input})
		return nil, err
	}
	return w, nil
}

// errUnread means that a worker ended before it had read its request.
var errUnread = errors.New("before it read the trial")

// ask sends the request to the worker and waits for the answer. The text of an error continues "the
// worker ...". If the error wraps errUnread, the evaluation has not begun.
func (w *worker) ask(ctx context.Context, trial uint64, request []byte) (Result, error) {
	answers := w.output.expect(trial)
	defer w.output.expect(0)
	sent := make(chan error, 1)
	go func() {
		_, err := w.input.Write(request) // if the worker does not read the request, it ends or times out
		sent <- err
	}()
	select {
	case a := <-answers:
		return w.take(a)
	case <-w.ended:
	case <-ctx.Done():
		w.stop()
		closeAll([]*os.File{w.input, w.unread})
		return Result{}, cancellation(ctx)
	}
	select {
	case a := <-answers: // the answer came before the end
		return w.take(a)
	default:
	}
	return Result{}, w.endedReason(sent, request)
}

func (w *worker) take(a workerAnswer) (Result, error) {
	w.proven = true
	return a.result, a.err
}

// endedReason returns the error of a worker that has ended without an answer.
func (w *worker) endedReason(sent <-chan error, request []byte) error {
	closeAll([]*os.File{w.input}) // interrupts the sending
	notSent := <-sent
	rest, _ := io.ReadAll(w.unread) // does not block, because the other end is closed
	closeAll([]*os.File{w.unread})
	killGroup(w.command.Process, 0) // child processes must not keep running next to the next worker
	reason := w.howItEnded()
	if notSent != nil || bytes.Equal(rest, request) {
		return because{reason + " " + errUnread.Error(), errUnread}
	}
	return errors.New(reason + " before it answered")
}

func (w *worker) howItEnded() string {
	if w.exit == nil {
		return codeReason(0)
	}
	return w.exit.Error()
}

// finish closes the worker's input, so that the worker ends by itself. If it has not ended after
// the grace, finish stops it.
func (w *worker) finish() {
	closeAll([]*os.File{w.input})
	if !w.endsWithin(w.grace) {
		w.stop()
	}
	closeAll([]*os.File{w.unread})
	if log := w.output.direct(nil); log != nil {
		log.Close()
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// workerOutput separates the output of a worker into answers and the log of the current trial.
type workerOutput struct {
	mu         sync.Mutex
	log        *triallog.Writer // nil: output is dropped
	complaints tail             // last part of standard error during this trial
	line       []byte           // the incomplete last line of standard output
	long       bool             // the line is too long for an answer
	trial      uint64           // trial whose answer is awaited; 0: none
	answers    chan workerAnswer
}

type workerAnswer struct {
	result Result
	err    error
}

// direct sends further output to the log of another trial, and returns the previous log.
func (o *workerOutput) direct(log *triallog.Writer) (earlier *triallog.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	earlier = o.log
	o.log, o.complaints = log, tail{limit: maxComplaint}
	return earlier
}

// expect returns a channel that receives the answer for the trial. Trial 0 means that no answer is
// expected.
func (o *workerOutput) expect(trial uint64) <-chan workerAnswer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trial, o.answers = trial, make(chan workerAnswer, 1)
	return o.answers
}

// lastComplaint returns the last line of standard error during this trial.
func (o *workerOutput) lastComplaint() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.complaints.lastLine()
}

func (o *workerOutput) complained(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.complaints.Write(p)
	o.keep(p)
	return len(p), nil
}

func (o *workerOutput) keep(p []byte) {
	if o.log != nil {
		_, _ = o.log.Write(p)
	}
}

func (o *workerOutput) printed(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(p)
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if len(o.line)+len(part) > maxOutput {
			o.long = true
		} else {
			o.line = append(o.line, part...)
		}
		if ended {
			o.endLine()
		}
	}
	return len(p), nil
}

func (o *workerOutput) endLine() {
	line, long := string(o.line), o.long
	o.line, o.long = o.line[:0], false
	if o.trial == 0 {
		return // no answer is expected
	}
	result, err := Result{}, error(nil)
	isAnswer := true
	if long {
		isAnswer = line[:min(1, len(line))] == "{"
		err = fmt.Errorf("printed an object of more than %d bytes", maxOutput)
	} else {
		result, isAnswer, err = readWorkerLine(line, o.trial)
	}
	if isAnswer {
		o.trial = 0
		o.answers <- workerAnswer{result, err}
	}
}

// backoff returns the pause before the next worker is started. The argument failed is the number of
// successive workers that ended without any answer.
func backoff(failed int) time.Duration {
	if failed == 0 {
		return 0
	}
	return min(firstPause<<min(failed-1, 20), lastPause)
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)
