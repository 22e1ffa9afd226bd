package constrainedgp

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// none is the threshold with which designs are shared always, and nothing about them.
const none = "none"

const (
	defaultConfidence = 2
	maxConfidence     = 100

	defaultComparisonsPerHour = 60
	maxComparisonsPerHour     = 3600
)

// Settings are the keys of a task file for strategy constrained-gp.
type Settings struct {
	// Share is feasibility.Best, Coarse or Feasibility. With the latter nodes share which of
	// their designs were feasible and nothing else, and the other settings are empty.
	Share string
	// Threshold is "none" (designs are shared always), "open" (with the lower
	// confidence bound of the objective, so that the receiver can compare it with
	// what it has) or "private" (a design goes to those whose threshold its bound
	// exceeds, and neither of the two is told).
	Threshold string
	// Confidence is how many standard deviations lie between the mean and the lower
	// confidence bound whose maximiser a node shares: 0 to 100.
	Confidence float64
	// ShareEvery is how many observations lie between two shares: 1 to
	// labels.MaxShareEvery, and 1 where Share is not labels.Best or Threshold is "private".
	ShareEvery int
	// ComparisonsPerHour is how many comparisons of each peer a node answers within an hour, 1
	// to 3600; 0 unless Threshold is "private".
	ComparisonsPerHour int
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	d := Settings{Share: feasibility.ReadShare(s, "threshold", "confidence", "comparisons_per_hour")}
	d.ShareEvery = feasibility.ReadShareEvery(s, d.Share)
	if d.Share == feasibility.Feasibility {
		return d
	}
	d.Threshold = none
	if d.Share == feasibility.Coarse {
		s.Refuse("threshold", "share: "+feasibility.Best)
	} else {
		d.Threshold = s.Word("threshold", none, none, open, private)
	}
	d.Confidence = s.Within("confidence", defaultConfidence, 0, maxConfidence)
	if d.Threshold == private {
		s.Refuse("share_every", "threshold: "+none+" or "+open) // a design is compared with what a peer has now
		d.ShareEvery = 1
		d.ComparisonsPerHour = s.Whole("comparisons_per_hour", defaultComparisonsPerHour, 1, maxComparisonsPerHour)
	} else {
		s.Refuse("comparisons_per_hour", "threshold: "+private)
	}
	return d
}

// Keys implements task.StrategySettings. It leaves out the default share, and the default interval.
func (s Settings) Keys() map[string]any {
	if s.Share == feasibility.Feasibility {
		return map[string]any{"share": s.Share}
	}
	if s.Share == feasibility.Coarse {
		return map[string]any{"share": s.Share, "confidence": s.Confidence}
	}
	keys := map[string]any{"threshold": s.Threshold, "confidence": s.Confidence}
	if s.Threshold == private {
		keys["comparisons_per_hour"] = s.ComparisonsPerHour
	}
	if s.ShareEvery > 1 {
		keys["share_every"] = s.ShareEvery
	}
	return keys
}

// Release implements task.Releaser: a design, and nothing about it.
func (s Settings) Release(t *task.Task) task.Release {
	r := designvector.Release(t.Space)
	switch {
	case s.Share != feasibility.Best:
		r.Needs = "share: " + feasibility.Best
	case s.Threshold != none:
		r.Needs = "threshold: " + none
	}
	return r
}

// Register registers design sharing with a constrained Gaussian process.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "constrained-gp", Settings: readSettings, Mechanism: task.MechanismLocal, Constraints: true, ForConstraints: true, Joint: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t), nil },
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			if settingsOf(env.Task).Share == feasibility.Feasibility {
				return []strategy.Exchange{feasibility.NewSharing(env.Task)}, nil
			}
			if settingsOf(env.Task).Share == feasibility.Coarse {
				grid, err := coarsen.New(env.Key, env.Task.Space)
				if err != nil {
					return nil, err
				}
				return []strategy.Exchange{newSharing(env.Task, grid)}, nil
			}
			switch {
			case env.Task.Privacy != nil:
				noisy, err := newReleases(env.Task, env.Entropy)
				if err != nil {
					return nil, err
				}
				noisy.Disown(env.Unaccounted)
				return []strategy.Exchange{noisy}, nil
			case settingsOf(env.Task).Threshold == private:
				sharing, err := NewPrivate(env.Task, env.Entropy)
				return []strategy.Exchange{sharing}, err
			}
			return []strategy.Exchange{newSharing(env.Task, nil)}, nil
		},
		Describe: func(t *task.Task) string {
			s := settingsOf(t)
			if s.Share == feasibility.Feasibility {
				return fmt.Sprintf("expected improvement given which designs of peers were feasible; a share holds up to %d designs and whether each was feasible", protocol.MaxLabels)
			}
			if s.Share == feasibility.Coarse {
				return fmt.Sprintf("expected improvement given that designs near what peers say are good; a share holds coarsely the design whose lower bound, at %g deviations, is best", s.Confidence)
			}
			if s.Threshold == private {
				return fmt.Sprintf("expected improvement given that peers' designs are good; the design whose lower bound, at %g deviations, is best goes to those whose best this bound exceeds, by a private comparison, %s of a peer within an hour at most",
					s.Confidence, sanitize.Count(s.ComparisonsPerHour, "comparison"))
			}
			holds := fmt.Sprintf("the design whose lower bound, at %g deviations, is best", s.Confidence)
			if t.Privacy != nil {
				holds += ", with noise"
			}
			if t.Privacy != nil || s.ShareEvery > 1 {
				holds += ", and comes " + feasibility.After(s.ShareEvery)
			}
			return fmt.Sprintf("expected improvement given that peers' designs are good, threshold %s; a share holds %s", s.Threshold, holds)
		},
		Reveals: func(t *task.Task) string {
			if settingsOf(t).Share == feasibility.Feasibility {
				return feasibility.Reveals
			}
			if settingsOf(t).Share == feasibility.Coarse {
				return coarsen.Reveals(t.Space)
			}
			if t.Privacy != nil {
				return feasibility.NoisyReveals(t.Privacy)
			}
			if settingsOf(t).Threshold == private {
				return "Peers learn whether the best design of this node is better than their own best, and get it where it is, or where they pretend so, never its results; that is not privacy."
			}
			beside := "never its results"
			if settingsOf(t).Threshold == open {
				beside = "and how good it is at least"
			}
			return "Peers get designs of this node, which show where it looks and what it holds for good, " + beside + "; that is not privacy."
		},
		Outdated: func(t *task.Task) string {
			if settingsOf(t).Threshold == private {
				return "strategy constrained-gp with threshold: " + private + " tells its designs only to nodes that are there"
			}
			return ""
		},
		PriorDesigns: true,
		Debit:        debit,
		Forge:        forge,
	}
}

// debit is the note itself: under a promise nothing else is noted.
func debit(exchange string, note []byte) []byte {
	if exchange != Kind {
		return nil
	}
	return note
}

// forge replaces a design by one of the lie, and labels by others.
func forge(t *task.Task, kind string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	if kind == feasibility.Kind {
		return feasibility.Forge(t, payload, attack)
	}
	design, err := protocol.DecodeNearOptimal(payload, t.Space)
	if err != nil {
		return nil, err
	}
	design.Point = protocol.PointOf(t.Space, attack.Design(t.Space))
	return design.Encode(t.Space)
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
