package evaluator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
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
	w := &worker{output: newWorkerOutput()}
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

// ask sends the request to the worker and waits for the answer. If the steps get a decision to stop,
// ask sends it too. Then everything but an outcome means that the evaluation has stopped early. The
// error is a *Stopped, or its text continues "the worker ...". If the error wraps errUnread, the
// evaluation has not begun.
func (w *worker) ask(ctx context.Context, trial uint64, request []byte, steps *steps) (Result, error) {
	answers := w.output.expect(trial, steps)
	defer w.output.expect(0, nil)
	sent := make(chan error, 1)
	go func() {
		_, err := w.input.Write(request) // if the worker does not read the request, it ends or times out
		sent <- err
	}()
	var decision *Stopped
	result, err := Result{}, error(nil)
	for waiting := true; waiting; {
		waiting = false
		select {
		case a := <-answers:
			result, err = w.take(a)
		case <-w.ended:
			select {
			case a := <-answers: // the answer came before the end
				result, err = w.take(a)
			default:
				w.proven = w.proven || decision != nil // a stop may end it
				err = w.endedReason(sent, request)
			}
		case <-ctx.Done():
			w.stop()
			closeAll([]*os.File{w.input, w.unread})
			err = cancellation(ctx)
		case stop := <-steps.stop:
			waiting = true
			if len(answers) > 0 {
				continue
			}
			decision = &Stopped{Reason: stop.Reason}
			w.output.note(stop)
			go w.send(stopLine(trial, stop)) // a worker that does not read must not block the evaluation
		}
	}
	if err != nil && decision != nil {
		err = decision
	}
	return result, err
}

// send writes a line to the worker. An error means that the worker is ending, which has its own
// consequences.
func (w *worker) send(line []byte) { _, _ = w.input.Write(line) }

// stopLine returns the line by which a worker learns of the decision to stop.
func stopLine(trial uint64, stop *curves.Stop) []byte {
	line, err := json.Marshal(struct {
		Trial uint64 `json:"trial"`
		Stop  string `json:"stop"`
	}{trial, stop.Reason})
	if err != nil {
		panic(err) // cannot happen: a number and a text
	}
	return append(line, '\n')
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
	if notSent != nil || bytes.HasSuffix(rest, request) { // before it there may be the stop of an earlier trial
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
	stdout     lines            // standard output
	trial      uint64           // trial whose answer is awaited; 0: none
	steps      *steps           // of that trial
	answers    chan workerAnswer
}

func newWorkerOutput() *workerOutput {
	o := &workerOutput{}
	o.stdout.each = o.endLine
	return o
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

// expect returns a channel that receives the answer for the trial. The steps get its values by step.
// Trial 0 means that no answer is expected.
func (o *workerOutput) expect(trial uint64, steps *steps) <-chan workerAnswer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trial, o.steps, o.answers = trial, steps, make(chan workerAnswer, 1)
	return o.answers
}

// note adds the decision to the output of the trial.
func (o *workerOutput) note(stop *curves.Stop) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log != nil {
		noteStop(o.log, stop)
	}
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
	return o.stdout.Write(p)
}

func (o *workerOutput) endLine(line []byte, long bool) {
	if o.trial == 0 {
		return // no answer is expected
	}
	result, err := Result{}, error(nil)
	isAnswer := true
	if long {
		isAnswer = string(line[:min(1, len(line))]) == "{"
		err = fmt.Errorf("printed an object of more than %d bytes", maxOutput)
	} else {
		result, isAnswer, err = readWorkerLine(string(line), o.trial, o.steps)
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
