package task

const (
	acquisitionLogEI = "logei"

	weightsLeader = "leader"

	consensusRounds = "rounds"

	responseNoisy = "noisy"

	defaultRounds    = 50
	maxRounds        = 100000
	defaultDeadline  = 60
	maxDeadline      = 86400
	maxResponseNoise = 1e100
)

func consensusSpec() strategySpec {
	return strategySpec{name: "consensus", parse: parseConsensus, canonical: canonicalConsensus}
}

func parseConsensus(m *mapping, s *Strategy) {
	c := &Consensus{}
	s.Consensus = c
	c.Acquisition = m.word("acquisition", acquisitionLogEI, acquisitionLogEI, "ucb", "ts")
	c.Weights = m.word("weights", "uniform", "uniform", weightsLeader, "metropolis")
	c.Mode = m.word("mode", consensusRounds, consensusRounds, "asynchronous")
	c.Rounds = m.whole("rounds", defaultRounds, 1, maxRounds)
	switch c.Mode {
	case consensusRounds:
		c.Deadline = m.whole("deadline", defaultDeadline, 1, maxDeadline)
	case "": // a wrong word, reported; the key may belong to the right one
		m.get("deadline")
	default:
		m.refuse("deadline", "mode: "+consensusRounds)
	}
	if c.Weights == weightsLeader && c.Mode != consensusRounds && c.Mode != "" {
		m.errorf(m.valueAt("weights"), "weights %s applies only with mode: %s", weightsLeader, consensusRounds)
	}
	switch c.Weights {
	case weightsLeader:
		parseResponse(m, c)
	case "":
		m.get("response")
		m.get("response_noise")
	default:
		m.refuse("response", "weights: "+weightsLeader)
		m.refuse("response_noise", "weights: "+weightsLeader+" and response: "+responseNoisy)
	}
}

func parseResponse(m *mapping, c *Consensus) {
	c.Response = m.word("response", "value", "value", responseNoisy)
	switch c.Response {
	case responseNoisy:
		if _, ok := m.require("response_noise"); ok {
			c.ResponseNoise = m.within("response_noise", 0, 0, maxResponseNoise)
		}
	case "":
		m.get("response_noise")
	default:
		m.refuse("response_noise", "response: "+responseNoisy)
	}
}

func canonicalConsensus(form map[string]any, s Strategy) {
	c := s.Consensus
	form["acquisition"], form["weights"], form["mode"], form["rounds"] = c.Acquisition, c.Weights, c.Mode, c.Rounds
	if c.Mode == consensusRounds {
		form["deadline"] = c.Deadline
	}
	if c.Weights == weightsLeader {
		form["response"] = c.Response
		if c.Response == responseNoisy {
			form["response_noise"] = c.ResponseNoise
		}
	}
}
