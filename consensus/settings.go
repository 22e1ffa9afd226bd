package consensus

import (
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/task"
)

// Values of the keys of a task file.
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

	exact = "exact" // the only value of share that this strategy supports

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
	// Acquisition is the acquisition function that chooses a node's own candidate: "logei", "ucb"
	// or "ts".
	Acquisition string
	// Weights is the rule for the weights of candidates. "uniform" weights decay to the own
	// candidate alone. With "leader" the node with the best response has the largest weight.
	// "metropolis" is for nodes that do not see all others. With "similarity" a peer's weight
	// depends on how well its candidate fits the node's own observations.
	Weights string
	// Average is the rule by which candidates are combined: "mean", "median", or "trimmed", which
	// is the mean of the middle half of the weight. Median and trimmed apply coordinate by
	// coordinate. One dishonest node among several has little effect on them.
	Average string
	// Mode is "rounds" or "asynchronous". In rounds, a node waits for the candidates of the nodes
	// in step with it. An asynchronous node uses the candidates that it has, weighted by age.
	Mode string
	// Rounds is T, the number of rounds after which a node continues without peers: 1 to 100000.
	Rounds int
	// RoundTimeout is the maximum time in seconds for which a round waits for candidates, 1 to
	// 86400. It is 0 in mode asynchronous.
	RoundTimeout int
	// Response is the form in which nodes exchange their best response with weights: leader,
	// "value" or "noisy". It is empty with other weights.
	Response string
	// ResponseNoise is the standard deviation of the noise on a response, in units of the
	// objective. It is 0 unless Response is "noisy".
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
	case "": // the value was wrong and has been reported; the key may belong to the intended one
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

// robust reports whether the average limits the effect of a few candidates.
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
	if c.robust() { // keys omits the default
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
