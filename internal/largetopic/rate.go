package largetopic

import "time"

// Limits of the messages that an author sends to all agents of a large topic. An honest author waits for a pause
// between its messages that depends on the number of present agents, and agents see different numbers.
const (
	perPause  = 4  // messages of an author in one pause of the receiving agent
	perAuthor = 10 // messages at once, as of an author that has not yet found the topic large
)

// Admit reports whether an agent accepts one more message of an author, given the state of the author and the pause
// between the agent's own messages. It returns the author's new state, which is zero at first.
func Admit(state, now time.Time, pause time.Duration) (time.Time, bool) {
	each := pause / perPause
	if state.Before(now) {
		state = now
	}
	if next := state.Add(each); next.Sub(now) <= perAuthor*each {
		return next, true
	}
	return state, false
}
