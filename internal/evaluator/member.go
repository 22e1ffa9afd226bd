package evaluator

import "fmt"

// Member says whose objective an evaluation of a simulation is about, where one command
// evaluates for all. In the line for a worker it is two keys more.
type Member struct {
	Number     int    `json:"member"`     // from 0
	Federation uint32 `json:"federation"` // a number for all members of a federation, to seed with
}

// variables are those by which a command learns of it.
func (m Member) variables() []string {
	return []string{fmt.Sprintf("FBO_MEMBER=%d", m.Number), fmt.Sprintf("FBO_FEDERATION=%d", m.Federation)}
}
