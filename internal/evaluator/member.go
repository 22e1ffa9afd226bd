package evaluator

import "fmt"

// Member identifies the member of a simulation whose objective is evaluated, if one command
// evaluates for all members. The line for a worker has its two fields as further keys.
type Member struct {
	Number     int    `json:"member"`     // from 0
	Federation uint32 `json:"federation"` // a number for all members of a federation, to seed with
}

// variables returns the environment variables that pass the member to a command.
func (m Member) variables() []string {
	return []string{fmt.Sprintf("FBO_MEMBER=%d", m.Number), fmt.Sprintf("FBO_FEDERATION=%d", m.Federation)}
}
