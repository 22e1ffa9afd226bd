package fair

import (
	"fmt"
	"strconv"

	"github.com/fbo-node/fbo/protocol"
)

// naming is a warning about a party: the party and the reason.
type naming struct{ party, reason int }

// Reasons for a warning that names a party.
const (
	nonsense     = 1
	contradicts  = 2
	far          = 3
	disobedience = 4
)

func reasonOf(code int) string {
	switch code {
	case nonsense:
		return "it sends what no honest party sends"
	case contradicts:
		return "it has signed two different results of one evaluation"
	case far:
		return fmt.Sprintf("a tenth of its results or more are over %d times as far from what all others predict as those of the others are", farTimes)
	case disobedience:
		return "it has evaluated another design than the one that was assigned to it"
	}
	return "reason " + strconv.Itoa(code)
}

// suspect names the parties with too many outliers.
func (e *Exchange) suspect(c choice) {
	for _, party := range c.off {
		e.name(party, far)
	}
}

// name warns the user about a party, once for each reason. The mediator also notifies all parties.
func (e *Exchange) name(party, reason int) {
	if party == e.self && reason != far || e.named[naming{party, reason}] {
		return
	}
	e.named[naming{party, reason}] = true
	e.warn("the results of party %s do not fit: %s", e.roster[party], reasonOf(reason))
	if e.mediator == e.self {
		for other := range e.roster {
			e.send(other, protocol.FairMessage{Notices: []protocol.Notice{{Party: party, Reason: reason}}})
		}
	}
}
