package designs

import (
	"fmt"
	"math/rand/v2"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/consensus/labels"
	"github.com/fbo-node/fbo/privacy/guard"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// none is the threshold with which designs are shared always, and nothing about them.
const none = "none"

const (
	defaultConfidence = 2
	maxConfidence     = 100
)

// Settings are the keys of a task file for strategy constrained-gp.
type Settings struct {
	// Share is labels.Best, Guarded or Feasibility. With the latter nodes share which of
	// their designs were feasible and nothing else, and the other settings are empty.
	Share string
	// Threshold is "none" (designs are shared always) or "open" (with the lower
	// confidence bound of the objective, so that the receiver can compare it with
	// what it has).
	Threshold string
	// Confidence is how many standard deviations lie between the mean and the lower
	// confidence bound whose maximiser a node shares: 0 to 100.
	Confidence float64
}

func readSettings(s *task.Section) task.StrategySettings {
	d := Settings{Share: labels.ReadShare(s, "threshold", "confidence")}
	if d.Share == labels.Feasibility {
		return d
	}
	d.Threshold = none
	if d.Share == labels.Guarded {
		s.Refuse("threshold", "share: "+labels.Best)
	} else {
		d.Threshold = s.Word("threshold", none, none, open)
	}
	d.Confidence = s.Within("confidence", defaultConfidence, 0, maxConfidence)
	return d
}

// Keys implements task.StrategySettings. The share is left out where it is the best, so
// that tasks from before it had a choice keep their IDs.
func (s Settings) Keys() map[string]any {
	if s.Share == labels.Feasibility {
		return map[string]any{"share": s.Share}
	}
	if s.Share == labels.Guarded {
		return map[string]any{"share": s.Share, "confidence": s.Confidence}
	}
	return map[string]any{"threshold": s.Threshold, "confidence": s.Confidence}
}

// Register registers design sharing with a constrained Gaussian process.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "constrained-gp", Settings: readSettings, Constraints: true, ForConstraints: true, Joint: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t), nil },
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			if settingsOf(env.Task).Share == labels.Feasibility {
				return []strategy.Exchange{labels.NewSharing(env.Task)}, nil
			}
			if settingsOf(env.Task).Share == labels.Guarded {
				grid, err := guard.New(env.Key, env.Task.Space)
				if err != nil {
					return nil, err
				}
				return []strategy.Exchange{NewSharing(env.Task, grid)}, nil
			}
			return []strategy.Exchange{NewSharing(env.Task, nil)}, nil
		},
		Describe: func(t *task.Task) string {
			s := settingsOf(t)
			if s.Share == labels.Feasibility {
				return fmt.Sprintf("expected improvement given which designs of peers were feasible; a share holds up to %d designs and whether each was feasible", protocol.MaxLabels)
			}
			if s.Share == labels.Guarded {
				return fmt.Sprintf("expected improvement given that designs near what peers say are good; a share holds coarsely the design whose lower bound, at %g deviations, is best", s.Confidence)
			}
			return fmt.Sprintf("expected improvement given that peers' designs are good, threshold %s; a share holds the design whose lower bound, at %g deviations, is best",
				s.Threshold, s.Confidence)
		},
		Reveals: func(t *task.Task) string {
			if settingsOf(t).Share == labels.Feasibility {
				return labels.Reveals
			}
			if settingsOf(t).Share == labels.Guarded {
				return guard.Reveals
			}
			beside := "never its results"
			if settingsOf(t).Threshold == open {
				beside = "and how good it is at least"
			}
			return "Peers get designs of this node, which show where it looks and what it holds for good, " + beside + "; that is not privacy."
		},
		Suggestions: true,
		Forge:       forge,
	}
}

// forge replaces a design by a random one, and labels by others.
func forge(t *task.Task, kind string, payload []byte, rng *rand.Rand) ([]byte, error) {
	if kind == labels.Kind {
		return labels.Forge(t, payload, rng)
	}
	design, err := protocol.DecodeNearOptimal(payload, t.Space)
	if err != nil {
		return nil, err
	}
	design.Point = protocol.PointOf(t.Space, t.Space.Decode(acquisition.Sample(t.Space, rng)))
	return design.Encode(t.Space)
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
