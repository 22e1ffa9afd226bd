package sums

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/strategy"
)

// parse reads a task file with these keys in the section strategy, besides the type.
func parse(keys string) (reveals string, s Settings, every int, err error) {
	set := strategy.Set{register()}
	t, err := set.Parse("t", fmt.Appendf(nil, "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: summing, %s}\n", keys))
	if err != nil {
		return "", s, 0, err
	}
	canonical, err := set.Parse("canonical", t.Canonical())
	if err == nil && !canonical.ID().Equals(t.ID()) {
		err = fmt.Errorf("the canonical form has another ID")
	}
	s, _ = SettingsOf(t)
	return set[0].Disclosure(t).Reveals(t), s, strategy.ChoiceOf(t).ShareEvery, err
}

// TestDefaultsOfRosters checks the defaults for rosters of several lengths.
func TestDefaultsOfRosters(t *testing.T) {
	for _, c := range []struct {
		keys                                     string
		nodes                                    int
		contributors, committee, colluding, each int
	}{
		{"", 5, 4, 5, 1, 4},
		{"", 8, 5, 7, 2, 4},
		{"", 40, 5, 7, 2, 4},
		{", share_every: 1, committee: 13", 40, 7, 13, 4, 1},
		{", max_colluding: 2", 5, 5, 5, 2, 4},
		{", min_contributors: 20", 40, 20, 7, 2, 4},
	} {
		text, s, every, err := parse("share: sum, roster: [" + fbotest.Roster(t, c.nodes) + "]" + c.keys)
		if err != nil {
			t.Errorf("%d nodes%s: %v", c.nodes, c.keys, err)
			continue
		}
		if s.MinContributors != c.contributors || s.Committee != c.committee || s.MaxColluding != c.colluding || every != c.each || len(s.Parties()) != c.nodes {
			t.Errorf("%d nodes%s: %d contributors, committee %d, %d colluding, every %d", c.nodes, c.keys, s.MinContributors, s.Committee, s.MaxColluding, every)
		}
		for _, want := range []string{
			fmt.Sprintf("exact sums over at least %d of the %d nodes", c.contributors, c.nodes),
			fmt.Sprintf("only sums over %d other nodes", c.contributors-c.colluding),
			"the sum of their outputs in each of ", "Several sums can, since their contributors are known",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%d nodes%s: the text lacks %q:\n%s", c.nodes, c.keys, want, text)
			}
		}
	}
	if text, _, _, _ := parse("share: sum, min_contributors: 5, roster: [" + fbotest.Roster(t, 5) + "]"); !strings.Contains(text, "one absent node stops all sums") {
		t.Error(text)
	}
}

// TestErrorsOfRosters checks the errors of task files.
func TestErrorsOfRosters(t *testing.T) {
	for want, keys := range map[string]string{
		"missing key \"roster\"":                                           "share: sum",
		"roster must name 5 to 1024 nodes, not 4":                          "share: sum, roster: [" + fbotest.Roster(t, 4) + "]",
		"min_contributors 3 must be at least 3 more than max_colluding, 1": "share: sum, min_contributors: 3, roster: [" + fbotest.Roster(t, 5) + "]",
		"min_contributors 6 must be at most the 5 nodes":                   "share: sum, min_contributors: 6, roster: [" + fbotest.Roster(t, 5) + "]",
		"min_contributors 5 must be at least 3 more than max_colluding, 3": "share: sum, max_colluding: 3, roster: [" + fbotest.Roster(t, 5) + "]",
		"committee 6 must be at most the 5 nodes":                          "share: sum, committee: 6, roster: [" + fbotest.Roster(t, 5) + "]",
		"share_every 0 must be a whole number from 1 to 10000":             "share: sum, share_every: 0, roster: [" + fbotest.Roster(t, 5) + "]",
	} {
		if _, _, _, err := parse(keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", keys[:min(len(keys), 60)], err, want)
		}
	}
}
