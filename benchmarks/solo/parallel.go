package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/strategy"
)

// parallel is how many evaluations an engine makes at a time.
type parallel struct {
	atATime      int
	asynchronous bool // a further one begins whenever one ends, and not when all have ended
}

// takeParallel removes parallel=N and asynchronous=N from the settings of a method, which are
// otherwise those of a task file.
func takeParallel(settings map[string]string) (parallel, error) {
	rounds, inRounds := settings["parallel"]
	slots, inSlots := settings["asynchronous"]
	delete(settings, "parallel")
	delete(settings, "asynchronous")
	switch {
	case inRounds && inSlots:
		return parallel{}, errors.New("parallel and asynchronous: expected one of both")
	case inRounds:
		n, err := atLeastOne("parallel", rounds)
		return parallel{n, false}, err
	case inSlots:
		n, err := atLeastOne("asynchronous", slots)
		return parallel{n, true}, err
	}
	return parallel{atATime: 1}, nil
}

func atLeastOne(key, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: expected whole numbers from 1", key, text)
	}
	return n, nil
}

// running is a trial that has not ended.
type running struct {
	strategy.Trial
	end float64
}

// evaluate makes the evaluations of a run. Asynchronous ones last exponentially long.
func (p parallel) evaluate(d *drive.Driver, s search) error {
	durations := s.seed.Stream("durations", 0)
	var busy []running
	asked, now := 0, 0.0
	for range s.evals {
		if p.asynchronous || len(busy) == 0 {
			for ; asked < s.evals && len(busy) < p.atATime; asked++ {
				trial, err := d.Ask()
				if err != nil {
					return err
				}
				busy = append(busy, running{trial, now + durations.ExpFloat64()})
			}
		}
		next := 0
		if p.asynchronous {
			for i, trial := range busy {
				if trial.end < busy[next].end {
					next = i
				}
			}
		}
		trial := busy[next]
		now, busy = trial.end, slices.Delete(busy, next, next+1)
		if err := d.Tell(trial.ID, strategy.Outcome{Value: s.observe(trial.Design)}); err != nil {
			return err
		}
	}
	return nil
}
