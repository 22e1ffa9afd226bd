package main

import (
	"fmt"
	"sync"
)

// pool carries out jobs in worker processes and appends their results.
type pool struct {
	results results
	build   string
	python  string
	limit   float64 // processor seconds after which no further run starts
	report  func(r result, left int)

	mu    sync.Mutex
	spent float64
	jobs  []job
	err   error
}

// run returns how many jobs were left when the limit was reached.
func (p *pool) run(jobs []job, workers int) (left int, err error) {
	p.jobs = jobs
	var group sync.WaitGroup
	for range min(workers, len(jobs)) {
		w, err := startWorker(p.python)
		if err != nil {
			p.fail(err)
			break
		}
		group.Go(func() {
			p.serve(w)
			if err := w.stop(); err != nil {
				p.fail(fmt.Errorf("worker: %w", err))
			}
		})
	}
	group.Wait()
	return len(p.jobs), p.err
}

func (p *pool) serve(w *worker) {
	for {
		j, ok := p.next()
		if !ok {
			return
		}
		r, err := w.do(j)
		if err != nil {
			p.fail(err)
			return
		}
		p.finish(r)
	}
}

func (p *pool) next() (job, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil || len(p.jobs) == 0 || p.spent >= p.limit {
		return job{}, false
	}
	j := p.jobs[0]
	p.jobs = p.jobs[1:]
	return j, true
}

func (p *pool) finish(r result) {
	r.Build = p.build
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += r.Seconds
	if err := p.results.Add(r); err != nil && p.err == nil {
		p.err = err
	}
	p.report(r, len(p.jobs))
}

func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
