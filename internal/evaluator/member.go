package evaluator

import "fmt"

// Member identifies a member of a simulation, if one command evaluates for all members. A worker
// gets its two fields as further keys of the request.
type Member struct {
	Number     int    `json:"member"`     // number of the member, from 0
	Federation uint32 `json:"federation"` // number that all members of a federation share, for use as a random seed
}

// variables returns the environment variables with which a command gets the member.
func (m Member) variables() []string {
	return []string{fmt.Sprintf("FBO_MEMBER=%d", m.Number), fmt.Sprintf("FBO_FEDERATION=%d", m.Federation)}
}
