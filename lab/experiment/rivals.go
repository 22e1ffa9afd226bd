package experiment

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/strategy"
)

// noSettings is the meaning of baselines without settings.
func noSettings(s Spec) (string, error) {
	if len(s.Settings) > 0 {
		return "", fmt.Errorf("the baseline %s accepts no settings", s.Name)
	}
	return "", nil
}

func installGuide(_ Spec, s *sim.Scenario) error {
	return installServed(s, func(pool *baseline.Pool) func(int) strategy.Strategy {
		return baseline.NewGuide(s.Task, pool, s.Seed.Derive("guide", 0)).Member
	})
}

func installFMTBO(_ Spec, s *sim.Scenario) error {
	return installServed(s, func(pool *baseline.Pool) func(int) strategy.Strategy {
		return baseline.NewFMTBO(s.Task, pool, s.Seed.Derive("fmtbo", 0)).Member
	})
}

// installServed gives each member the strategy of a server that reads the pool of all members.
func installServed(s *sim.Scenario, serve func(pool *baseline.Pool) (member func(self int) strategy.Strategy)) error {
	pool, err := baseline.NewPool(s.Task, len(s.Members))
	if err != nil {
		return err
	}
	s.Watch = pool.Watch
	member := serve(pool)
	for i := range s.Members {
		s.Members[i].Strategy = member(i)
	}
	return nil
}
