package experiment

import (
	"fmt"
	"strconv"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
)

func sumsOf(s Spec) (c baseline.SumSettings, err error) {
	c = baseline.SumSettings{Stat: "exact", M: 64, B: 1, Len: 1, Noise: 0.1}
	for _, x := range s.Settings {
		if x.Key == "stat" {
			c.Stat = x.Value
			continue
		}
		v, err := strconv.ParseFloat(x.Value, 64)
		if err != nil {
			return c, fmt.Errorf("%s must be a number, not %q", x.Key, x.Value)
		}
		switch x.Key {
		case "m":
			c.M = int(v)
		case "b":
			c.B = int(v)
		case "len":
			c.Len = v
		case "noise":
			c.Noise = v
		case "top":
			c.Top = v
		case "own":
			c.Own = v
		case "joint":
			c.Joint = v
		case "units":
			c.Units = v
		case "first":
			c.First = v
		case "scale":
			c.Scale = v
		default:
			return c, fmt.Errorf("unknown key %q", x.Key)
		}
	}
	return c, nil
}

func meaningOfSums(s Spec) (string, error) {
	c, err := sumsOf(s)
	return fmt.Sprintf("%+v", c), err
}

func installSums(spec Spec, s *sim.Scenario) error {
	c, err := sumsOf(spec)
	if err != nil {
		return err
	}
	pool, err := baseline.NewSumPool(s.Task, len(s.Members), c)
	if err != nil {
		return err
	}
	s.Watch = pool.Watch
	for i := range s.Members {
		if s.Members[i].Strategy, err = baseline.NewSums(s.TaskOf(i), pool, i); err != nil {
			return err
		}
	}
	return nil
}
