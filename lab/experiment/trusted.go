package experiment

import (
	"fmt"
	"strconv"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
)

// trustedOf returns the settings in a spec of the baseline dp-fts-de. Settings that the spec does
// not name are those of the published experiments.
func trustedOf(s Spec) (baseline.Trusted, error) {
	settings := baseline.PublishedTrusted()
	for _, x := range s.Settings {
		value, err := strconv.ParseFloat(x.Value, 64)
		if err != nil {
			return settings, fmt.Errorf("%s must be a number, not %q", x.Key, x.Value)
		}
		switch x.Key {
		case "cells":
			settings.Cells = int(value)
			if float64(settings.Cells) != value {
				return settings, fmt.Errorf("cells must be a whole number, not %s", x.Value)
			}
		case "clip":
			settings.Clip = value
		case "rate":
			settings.Rate = value
		case "noise":
			settings.Noise = value
		default:
			return settings, fmt.Errorf("unknown key %q; accepted: cells, clip, rate, noise", x.Key)
		}
	}
	return settings, settings.Validate()
}

func meaningOfTrusted(s Spec) (string, error) {
	settings, err := trustedOf(s)
	return fmt.Sprintf("%+v", settings), err
}

func installServer(spec Spec, s *sim.Scenario) error {
	settings, err := trustedOf(spec)
	if err != nil {
		return err
	}
	server, err := baseline.NewServer(s.Task, len(s.Members), settings, s.Seed.Derive("server", 0))
	if err != nil {
		return err
	}
	s.Watch = server.Watch
	for i := range s.Members {
		s.Members[i].Strategy = baseline.NewTrusted(s.TaskOf(i), server, i)
	}
	return nil
}
