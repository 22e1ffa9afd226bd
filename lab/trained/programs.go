package trained

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/evaluator"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Programs runs the programs of families of the kind command, a limited number at a time. A failed
// evaluation ends Context with its error as the cause. Simulations of such families must run under
// that context.
type Programs struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	guard []string
	slots chan struct{} // one for each running evaluation

	trials atomic.Uint64 // number of trials started so far, by all members

	mu      sync.Mutex
	dir     string // temporary directory for the output of programs; "" until it is created
	closers []func()
	failed  bool // an evaluation failed, so Close keeps the output for the user
}

// NewPrograms returns Programs that run at most atATime programs at a time until ctx ends; 0 means
// one per processor. guard is the argument of evaluator.Command with the same name.
func NewPrograms(ctx context.Context, atATime int, guard []string) *Programs {
	if atATime == 0 {
		atATime = runtime.GOMAXPROCS(0)
	}
	p := &Programs{guard: guard, slots: make(chan struct{}, atATime)}
	p.ctx, p.end = context.WithCancelCause(ctx)
	return p
}

// Context returns a context that ends with the context of NewPrograms, after a failed evaluation,
// and with Close.
func (p *Programs) Context() context.Context { return p.ctx }

// Close ends all programs and waits for them. It deletes their output, unless an evaluation has
// failed.
func (p *Programs) Close() {
	p.end(nil)
	for range cap(p.slots) {
		p.slots <- struct{}{} // takes the slot, so that no further program starts
	}
	defer func() { // frees the slots again, so that a second Close does nothing
		for range cap(p.slots) {
			<-p.slots
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range p.closers {
		end()
	}
	p.closers = nil
	if p.dir != "" && !p.failed {
		_ = os.RemoveAll(p.dir)
	}
}

// fail ends the context with err; only the first call has an effect.
func (p *Programs) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.failed = true
		p.end(err)
	}
}

// evaluation evaluates a trial.
type evaluation func(ctx context.Context, trial evaluator.Trial, report evaluator.Report) (evaluator.Result, error)

// prepare returns the evaluation by a command, which it starts for each trial or, if stays is true,
// once. It checks that the command exists, but does not start it.
func (p *Programs) prepare(t *task.Task, words []string, stays bool) (evaluation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		var err error
		if p.dir, err = os.MkdirTemp("", "fbo-simulate-"); err != nil {
			return nil, err
		}
	}
	logs := filepath.Join(p.dir, "trials") // a subdirectory as in a data directory, because anyone may own the parent
	if stays {
		workers, err := evaluator.NewWorkers(words, logs)
		if err != nil {
			return nil, err
		}
		workers.Supervisor = p.guard
		p.closers = append(p.closers, workers.Close)
		return workers.Evaluate, nil
	}
	command, err := evaluator.New(t.Space, words, logs)
	if err != nil {
		return nil, err
	}
	command.Supervisor = p.guard
	return command.Evaluate, nil
}

// measure waits for a free slot and evaluates the design. The program runs to its end, since which
// values by step a simulated agent uses is not known yet. ok is false if the context has ended, which
// a failed evaluation also causes.
func (p *Programs) measure(how evaluation, t *task.Task, limit time.Duration, member evaluator.Member, d task.Design) (outcome strategy.Outcome, curve curves.Curve, ok bool) {
	select {
	case p.slots <- struct{}{}:
	case <-p.ctx.Done():
		return outcome, nil, false
	}
	defer func() { <-p.slots }()
	if p.ctx.Err() != nil {
		return outcome, nil, false
	}
	ctx := p.ctx
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	collect := func(steps []curves.Step) (*curves.Stop, error) {
		curve = append(curve, steps...)
		return nil, nil
	}
	result, err := how(ctx, evaluator.Trial{ID: p.trials.Add(1), Design: d, Attempt: 1, Member: &member}, collect)
	if err == nil {
		err = t.CheckReadings(result.Constraints)
	}
	if err != nil {
		p.fail(fmt.Errorf("family command: %s at %s: %w", describeMember(member), describe(d), err))
		return outcome, nil, false
	}
	return strategy.Outcome{Value: result.Value, Constraints: result.Constraints}, curve, true
}

func describeMember(m evaluator.Member) string {
	if m.Federation == 0 {
		return fmt.Sprintf("member %d", m.Number)
	}
	return fmt.Sprintf("member %d of federation %d", m.Number, m.Federation)
}

func describe(d task.Design) string {
	text, err := d.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}
