package campaign

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Summary adds up the results of runs.
type Summary struct {
	Seeds, Steps, Starts, Trials, Shares, Failures int

	Faults map[FaultKind]int
}

// Add adds the result of a run.
func (s *Summary) Add(r Result) {
	if s.Faults == nil {
		s.Faults = map[FaultKind]int{}
	}
	s.Seeds, s.Steps, s.Starts, s.Trials, s.Shares = s.Seeds+1, s.Steps+r.Steps, s.Starts+r.Starts, s.Trials+r.Trials, s.Shares+r.Shares
	for kind, count := range r.Faults {
		s.Faults[kind] += count
	}
	if r.Failure != "" {
		s.Failures++
	}
}

// String returns one line.
func (s Summary) String() string {
	var faults []string
	for _, kind := range FaultKinds() {
		faults = append(faults, fmt.Sprintf("%s %d", kind, s.Faults[kind]))
	}
	return fmt.Sprintf("%s, %s, %d starts, %d outcomes, %d shares; faults: %s; %s", sanitize.Count(s.Seeds, "seed"), sanitize.Count(s.Steps, "step"),
		s.Starts, s.Trials, s.Shares, strings.Join(faults, ", "), sanitize.Count(s.Failures, "failure"))
}
