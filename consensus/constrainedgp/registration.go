package constrainedgp

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Values of the key threshold.
const (
	none    = "none"    // designs are shared with all peers, without further information
	open    = "open"    // designs are shared with all peers, with the lower confidence bound of the objective
	private = "private" // a design is sent only to peers whose threshold its bound exceeds, by comparisons that disclose neither value
)

const (
	defaultConfidence = 2
	maxConfidence     = 100

	defaultComparisonsPerHour = 60
	maxComparisonsPerHour     = 3600
)

// Settings are the keys of a task file for strategy constrained-gp.
type Settings struct{ strategy.Choice }

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	return Settings{strategy.ReadChoice(s, disclosures())}
}

// Release implements task.Releaser.
func (s Settings) Release(t *task.Task) task.Release { return strategy.ReleaseOf(disclosures(), t) }

// Designs holds the further keys of a task whose nodes share designs.
type Designs struct {
	// Threshold is none, open or private.
	Threshold string
	// Confidence is the distance between the mean and the lower confidence bound whose maximiser
	// a node shares, in standard deviations: 0 to 100.
	Confidence float64
	// ComparisonsPerHour is the maximum number of comparisons that a node answers each peer
	// within an hour, 1 to 3600; 0 unless Threshold is private.
	ComparisonsPerHour int
	Coarse             bool // share is coarse; Threshold is then none and not a key
}

func readDesigns(s *task.Section) task.StrategySettings {
	d := Designs{Threshold: s.Word("threshold", none, none, open, private)}
	d.Confidence = s.Within("confidence", defaultConfidence, 0, maxConfidence)
	if d.Threshold == private {
		s.Refuse("share_every", "threshold: "+none+" or "+open) // in private mode every new design is compared
		d.ComparisonsPerHour = s.Whole("comparisons_per_hour", defaultComparisonsPerHour, 1, maxComparisonsPerHour)
	} else {
		s.Refuse("comparisons_per_hour", "threshold: "+private)
	}
	return d
}

func readCoarse(s *task.Section) task.StrategySettings {
	s.Refuse("comparisons_per_hour", "threshold: "+private)
	return Designs{Threshold: none, Confidence: s.Within("confidence", defaultConfidence, 0, maxConfidence), Coarse: true}
}

// Keys implements task.StrategySettings.
func (d Designs) Keys() map[string]any {
	keys := map[string]any{"confidence": d.Confidence}
	if !d.Coarse {
		keys["threshold"] = d.Threshold
	}
	if d.Threshold == private {
		keys["comparisons_per_hour"] = d.ComparisonsPerHour
	}
	return keys
}

// designsOf returns the Designs of a task whose nodes share designs. For other tasks it returns the
// zero value.
func designsOf(t *task.Task) Designs { return strategy.ChosenSettings[Designs](t) }

// Register returns the registration of the strategy constrained-gp.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "constrained-gp", Settings: readSettings, Mechanism: task.MechanismLocal, Constraints: true, ForConstraints: true, Joint: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t), nil },
		Describe: func(t *task.Task) string {
			return "expected improvement given " + strategy.DisclosureOf(disclosures(), t).Uses
		},
		Disclosures:  disclosures(),
		PriorDesigns: true,
	}
}

func disclosures() []strategy.Disclosure {
	labels := feasibility.Disclosure("which designs of peers were feasible")
	labels.New = func(t *task.Task) (strategy.Strategy, error) { return newByLabels(t), nil }
	return []strategy.Disclosure{
		discloseBest(none, "never its results"),
		discloseBest(open, "and how good it is at least"),
		discloseCompared(),
		discloseNoisy(),
		discloseCoarse(),
		labels,
	}
}

// discloseBest returns the disclosure in which nodes share exact designs, with this value of
// threshold. beside is the end of a sentence that describes what peers learn in addition to the
// designs.
func discloseBest(threshold, beside string) strategy.Disclosure {
	return strategy.Disclosure{
		Share:    "best",
		Rung:     strategy.RungDesign,
		Implied:  true,
		Every:    true,
		Settings: readDesigns,
		Applies:  func(t *task.Task) bool { return designsOf(t).Threshold == threshold },
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{newSharing(env.Task, nil)}, nil
		},
		Uses: "that peers' designs are good, threshold " + threshold,
		Holds: func(t *task.Task) string {
			text := "a share holds " + holds(t)
			if c := strategy.ChoiceOf(t); c.ShareEvery > 1 {
				text += c.Comes()
			}
			return text
		},
		Reveals: func(*task.Task) string {
			return "Peers receive designs of this node, which show where it searches and which designs its model prefers, " + beside + ". This is no privacy guarantee."
		},
		Forge: forge,
	}
}

func holds(t *task.Task) string {
	return fmt.Sprintf("the design whose lower bound, at %g deviations, is best", designsOf(t).Confidence)
}

// discloseCompared returns the disclosure in which a node sends a design only to peers whose
// threshold its bound exceeds.
func discloseCompared() strategy.Disclosure {
	d := discloseBest(private, "")
	d.Exchanges = func(env strategy.Env) ([]strategy.Exchange, error) {
		sharing, err := NewPrivate(env.Task, env.Entropy)
		return []strategy.Exchange{sharing}, err
	}
	d.Uses = "that peers' designs are good"
	d.Holds = func(t *task.Task) string {
		return fmt.Sprintf("%s goes to each peer whose own best is below this bound, by a private comparison, at most %s with a peer within an hour",
			holds(t), sanitize.Count(designsOf(t).ComparisonsPerHour, "comparison"))
	}
	d.Reveals = func(*task.Task) string {
		return "Each peer learns whether the best design of this node is better than its own best. It receives the design if so, or if it lies about its own best, but no results. This is no privacy guarantee."
	}
	d.Outdated = func(*task.Task) string {
		return "strategy constrained-gp with threshold: " + private + " sends its designs only to connected nodes"
	}
	return d
}

// discloseNoisy returns the disclosure in which nodes share designs with DP noise, without further
// information.
func discloseNoisy() strategy.Disclosure {
	d := dprelease.OfDesigns(discloseBest(none, ""), protocol.NearOptimalKind, newReleases, func(t *task.Task) string {
		if designsOf(t).Threshold != none {
			return "threshold: " + none
		}
		return ""
	})
	d.Holds = func(t *task.Task) string {
		return "a share holds " + holds(t) + ", with noise" + strategy.ChoiceOf(t).Comes()
	}
	return d
}

// discloseCoarse returns the disclosure in which nodes share the grid cell of a design.
func discloseCoarse() strategy.Disclosure {
	return strategy.Disclosure{
		Share:    coarsen.Share,
		Coarse:   true,
		Rung:     strategy.RungCoarse,
		Settings: readCoarse,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			grid, err := coarsen.New(env.Key, env.Task.Space)
			if err != nil {
				return nil, err
			}
			return []strategy.Exchange{newSharing(env.Task, grid)}, nil
		},
		Uses:    "that designs near those of peers are good",
		Holds:   func(t *task.Task) string { return "a share holds coarsely " + holds(t) },
		Reveals: func(t *task.Task) string { return coarsen.Reveals(t.Space) },
		Forge:   forge,
	}
}

// forge replaces the design of a payload by a design of the attack.
func forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	design, err := protocol.DecodeNearOptimal(payload, t.Space)
	if err != nil {
		return nil, err
	}
	design.Point = protocol.PointOf(t.Space, attack.Design(t.Space))
	return design.Encode(t.Space)
}
