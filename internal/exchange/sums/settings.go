package sums

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Share is the value of the key share with which nodes share sums.
const Share = "sum"

// DefaultEvery is the default of the key share_every: the number of observations in a contribution.
const DefaultEvery = 4

// Honest is the minimum number of contributors of a sum beyond those that may collude, and MinRoster
// the minimum length of a roster.
const (
	Honest    = 3
	MinRoster = 5
)

// Settings are the keys of a task file about the nodes that compute sums.
type Settings struct{ task.Aggregate }

var _ task.Rostered = Settings{}

// Parties implements task.Rostered.
func (s Settings) Parties() []peer.ID { return s.Roster }

// Keys implements task.StrategySettings.
func (s Settings) Keys() map[string]any { return s.Aggregate.Keys() }

func readSettings(s *task.Section) task.StrategySettings {
	return Settings{*s.Aggregate(task.SumRules{
		Nodes:   MinRoster,
		Honest:  Honest,
		Because: fmt.Sprintf("since a sum without noise needs %d contributors that do not collude", Honest),
	})}
}

// SettingsOf returns the settings of a task with share: sum. ok is false for other tasks.
func SettingsOf(t *task.Task) (s Settings, ok bool) {
	s, ok = strategy.ChoiceOf(t).Settings.(Settings)
	return s, ok
}

// Disclosure returns the disclosure in which nodes share sums of the task's statistic without
// noise.
func Disclosure() strategy.Disclosure {
	return strategy.Disclosure{
		Share:        Share,
		Rung:         strategy.RungSum,
		Every:        true,
		EveryDefault: DefaultEvery,
		Roster:       true,
		Settings:     readSettings,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			s, err := NewStatistic(env.Task)
			if err != nil {
				return nil, err
			}
			e, err := NewExchange(env, s)
			return []strategy.Exchange{e}, err
		},
		Holds: func(t *task.Task) string {
			settings, _ := SettingsOf(t)
			return fmt.Sprintf("peers receive sums over at least %d nodes, each with %s of each node", settings.MinContributors,
				sanitize.Count(strategy.ChoiceOf(t).ShareEvery, "new observation"))
		},
		Reveals: func(t *task.Task) string { return reveals(t) },
		Outdated: func(*task.Task) string {
			return "with share: sum, only running nodes of the roster send sums"
		},
	}
}

// reveals describes what peers receive, which nodes may be absent, and what remains.
func reveals(t *task.Task) string {
	s, _ := SettingsOf(t)
	every := strategy.ChoiceOf(t).ShareEvery
	committee, err := securesum.NewCommittee(s.Committee, s.MaxColluding)
	if err != nil {
		return err.Error()
	}
	cells := NewCells(t)
	numbers := cells.Numbers()
	honest := s.MinContributors - s.MaxColluding
	text := fmt.Sprintf("Peers receive exact sums over at least %d of the %d nodes on the roster, never the vector of one node. There is no noise and no budget.\n"+
		"a round: each contributor adds %s that it has not contributed before, as %s. It sends %s to each of %s.\n"+
		"absences: a round needs %s and %d of the %d committee members; the others may be absent and receive the sum later.\n"+
		"secrecy: if at most %s, the colluding nodes learn only sums over %d other nodes or more, with %s of each. No difference of sums isolates fewer nodes.\n"+
		"what remains: %s If all other contributors of a sum collude, they learn the same of the remaining one. "+
		"All nodes with the task, also outside of the roster, see who contributes to each sum, its time, how often each node contributes, and when it is ready.",
		s.MinContributors, len(s.Roster),
		sanitize.Count(every, "observation"), sanitize.Count(numbers, "number"), size(securesum.DealBytes(committee, numbers)), sanitize.Count(s.Committee, "committee member"),
		sanitize.Count(s.MinContributors, "contributor"), committee.Quorum, s.Committee,
		colludes(s.MaxColluding), honest, sanitize.Count(every, "observation"),
		remains(cells))
	if s.MinContributors == len(s.Roster) {
		text += fmt.Sprintf("\nwarning: min_contributors %d is the whole roster, so one absent node stops all sums", s.MinContributors)
	}
	return text
}

// colludes returns the start of a sentence with the verb.
func colludes(nodes int) string {
	if nodes == 1 {
		return "1 node colludes"
	}
	return fmt.Sprintf("%d nodes collude", nodes)
}

// remains describes what a sum discloses about the observations in it.
func remains(c *Cells) string {
	return fmt.Sprintf("a sum has the number of observations and the sum of their outputs in each of %d parts of the space. "+
		"Peers learn in which part the design of each observation is, which with few designs is the design itself. "+
		"Of an observation that is alone in its part they learn the output, in units that they do not receive. "+
		"One sum does not show whose an observation is. Several sums can, since their contributors are known: observations of one node resemble each other.", len(c.Centres()))
}

// size formats a number of bytes.
func size(bytes int) string {
	if bytes < 1<<10 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d KiB", (bytes+1<<10-1)>>10)
}
