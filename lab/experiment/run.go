package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Options are the options of a Run. They change no result.
type Options struct {
	Workers int // runs at a time; 0 means GOMAXPROCS

	// Progress, when not nil, is called after each evaluation and run, never
	// concurrently. It should return soon.
	Progress func(Progress)
}

// Progress is the progress of a Run.
type Progress struct {
	Runs, AllRuns               int // one strategy on one repeat each; the stored ones count as done
	Evaluations, AllEvaluations int // of the runs that were not stored
	Elapsed                     time.Duration
}

// Left estimates how long the rest takes, by the pace so far; 0 while nothing is
// known.
func (p Progress) Left() time.Duration {
	if p.Evaluations == 0 {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Evaluations) * float64(p.AllEvaluations-p.Evaluations))
}

// Run plays what the store does not have yet of a plan, which is from Complete.
// When ctx is cancelled it stops soon, with ctx's error; what has been finished
// is in the store.
func Run(ctx context.Context, p Plan, store *Store, o Options) error {
	if o.Workers < 0 {
		return fmt.Errorf("Options.Workers is %d, accepted are 0 and more", o.Workers)
	}
	r := &runner{Plan: p, store: store, options: o, ledger: newLedger(processorTime), begun: time.Now(), drawn: map[int]*drawing{}}
	jobs := r.jobs()
	total := cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	atATime := min(total, len(jobs))
	r.within = total / max(atATime, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan job)
	var workers sync.WaitGroup
	for range atATime {
		workers.Go(func() {
			for j := range next {
				if err := r.run(ctx, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- j
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

type runner struct {
	Plan
	store   *Store
	options Options
	ledger  *ledger
	begun   time.Time
	within  int // members of a run that compute at a time

	mu       sync.Mutex
	progress Progress
	drawn    map[int]*drawing // by repeat, while jobs need it
}

// job is one strategy on one repeat.
type job struct {
	repeat   int
	strategy Spec
}

// drawing is a federation that the jobs of a repeat share.
type drawing struct {
	once       sync.Once
	ended      chan struct{}
	federation *federation
	err        error
	core       float64 // seconds, until a record has them
	jobs       int     // that have not ended
}

// jobs lists the runs that are not stored, repeat by repeat, so that a federation is needed for a
// short time and the pace so far is that of all strategies.
func (r *runner) jobs() []job {
	var jobs []job
	r.progress.AllRuns = r.Repeats * len(r.Strategies)
	for repeat := range r.Repeats {
		for _, s := range r.Strategies {
			if _, ok := r.store.get(repeat, r.key(s)); ok {
				r.progress.Runs++
				continue
			}
			jobs = append(jobs, job{repeat, s})
			r.progress.AllEvaluations += r.Agents * r.Plan.Evaluations
			if r.drawn[repeat] == nil {
				r.drawn[repeat] = &drawing{ended: make(chan struct{})}
			}
			r.drawn[repeat].jobs++
		}
	}
	return jobs
}

func (r *runner) run(ctx context.Context, j job) error {
	defer r.release(j.repeat)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d := r.draw(j.repeat)
	select {
	case <-d.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.err != nil {
		return d.err
	}
	account := r.ledger.open()
	evaluations := 0
	record, err := r.play(ctx, j.repeat, j.strategy, d.federation, r.within, func() {
		evaluations++
		r.advance(1, 0)
	})
	r.ledger.close(account)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%s, repeat %d: %w", j.strategy, j.repeat, err)
	}
	record.Seconds, record.Core = account.real.Seconds(), account.core.Seconds()
	record.Memory = processMemory()
	record.Drawing = r.takeDrawing(d)
	record.Build = r.store.options.Build
	if !record.complete(r.Plan) {
		return errors.New("a run ended before its time") // the simulator's fault
	}
	if err := r.store.add(record); err != nil {
		return err
	}
	r.advance(r.Agents*r.Plan.Evaluations-evaluations, 1) // with those that need not be played
	return nil
}

// draw begins to make the federation of a repeat, unless another job has. That may take
// minutes, and cannot be stopped: who waits for the end of it may give up.
func (r *runner) draw(repeat int) *drawing {
	r.mu.Lock()
	d := r.drawn[repeat]
	r.mu.Unlock()
	d.once.Do(func() {
		go func() {
			defer close(d.ended)
			account := r.ledger.open()
			d.federation, d.err = r.Plan.draw(repeat)
			r.ledger.close(account)
			d.core = account.core.Seconds()
		}()
	})
	return d
}

func (r *runner) takeDrawing(d *drawing) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	core := d.core
	d.core = 0
	return core
}

func (r *runner) release(repeat int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.drawn[repeat]; d.jobs > 1 {
		d.jobs--
	} else {
		delete(r.drawn, repeat)
	}
}

func (r *runner) advance(evaluations, runs int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Evaluations += evaluations
	r.progress.Runs += runs
	r.progress.Elapsed = time.Since(r.begun)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}
