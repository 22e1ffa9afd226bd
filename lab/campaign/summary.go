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
	one := Summary{Seeds: 1, Steps: r.Steps, Starts: r.Starts, Trials: r.Trials, Shares: r.Shares, Faults: r.Faults}
	if r.Failure != "" {
		one.Failures = 1
	}
	s.Join(one)
}

// Join adds another summary.
func (s *Summary) Join(o Summary) {
	if s.Faults == nil {
		s.Faults = map[FaultKind]int{}
	}
	s.Seeds, s.Steps, s.Starts = s.Seeds+o.Seeds, s.Steps+o.Steps, s.Starts+o.Starts
	s.Trials, s.Shares, s.Failures = s.Trials+o.Trials, s.Shares+o.Shares, s.Failures+o.Failures
	for kind, count := range o.Faults {
		s.Faults[kind] += count
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
