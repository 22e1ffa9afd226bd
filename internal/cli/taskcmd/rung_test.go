package taskcmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// lineOf returns the line about sharing that `task check` prints for a task file with these
// sections.
func lineOf(t *testing.T, sections string) string {
	t.Helper()
	parsed, err := all.Strategies().Parse("task.yaml", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+sections))
	if err != nil {
		t.Fatalf("%s: %v", sections, err)
	}
	var out bytes.Buffer
	describeSharing(&out, parsed)
	return out.String()
}

// The rung of a task is that of the largest disclosure among its strategy and its extensions.
func TestRungsOfTasks(t *testing.T) {
	parties, err := sim.Roster(random.SeedOf(1), 6)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range parties {
		ids = append(ids, p.String())
	}
	roster := "roster: [" + strings.Join(ids, ", ") + "]"
	const constrained = "constraints: [{name: c, high: 1}]\n"
	for sections, want := range map[string]strategy.Rung{
		"": strategy.RungCoarse,
		"strategy: {type: peer-prior, share: exact}\n":                                                       strategy.RungExact,
		"strategy: {type: peer-prior, share: results}\n":                                                     strategy.RungResults,
		"strategy: {type: peer-prior, share: sum, " + roster + "}\n":                                         strategy.RungSum,
		"strategy: {type: density}\n":                                                                        strategy.RungDesign,
		"strategy: {type: density, share: coarse}\n":                                                         strategy.RungCoarse,
		"strategy: {type: density, share_every: 5}\nprivacy: {mechanism: local, epsilon: 16, releases: 1}\n": strategy.RungDP,
		constrained: strategy.RungDesign,
		constrained + "strategy: {type: constrained-gp, share: feasibility}\n":                      strategy.RungDesign,
		constrained + "strategy: {type: density, share: feasibility}\n":                             strategy.RungDesign,
		"strategy: {type: constrained-gp, threshold: private}\n":                                    strategy.RungDesign,
		"strategy: {type: constrained-gp, share: coarse}\n":                                         strategy.RungCoarse,
		"strategy: {type: constrained-gp}\nprivacy: {mechanism: local, epsilon: 16, releases: 1}\n": strategy.RungDP,
		"strategy: {type: fts}\n": strategy.RungExact,
		"strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4, clip: 8, releases: 10}\n":                        strategy.RungDP,
		"strategy: {type: fts-de}\nprivacy: {mechanism: aggregate, epsilon: 4, clip: 4, releases: 10, " + roster + "}\n": strategy.RungDP,
		"strategy: {type: consensus}\n":                                                                    strategy.RungDesign,
		"strategy: {type: fair, " + roster + "}\n":                                                         strategy.RungResults,
		"strategy: {type: alone}\n":                                                                        strategy.RungAlone,
		"strategy: {type: ts}\n":                                                                           strategy.RungAlone,
		"strategy: {type: alone}\nsurrogate: {type: shared-latent}\n":                                      strategy.RungExact,
		"surrogate: {hyperparameters: shared}\n":                                                           strategy.RungExact,
		"strategy: {type: peer-prior, share: results}\nsurrogate: {hyperparameters: shared}\n":             strategy.RungResults,
		"strategy: {type: peer-prior, share: sum, " + roster + "}\nsurrogate: {hyperparameters: shared}\n": strategy.RungExact,
		"strategy: {type: alone}\nstop: {type: asha, share: quartiles}\n":                                  strategy.RungExact,
	} {
		if line := lineOf(t, sections); !strings.HasPrefix(line, fmt.Sprintf("sharing     %s: %s; ", want, want.Content())) || strings.Count(line, "\n") != 1 {
			t.Errorf("%s: expected %s, got %s", sections, want, line)
		}
	}
}

// Every disclosure of every strategy has a rung, as has every exchange that a task can add.
func TestEveryDisclosureHasARung(t *testing.T) {
	set := all.Strategies()
	if err := set.Check(); err != nil {
		t.Error(err)
	}
	for _, r := range set {
		for _, d := range r.Disclosures {
			if d.Rung == strategy.RungAlone || d.Coarse != (d.Rung == strategy.RungCoarse) || (d.Release != nil) != (d.Rung == strategy.RungDP) {
				t.Errorf("%s, share %q: rung %s with Coarse %t and a release %t", r.Name, d.Share, d.Rung, d.Coarse, d.Release != nil)
			}
		}
	}
	additions := all.Exchanges()
	for _, e := range all.Extensions() {
		additions = append(additions, e.ExchangeAddition)
	}
	for _, a := range additions {
		if a.Rung.Content() == "" || a.Rung == strategy.RungAlone {
			t.Errorf("exchange %s: rung %q", a.Kind, a.Rung)
		}
	}
}

// The page has a row for each rung, in the order that `task check` prints.
func TestPageHasTheRungsOfTaskCheck(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sharing.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := lineOf(t, "")
	_, printed, _ := strings.Cut(line, "least disclosed: ")
	printed, _, found := strings.Cut(printed, " (docs/sharing.md)")
	if !found {
		t.Fatalf("no list of rungs in %s", line)
	}
	want := strings.Split(printed, ", ")
	_, table, found := strings.Cut(string(page), "\n| rung | ")
	if !found {
		t.Fatal("docs/sharing.md has no table that begins with the column rung")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\*`).FindAllStringSubmatch(table, -1) {
		rows = append(rows, row[1])
	}
	if !slices.Equal(rows, want) {
		t.Errorf("docs/sharing.md has the rungs %q, expected those of task check: %q", rows, want)
	}
}
