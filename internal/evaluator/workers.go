package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/task"
)

// Workers runs long-lived processes of a user's command, each of which evaluates one trial after the
// other. There are as many processes as concurrent calls of Evaluate. Its fields may be changed until
// the first Evaluate.
//
// A worker reads one line per trial from its standard input,
//
//	{"trial": 7, "parameters": {"x": 0.5}}
//
// and prints one line when it knows the result,
//
//	{"trial": 7, "value": 0.25}
//
// with constraints and further numbers as for a Command, or with "error", a text, in place of the
// value. Before its answer it may print values by step. If one of them leads to a decision to stop,
// the worker reads a line with the reason, and should end the trial:
//
//	{"trial": 7, "step": 3, "value": 0.41}
//	{"trial": 7, "stop": "0.41 at step 3 is 3rd of 3 trials"}
//	{"trial": 7, "stopped": true}
//
// It may also stop by itself, with "reason", a text. It must ignore a stop for a trial that it has
// answered.
//
// All other lines are ordinary output, for example of a library. An object with a value or an
// error but without a trial fails the trial, since it could be the answer for another trial. A worker
// must end when its input ends.
type Workers struct {
	// Args is the command and its arguments. NewWorkers sets it.
	Args []string
	// Env is the environment of the workers. The default is os.Environ().
	Env []string
	// Grace is the time between closing a worker's input and the request to end, and between that
	// request and the kill. The default is DefaultGrace.
	Grace time.Duration
	// Supervisor is as in Command.
	Supervisor []string

	path string // path of the executable Args[0]
	logs *triallog.Store

	mu     sync.Mutex
	idle   []*worker
	failed int // number of successive processes that ended without any answer
}

// NewWorkers returns Workers, and starts no process yet. Package triallog stores the output of
// trials in logDir. It returns an error if the command does not exist, if an argument has a
// placeholder, or if the directory cannot be used.
func NewWorkers(args []string, logDir string) (*Workers, error) {
	w := &Workers{}
	var err error
	if w.path, err = resolve(args); err != nil {
		return nil, err
	}
	w.Args = slices.Clone(args)
	for i, arg := range args[1:] {
		expanded, _, placeholder := expandArgument(arg, nil)
		if placeholder != "" {
			return nil, fmt.Errorf("argument %q: {%s} has no value, since a worker is started once and gets the parameters of each trial as a line of its standard input; write {{%s}} to mean the text",
				arg, placeholder, placeholder)
		}
		w.Args[i+1] = expanded
	}
	if w.logs, err = openLogs(logDir); err != nil {
		return nil, err
	}
	return w, nil
}

// Evaluate has a worker evaluate a trial. Every error is a *Failure, or a *Stopped if the evaluation
// ended early. Annotations and hints accompany both. report gets the values by step that the worker
// prints; nil drops them. Evaluate may be called from several goroutines, with different trials.
//
// If a report returns a decision to stop, the worker gets it as a line, and is not killed. If it
// answers with an outcome nevertheless, the outcome counts.
//
// If ctx ends before the worker answers, the worker and its child processes get a request to end,
// and are killed after w.Grace. The failure then wraps the cause of ctx. If a worker that has
// answered before ends without reading the request, another worker gets the trial.
func (w *Workers) Evaluate(ctx context.Context, trial Trial, report Report) (Result, error) {
	failure := Failure{Trial: trial.ID, worker: true}
	err := context.Cause(ctx)
	var request []byte
	if err == nil {
		request, err = workerRequest(trial)
	}
	if err != nil {
		failure.Reason, failure.Err = "was not asked: "+err.Error(), err
		return Result{}, &failure
	}
	log := w.logs.Writer(trial.ID)
	steps := newSteps(trial, report)
	var result Result
	for again := true; again; {
		var one *worker
		if one, err = w.take(ctx, log); err != nil {
			log.Close()
			break
		}
		result, err = one.ask(ctx, trial.ID, request, steps)
		failure.Stderr = one.output.lastComplaint()
		if again = one.proven && errors.Is(err, errUnread); again {
			one.output.direct(nil)
			fmt.Fprintf(log, "[fbo: the worker %v; another is asked]\n", err)
		}
		w.giveBack(one, err != nil && ctx.Err() == nil)
	}
	failure.Log = log.Path()
	if result, err = result.with(steps, err); err != nil {
		return result.beside(), failureOf(err, failure)
	}
	return result, nil
}

// giveBack keeps a worker that has not ended for the next trial. Until then the worker's output
// goes to the log of the last trial. giveBack also counts the successive workers that ended without
// any answer; byItself means that the context did not end the worker.
func (w *Workers) giveBack(one *worker, byItself bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case one.proven:
		w.failed = 0
	case byItself:
		w.failed++
	}
	if !one.hasEnded() {
		w.idle = append(w.idle, one)
		return
	}
	if log := one.output.direct(nil); log != nil {
		log.Close()
	}
}

