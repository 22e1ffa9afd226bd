package taskcmd

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// sumReport is the part that mechanism aggregate adds to a PrivacyReport: the summing nodes, the
// tolerated adversaries, and the signal that is left.
type sumReport struct {
	Roster            int     `json:"roster"`           // nodes that may take part
	MinContributors   int     `json:"min_contributors"` // at least, in a sum
	Committee         int     `json:"committee"`
	Quorum            int     `json:"quorum"` // of the committee
	MaxColluding      int     `json:"max_colluding"`
	Cells             int     `json:"cells"`
	All               average `json:"all"`     // when the whole roster contributes
	Minimum           average `json:"minimum"` // with the minimum number of contributors
	EvidenceWeighted  bool    `json:"evidence_weighted"`
	SignalToNoiseUsed float64 `json:"signal_to_noise_used"` // an upper bound for the average that nodes use: with evidence weights of all planned sums, else of the first

	enough int // number of nodes with which SignalToNoiseUsed would be 1, if the same part of them were in each sum; 0 if no roster may be that long
}

// average is the average over the contributors of a sum, for the first and the last planned one:
// with several cells, each releases less at first.
type average struct {
	Nodes      int     `json:"nodes"`
	Noise      float64 `json:"noise"`           // standard deviation on each weight
	Signal     float64 `json:"signal_to_noise"` // at most, by Euclidean norm
	LastNoise  float64 `json:"last_noise"`
	LastSignal float64 `json:"last_signal_to_noise"`
}

func newSumReport(t *task.Task, terms ledger.Terms) (*sumReport, error) {
	a, plan := terms.Aggregate, base.RegistrationOf(t).Disclosure(t).Sums(t)
	committee, err := securesum.NewCommittee(a.Committee, a.MaxColluding)
	if err != nil {
		return nil, err
	}
	s := &sumReport{
		Roster: len(a.Roster), MinContributors: a.MinContributors,
		Committee: a.Committee, Quorum: committee.Quorum, MaxColluding: a.MaxColluding,
		Cells: plan.Cells(), EvidenceWeighted: plan.EvidenceWeighted(),
	}
	p := planned{plan, terms}
	s.All, s.Minimum = p.average(s.Roster, terms.Sigma), p.average(s.MinContributors, terms.Sigma)
	s.SignalToNoiseUsed = p.received(s.Roster, terms.Sigma)
	// The honest contributors of a sum add the noise together.
	total := terms.Sigma * math.Sqrt(float64(s.MinContributors-s.MaxColluding))
	for nodes := s.Roster; nodes <= securesum.MaxRoster && s.enough == 0; nodes++ {
		if p.received(nodes, total/math.Sqrt(float64(s.least(nodes)-s.MaxColluding))) >= 1 {
			s.enough = nodes
		}
	}
	return s, nil
}

// planned holds the sums of a task.
type planned struct {
	strategy.SumPlan
	terms ledger.Terms
}

// signal returns the largest signal relative to the noise: each cell has its part of the norm.
func (p planned) signal(noise float64) float64 {
	return p.terms.Clip / (noise * math.Sqrt(float64(p.terms.Numbers())))
}

func (p planned) average(nodes int, deviation float64) average {
	first, last := p.Noise(1, nodes, deviation), p.Noise(p.terms.Releases, nodes, deviation)
	return average{nodes, first, p.signal(first), last, p.signal(last)}
}

// received returns the signal relative to the noise of the average that nodes use.
func (p planned) received(nodes int, deviation float64) float64 {
	if p.EvidenceWeighted() {
		return p.signal(p.PooledNoise(p.terms.Releases, nodes, deviation))
	}
	return p.signal(p.Noise(1, nodes, deviation))
}

// least returns the minimum number of contributors for this number of nodes, in proportion.
func (s *sumReport) least(nodes int) int {
	return (nodes*s.MinContributors + s.Roster - 1) / s.Roster
}

