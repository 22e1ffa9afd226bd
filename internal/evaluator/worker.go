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

// worker is one process that stays. One trial at a time is its.
type worker struct {
	*process
	output *workerOutput
	input  *os.File // the worker's standard input
	unread *os.File // its other end, to see what the worker has not read
	proven bool     // it has answered
}

// startWorker starts a process. An error completes the sentence "the worker ...".
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

// errUnread says that a worker ended before it had read its trial.
var errUnread = errors.New("before it read the trial")

// ask hands the request over and waits for the answer. An error completes the
// sentence "the worker ..."; when it wraps errUnread the trial has not begun.
func (w *worker) ask(ctx context.Context, trial uint64, request []byte) (Result, error) {
	answers := w.output.expect(trial)
	defer w.output.expect(0)
	sent := make(chan error, 1)
	go func() {
		_, err := w.input.Write(request) // who does not read it ends, or takes too long
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
	case a := <-answers: // its last words
		return w.take(a)
	default:
	}
	return Result{}, w.endedReason(sent, request)
}

func (w *worker) take(a workerAnswer) (Result, error) {
	w.proven = true
	return a.result, a.err
}

// endedReason says how the worker ended instead of answering.
func (w *worker) endedReason(sent <-chan error, request []byte) error {
	closeAll([]*os.File{w.input}) // which may forestall the sending
	notSent := <-sent
	rest, _ := io.ReadAll(w.unread) // ends, since nobody holds the other end
	closeAll([]*os.File{w.unread})
	killGroup(w.command.Process, 0) // what it has started shall not stay beside the next one
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

// finish lets the worker end by itself, since its input ends, and stops it otherwise.
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

// workerOutput sorts what a worker prints: into the output of the trial that it
// works on, and answers.
type workerOutput struct {
	mu         sync.Mutex
	log        *triallog.Writer // nil: dropped
	complaints tail             // the end of standard error in this trial
	line       []byte           // of standard output, not ended yet
	long       bool             // the line is too long for an answer
	trial      uint64           // whose answer is awaited; 0: none
	answers    chan workerAnswer
}

type workerAnswer struct {
	result Result
	err    error
}

// direct sends the output to the log of another trial, and returns the earlier one.
func (o *workerOutput) direct(log *triallog.Writer) (earlier *triallog.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	earlier = o.log
	o.log, o.complaints = log, tail{limit: maxComplaint}
	return earlier
}

// expect returns where the answer about the trial will come.
func (o *workerOutput) expect(trial uint64) <-chan workerAnswer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trial, o.answers = trial, make(chan workerAnswer, 1)
	return o.answers
}

// lastComplaint is the last line of standard error in this trial.
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
		return // nothing was asked
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

// backoff is the pause before a worker is started after so many have ended without
// an answer, one after the other.
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
