package consensus

import (
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/task"
)

// Words of a task file.
const (
	acquisitionLogEI = "logei"
	acquisitionUCB   = "ucb"
	acquisitionTS    = "ts"

	weightsUniform    = "uniform"
	weightsLeader     = "leader"
	weightsMetropolis = "metropolis"
	weightsSimilarity = "similarity"

	averageMean    = "mean"
	averageMedian  = "median"
	averageTrimmed = "trimmed"

	modeRounds       = "rounds"
	modeAsynchronous = "asynchronous"

	exact = "exact" // the only form that a share has here

	responseValue = "value"
	responseNoisy = "noisy"
)

const (
	defaultRounds       = 50
	maxRounds           = 100000
	defaultRoundTimeout = 60
	maxRoundTimeout     = 86400
	maxResponseNoise    = 1e100
)

// Settings are the keys of a task file for strategy consensus.
type Settings struct {
	// Acquisition chooses a node's own candidate: "logei", "ucb" or "ts".
	Acquisition string
	// Weights says how candidates are weighed: "uniform", decaying to the own one
	// alone, "leader" (the node of best response weighs most), "metropolis" (for
	// nodes that do not see everybody) or "similarity" (a peer's weighs by how well it fits
	// what the node has seen).
	Weights string
	// Average says what is made of the candidates: their "mean", or, of which one liar
	// among several moves little, their "median" or the mean of the middle half,
	// "trimmed", coordinate by coordinate.
	Average string
	// Mode is "rounds" (a node waits for the candidates of those in step with it) or
	// "asynchronous" (it takes what it has, weighed by age).
	Mode string
	// Rounds is T, after which a node goes on alone: 1 to 100000.
	Rounds int
	// RoundTimeout is how many seconds a round waits for candidates, 1 to 86400; 0 in
	// mode asynchronous.
	RoundTimeout int
	// Response says how the best response is exchanged with weights leader: "value"
	// or "noisy"; empty otherwise.
	Response string
	// ResponseNoise is the standard deviation of the noise on it with response
	// noisy, in units of the objective; 0 otherwise.
	ResponseNoise float64
}

func readSettings(s *task.Section) task.StrategySettings {
	if share := s.Word("share", exact, exact, coarsen.Share); share == coarsen.Share {
		s.Errorf("share", "share %s does not go with strategy consensus: nodes evaluate the average of their candidates, which must be exact; coarse shares: peer-prior, density, constrained-gp", coarsen.Share)
	}
	c := Settings{
		Acquisition: s.Word("acquisition", acquisitionLogEI, acquisitionLogEI, acquisitionUCB, acquisitionTS),
		Weights:     s.Word("weights", weightsUniform, weightsUniform, weightsLeader, weightsMetropolis, weightsSimilarity),
		Average:     s.Word("average", averageMean, averageMean, averageMedian, averageTrimmed),
		Mode:        s.Word("mode", modeRounds, modeRounds, modeAsynchronous),
		Rounds:      s.Whole("rounds", defaultRounds, 1, maxRounds),
	}
	switch c.Mode {
	case modeRounds:
		c.RoundTimeout = s.Whole("round_timeout", defaultRoundTimeout, 1, maxRoundTimeout)
	case "": // a wrong word, reported; the key may belong to the right one
		s.Accept("round_timeout")
	default:
		s.Refuse("round_timeout", "mode: "+modeRounds)
	}
	if c.Weights == weightsLeader && c.Mode == modeAsynchronous {
		s.Errorf("weights", "weights %s applies only with mode: %s", weightsLeader, modeRounds)
	}
	if c.Weights == weightsLeader && c.robust() {
		s.Errorf("average", "average %s does not go with weights: leader: the node that claims the best response leads, with the largest weight; accepted weights: uniform, metropolis, similarity", c.Average)
	}
	switch c.Weights {
	case weightsLeader:
		c.readResponse(s)
	case "":
		s.Accept("response", "response_noise")
	default:
		s.Refuse("response", "weights: "+weightsLeader)
		s.Refuse("response_noise", "weights: "+weightsLeader+" and response: "+responseNoisy)
	}
	return c
}

// robust reports whether few candidates move an average little.
func (c Settings) robust() bool { return c.Average == averageMedian || c.Average == averageTrimmed }

func (c *Settings) readResponse(s *task.Section) {
	c.Response = s.Word("response", responseValue, responseValue, responseNoisy)
	switch c.Response {
	case responseNoisy:
		c.ResponseNoise = s.Required("response_noise", 0, maxResponseNoise)
	case "":
		s.Accept("response_noise")
	default:
		s.Refuse("response_noise", "response: "+responseNoisy)
	}
}

// Keys implements task.StrategySettings.
func (c Settings) Keys() map[string]any {
	keys := map[string]any{"acquisition": c.Acquisition, "weights": c.Weights, "mode": c.Mode, "rounds": c.Rounds}
	if c.robust() { // the default is left out
		keys["average"] = c.Average
	}
	if c.Mode == modeRounds {
		keys["round_timeout"] = c.RoundTimeout
	}
	if c.Weights == weightsLeader {
		keys["response"] = c.Response
		if c.Response == responseNoisy {
			keys["response_noise"] = c.ResponseNoise
		}
	}
	return keys
}