func (r PrivacyReport) guaranteeOfSums() string {
	who := "any one node with all that it knows"
	if n := r.Sums.MaxColluding; n > 1 {
		who = fmt.Sprintf("up to %d nodes that pool all they know", n)
	}
	return fmt.Sprintf("guarantee: (ε = %g, δ = %g)-differential privacy of each node's observations as a whole, over its %s to sums,\n"+
		"against all that receive the sums, and against %s.\n"+
		"By that much they can distinguish its contributions from %s", r.Epsilon, r.Delta, sanitize.Count(r.Planned, "contribution"), who, r.neighbour())
}

// text describes the nodes that sum.
func (s *sumReport) text() string {
	sizes := fmt.Sprintf("a sum is of %d at least", s.MinContributors)
	if s.MinContributors == s.Roster {
		sizes = "a sum is of all of them, so that none may be absent"
	}
	blind := "no member of it sees"
	if s.MaxColluding > 1 {
		blind = fmt.Sprintf("no %d members of it together see", s.MaxColluding)
	}
	down := fmt.Sprintf("%d of the %d must be up in a round, so that %d may be down", s.Quorum, s.Committee, s.Committee-s.Quorum)
	if s.Quorum == s.Committee {
		down = "all of it must be up in a round"
	}
	return fmt.Sprintf("sums: only the %d nodes on the roster can take part; %s.\n"+
		"Each vector is split among a committee of %d, drawn anew for every round: %s\n"+
		"anything of it, as long as SHA-256 hides what it is given. %s",
		s.Roster, sizes, s.Committee, blind, render.Upper(down))
}

func (r PrivacyReport) noiseOfSums() string {
	s := r.Sums
	text := fmt.Sprintf("noise: each node adds deviation %.3g to each of its %d numbers (%s times %s), clipped to norm %.4g before.\n"+
		"The average of all %d nodes holds at most %.2g times as much signal as noise",
		r.Noise, r.Dimension, sanitize.Count(s.Cells, "cell"), sanitize.Count(r.Features, "feature"), r.Clip, s.All.Nodes, s.All.Signal)
	if s.Minimum.Nodes < s.All.Nodes {
		text += fmt.Sprintf(", that of the least %d at most %.2g times", s.Minimum.Nodes, s.Minimum.Signal)
	}
	if s.Cells > 1 {
		text += "\nin the first sum, in which nodes report only their own cells"
		if r.Planned > 1 {
			text += fmt.Sprintf(", and %.2g times in the last", s.All.LastSignal)
			if s.Minimum.Nodes < s.All.Nodes {
				text += fmt.Sprintf(", or %.2g", s.Minimum.LastSignal)
			}
		}
	}
	if s.EvidenceWeighted && r.Planned > 1 {
		text += fmt.Sprintf(".\nNodes follow the average of all sums so far, which after %d of all nodes holds at most %.2g times as much", r.Planned, s.SignalToNoiseUsed)
	}
	return text + s.warnings()
}

// warnings returns the warnings; empty if there are none.
func (s *sumReport) warnings() string {
	text := ""
	if s.MinContributors < s.Cells {
		text = fmt.Sprintf("\nwarning: %d cells are more than the nodes that a sum may be of: of those that none of these explores, the\n"+
			"first sums contain only noise.", s.Cells)
	}
	if s.SignalToNoiseUsed >= 1 {
		return text
	}
	hint := fmt.Sprintf("With %d nodes on the roster, %d of them in every sum,\nthere could be as much signal as noise.", s.enough, s.least(s.enough))
	if s.enough == 0 {
		hint = fmt.Sprintf("Even with %d nodes, as many as\na roster may name, there would be more noise than signal.", securesum.MaxRoster)
	}
	return text + "\nwarning: the noise exceeds the signal. Sums will hardly help: allow a larger ε, plan fewer releases, features or\n" +
		"cells, or do without peers (strategy ts). " + hint
}
