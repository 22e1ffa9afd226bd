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

// Options are the options of Run. They do not change results.
type Options struct {
	Workers int // runs at a time; 0 means GOMAXPROCS

	// Progress, if not nil, is called after each evaluation and each run, never concurrently. It
	// should return soon.
	Progress func(Progress)
}

// Progress is the progress of Run.
type Progress struct {
	Runs, AllRuns               int // a run is one strategy on one repeat; stored runs count as done
	Evaluations, AllEvaluations int // of the runs that were not stored
	Elapsed                     time.Duration
}

// Left estimates the remaining time from the pace so far. It returns 0 before the first evaluation.
func (p Progress) Left() time.Duration {
	if p.Evaluations == 0 {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Evaluations) * float64(p.AllEvaluations-p.Evaluations))
}

// Run simulates all runs of a plan that the store does not have yet. The plan must come from
// Complete. If ctx ends, Run soon returns the error of ctx; the store keeps finished runs.
func Run(ctx context.Context, p Plan, store *Store, o Options) error {
	if o.Workers < 0 {
		return fmt.Errorf("Options.Workers is %d, expected 0 or more", o.Workers)
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
	within  int // number of members of one run that compute at a time

	mu       sync.Mutex
	progress Progress
	drawn    map[int]*drawing // by repeat; only repeats that have unfinished jobs
}

// job is one run: one strategy on one repeat.
type job struct {
	repeat   int
	strategy Spec
}

// drawing is a federation that all jobs of a repeat share.
type drawing struct {
	once       sync.Once
	ended      chan struct{}
	federation *federation
	err        error
	core       float64 // processor seconds; 0 after a record has taken them
	jobs       int     // number of unfinished jobs
}

// jobs returns the runs that are not stored, repeat by repeat. In this order each federation is in
// memory for a short time only, and the pace so far includes all strategies.
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
		return errors.New("a run ended before its time") // a fault of the simulator
	}
	if err := r.store.add(record); err != nil {
		return err
	}
	r.advance(r.Agents*r.Plan.Evaluations-evaluations, 1) // includes evaluations that need not be simulated
	return nil
}

// draw starts drawing the federation of a repeat, unless another job has. Drawing may take minutes
// and cannot be cancelled, but a caller may stop waiting for its end.
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
