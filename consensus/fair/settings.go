package fair

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Values of the keys of a task file.
const (
	weightsExponential = "exponential"
	weightsLinear      = "linear"

	explorationFixed   = "fixed"
	explorationVarying = "varying"

	batchFair    = "fair"
	batchIFU     = "ifu"
	batchTwoStep = "two-step"
)

const (
	defaultRho       = 0.8
	defaultLinearRho = 2 // Gini's weights: odd numbers
	minRho           = 0.001
	maxLinearRho     = 1e6

	defaultC1 = 0.1
	defaultC2 = 5
	minC2     = 1e-6
	maxC      = 1e6

	defaultRoundTimeout = 300
	maxRoundTimeout     = 604800
)

// Settings are the keys of a task file for strategy fair.
type Settings struct {
	// Roster lists the parties: 2 to protocol.MaxParties sorted peer IDs with Ed25519 keys.
	Roster []peer.ID
	// Mediator is the node of the roster that receives all results and chooses all designs. It is
	// empty if the task has no mediator.
	Mediator peer.ID
	// Batch is the rule for batches: "fair", "ifu" or "two-step". "fair" is S21, equation 5. With
	// "ifu" only the order of the gains matters, not their size (appendix C.6). With "two-step" the
	// batch maximises the sum of results, and the party with the smallest gain then gets the best
	// design (remark 5).
	Batch string
	// Weights is "exponential" or "linear". Of n weights, weight i is rho^(i-1) or rho·(n-i)+1
	// (S21, remark 4). Weight 1 is for the smallest utility.
	Weights string
	// Rho is the parameter of the weights. With exponential weights it is 0.001 to 1, where 1 gives
	// all parties equal weights. With linear weights it is 0.001 to 1e6, where larger values are
	// fairer. Batch two-step does not allow the key and sets it to 1.
	Rho float64
	// Exploration is "varying" or "fixed". With "varying", C1 is multiplied by (Σw)²/(nΣw²), with w
	// the n weights.
	Exploration string
	// C1 and C2 are the constants of α_t = C1·d·Σw²·ln(C2·t), with d parameters, weights w and t
	// evaluations of each party, for standardised outputs. C1 is 0 to 1e6, C2 is 1e-6 to 1e6.
	C1, C2 float64
	// RoundTimeout is the maximum time in seconds for which a round waits for further results after
	// its first one, 1 to 604800.
	RoundTimeout int
}

func readSettings(s *task.Section) task.StrategySettings {
	var c Settings
	roster, ok := s.Roster(protocol.MaxParties)
	c.Roster = roster
	if id, named := s.Peer("mediator"); named {
		c.Mediator = id
		if ok && !slices.Contains(roster, id) {
			s.Errorf("mediator", "mediator %s must be one of the %d nodes of the roster", id, len(roster))
		}
	}
	c.Batch = s.Word("batch", batchFair, batchFair, batchIFU, batchTwoStep)
	switch c.Batch {
	case batchTwoStep:
		s.Refuse("rho", "batch: "+batchFair+" or "+batchIFU)
		s.Refuse("weights", "batch: "+batchFair+" or "+batchIFU)
		c.Rho, c.Weights = 1, weightsExponential
	case "": // the value was wrong and has been reported; the keys may belong to the intended one
		s.Accept("rho", "weights")
	default:
		c.readWeights(s)
	}
	c.Exploration = s.Word("exploration", explorationVarying, explorationVarying, explorationFixed)
	c.C1 = s.Within("c1", defaultC1, 0, maxC)
	c.C2 = s.Within("c2", defaultC2, minC2, maxC)
	c.RoundTimeout = s.Whole("round_timeout", defaultRoundTimeout, 1, maxRoundTimeout)
	return c
}

func (c *Settings) readWeights(s *task.Section) {
	c.Weights = s.Word("weights", weightsExponential, weightsExponential, weightsLinear)
	switch c.Weights {
	case weightsExponential:
		c.Rho = s.Within("rho", defaultRho, minRho, 1)
	case weightsLinear:
		c.Rho = s.Within("rho", defaultLinearRho, minRho, maxLinearRho)
	default:
		s.Accept("rho")
	}
}

// Parties implements task.Rostered.
func (c Settings) Parties() []peer.ID { return c.Roster }

// Keys implements task.StrategySettings.
func (c Settings) Keys() map[string]any {
	names := make([]string, len(c.Roster))
	for i, id := range c.Roster {
		names[i] = id.String()
	}
	keys := map[string]any{"roster": names, "batch": c.Batch, "exploration": c.Exploration, "c1": c.C1, "c2": c.C2, "round_timeout": c.RoundTimeout}
	if c.Mediator != "" {
		keys["mediator"] = c.Mediator.String()
	}
	if c.Batch != batchTwoStep {
		keys["weights"], keys["rho"] = c.Weights, c.Rho
	}
	return keys
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