// take returns a running worker, whose output goes to the log from now on.
func (w *Workers) take(ctx context.Context, log *triallog.Writer) (*worker, error) {
	for {
		one, failed := w.pop()
		switch {
		case one == nil:
			return w.start(ctx, log, backoff(failed))
		case one.hasEnded():
			fmt.Fprintf(log, "[fbo: the worker of an earlier trial %s; another is asked]\n", one.howItEnded())
			one.finish()
			continue
		}
		if earlier := one.output.direct(log); earlier != nil {
			earlier.Close()
		}
		return one, nil
	}
}

// pop removes and returns an idle worker, or nil if there is none. It also returns the number of
// successive workers that ended without any answer.
func (w *Workers) pop() (one *worker, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := len(w.idle) - 1; last >= 0 {
		one = w.idle[last]
		w.idle = w.idle[:last]
	}
	return one, w.failed
}

// start starts a worker after a pause. The pause prevents a busy loop if workers end immediately.
func (w *Workers) start(ctx context.Context, log *triallog.Writer, pause time.Duration) (*worker, error) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return nil, cancellation(ctx)
	}
	return startWorker(launch{
		supervisor: w.Supervisor, path: w.path, args: w.Args, env: withoutTrial(w.Env), grace: orDefault(w.Grace),
	}, log)
}

// Close ends all workers. It closes their input, sends a request to end after the grace, and kills
// them after a further grace. No Evaluate may be running.
func (w *Workers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ending sync.WaitGroup
	for _, one := range w.idle {
		ending.Go(one.finish)
	}
	ending.Wait()
	w.idle = nil
}

func workerRequest(trial Trial) ([]byte, error) {
	request := struct {
		Trial   uint64      `json:"trial"`
		Design  task.Design `json:"parameters"`
		Attempt int         `json:"attempt,omitempty"`
		Step    uint64      `json:"step,omitempty"`
		*Member
	}{Trial: trial.ID, Design: trial.Design, Member: trial.Member}
	if trial.Attempt > 1 {
		request.Attempt = trial.Attempt
	}
	if len(trial.Steps) > 0 {
		request.Step = trial.Steps.Last().Step
	}
	line, err := json.Marshal(request)
	return append(line, '\n'), err
}

// readWorkerLine parses a line that a worker has printed; isAnswer reports whether it is the answer
// for the trial. A line that seems to be meant as an answer, but is none, counts as an invalid
// answer. Values by step go to steps, and wrong ones never are an answer.
func readWorkerLine(line string, trial uint64, steps *steps) (result Result, isAnswer bool, err error) {
	line = lastPart(line) // drop a progress bar before the answer
	if !strings.HasPrefix(line, "{") {
		begin := strings.Index(line, `{"`)
		if begin < 0 {
			return Result{}, false, nil
		}
		return readBehind(line[begin:], trial, steps)
	}
	a, err := readAnswer(line)
	switch {
	case err != nil && isMeantAsStep(line):
		steps.misprinted("printed %q: %v", shorten(line), err)
		return Result{}, false, nil
	case err != nil && !isMeant(line), err == nil && a.trial == nil && !a.hasValue && !a.failed && !a.stopped:
		return Result{}, false, nil // an object that is no answer
	case err == nil && a.isStep() && string(a.trial) != strconv.FormatUint(trial, 10):
		if number, bad := strconv.ParseUint(string(a.trial), 10, 64); bad != nil || number > trial { // otherwise late
			steps.misprinted(`printed %q; expected "trial": %d in it`, shorten(line), trial)
		}
		return Result{}, false, nil
	case err == nil && a.trial == nil:
		return Result{}, true, fmt.Errorf(`printed %q, which does not say "trial": %d`, shorten(line), trial)
	case err == nil && string(a.trial) != strconv.FormatUint(trial, 10):
		if number, bad := strconv.ParseUint(string(a.trial), 10, 64); bad == nil && number < trial {
			return Result{}, false, nil // a repeated answer for an earlier trial
		}
		return Result{}, true, fmt.Errorf("printed %q, which is about another trial than %d", shorten(line), trial)
	}
	return readOf(line, a, steps)
}

// readBehind parses the part of a line that follows other output. Libraries that show progress write
// output without ending the line.
func readBehind(line string, trial uint64, steps *steps) (result Result, isAnswer bool, err error) {
	a, err := readAnswer(line)
	if err != nil || string(a.trial) != strconv.FormatUint(trial, 10) || !a.hasValue && !a.failed && !a.stopped {
		return Result{}, false, nil
	}
	return readOf(line, a, steps)
}

// readOf reads an object of the right trial.
func readOf(line string, a answer, steps *steps) (result Result, isAnswer bool, err error) {
	if a.isStep() {
		steps.add(a, line)
		if !a.stopped {
			return Result{}, false, nil
		}
	}
	a, err = parseAnswer(line)
	return a.Result, true, err
}

// isMeant reports whether a line that is not valid JSON seems to be meant as an answer, for example
// a dictionary that Python has printed.
func isMeant(line string) bool {
	return strings.Contains(line, "trial") || strings.Contains(line, `'value':`) || strings.Contains(line, `"value":`)
}
