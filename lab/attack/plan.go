package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	exactsum "github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// MaxObservations is the largest number of observations in a plan.
const MaxObservations = 200

// Plan defines which tasks and shares are attacked.
type Plan struct {
	Task         *task.Task // with a strategy of package strategy/all; with a roster only if its nodes share sums
	Observations []int      // numbers of observations of the node at the time of the attack, each 3 to MaxObservations
	Repeats      int        // number of federations, at least 1
	Seed         uint64
	Noises       []float64 // standard deviations of an evaluation's noise; that of the objective is about 1

	// Filter selects the attacks whose names contain this text; empty means all.
	Filter string

	// Done, if not nil, is called after the attacks on each federation.
	Done func(noise float64, repeat int)
}

// Line is the result of one attack in one setting, averaged over federations.
type Line struct {
	Noise        float64  `json:"noise"`
	Observations int      `json:"observations"`
	Attack       string   `json:"attack"`
	Bound        bool     `json:"bound"` // whether the line is the bound and not an attack
	Found        Score    `json:"found"`
	Baseline     Score    `json:"baseline"`
	Notes        []string `json:"notes,omitempty"`
}

// Report holds the results of all attacks.
type Report struct {
	Task    string   `json:"task"`
	Repeats int      `json:"repeats"`
	Seed    uint64   `json:"seed"`
	Nodes   int      `json:"nodes"` // number of nodes in each federation
	Kinds   []string `json:"kinds"` // kinds of the received shares; empty if nothing is shared
	Lines   []Line   `json:"lines"`
}

// Check returns an error that describes what is wrong with a plan.
func (p Plan) Check() error {
	if p.Task == nil {
		return errors.New("Plan.Task is missing")
	}
	registration, err := all.Strategies().Of(p.Task)
	if err != nil {
		return err
	}
	settings, summing := p.Task.Strategy.Settings.(ftsde.Settings)
	switch {
	case registration.Roster:
		return fmt.Errorf("task %q has a roster (strategy %s), whose parties send each other everything; expected strategies without one, and fts-de", p.Task.Name, p.Task.Strategy.Type)
	case p.Task.Several() && p.Task.Strategy.Type == "fts":
		return fmt.Errorf("task %q has %d objectives, and no attack here reads samples of scalarisations; expected share coarse or density", p.Task.Name, len(p.Task.Objectives))
	case p.Task.Surrogate.Extended():
		return fmt.Errorf("task %q has %s in the section surrogate, and no attack here reads the shares of that; expected a surrogate without", p.Task.Name, p.Task.Surrogate.Extension)
	case p.Task.Stop.Shares():
		return fmt.Errorf("task %q shares %s of learning curves, and no attack here reads these; expected no key share in the section stop", p.Task.Name, p.Task.Stop.Share)
	case summing && settings.Cells > 1:
		return fmt.Errorf("task %q has %d cells, expected 1", p.Task.Name, settings.Cells)
	}
	if p.Task.Space.Listing().Absent() {
		return fmt.Errorf("task %q was read without its table of designs", p.Task.Name)
	}
	if p.Repeats < 1 {
		return fmt.Errorf("%d repeats, expected 1 or more", p.Repeats)
	}
	if len(p.Observations) == 0 || len(p.Noises) == 0 {
		return errors.New("no number of observations or no noise")
	}
	least := 3
	if _, ok := exactsum.SettingsOf(p.Task); ok {
		least = max(least, strategy.ChoiceOf(p.Task).ShareEvery, p.Task.Strategy.InitialDesigns) // a sum needs as many
	}
	for _, n := range p.Observations {
		if n < least || n > MaxObservations {
			return fmt.Errorf("%d observations, expected %d to %d", n, least, MaxObservations)
		}
	}
	for _, noise := range p.Noises {
		if !(noise >= 0) || math.IsInf(noise, 1) {
			return fmt.Errorf("noise %g, expected 0 or more", noise)
		}
	}
	var names []string
	for _, a := range Attacks() {
		names = append(names, a.Name)
	}
	names = append(names, boundName)
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, p.Filter) }) {
		return fmt.Errorf("no attack has %q in its name; there are: %s", p.Filter, strings.Join(names, "; "))
	}
	return nil
}

// entry holds the scores of one attack over all federations of a setting.
type entry struct {
	line             Line
	found, baselines []Score
}

// Run simulates the federations and attacks them. The report depends only on the plan.
func (p Plan) Run(ctx context.Context) (Report, error) {
	if err := p.Check(); err != nil {
		return Report{}, err
	}
	r := Report{Task: p.Task.Name, Repeats: p.Repeats, Seed: p.Seed, Nodes: members, Kinds: []string{}, Lines: []Line{}}
	if s, ok := exactsum.SettingsOf(p.Task); ok {
		r.Nodes = s.MinContributors
	}
	for _, noise := range p.Noises {
		var entries []*entry
		for repeat := range p.Repeats {
			seed := random.SeedOf(p.Seed).Derive("federation", uint64(repeat))
			kinds, err := p.attack(ctx, noise, seed, &entries)
			if err != nil {
				return Report{}, err
			}
			for _, kind := range kinds {
				if !slices.Contains(r.Kinds, kind) {
					r.Kinds = append(r.Kinds, kind)
				}
			}
			if p.Done != nil {
				p.Done(noise, repeat)
			}
		}
		slices.SortStableFunc(entries, func(a, b *entry) int { return a.line.Observations - b.line.Observations })
		for _, e := range entries {
			e.line.Found, e.line.Baseline = average(e.found), average(e.baselines)
			r.Lines = append(r.Lines, e.line)
		}
	}
	return r, nil
}

// attack simulates one federation in all applicable scenes, and adds the scores to entries.
func (p Plan) attack(ctx context.Context, noise float64, seed random.Seed, entries *[]*entry) (kinds []string, err error) {
	first, err := play(ctx, p.Task, Listen, p.Observations, noise, seed)
	if err != nil {
		return nil, err
	}
	for _, share := range first.seen.Disclosures[0].Shares {
		if !slices.Contains(kinds, share.Kind) {
			kinds = append(kinds, share.Kind)
		}
	}
	scenes := map[Scene]*played{Listen: first}
	for _, a := range Attacks() {
		if !strings.Contains(a.Name, p.Filter) || !slices.ContainsFunc(a.Kinds, func(kind string) bool { return slices.Contains(kinds, kind) }) {
			continue
		}
		if a.Several != p.Task.Several() {
			continue
		}
		if a.Applies != nil && !a.Applies(p.Task) {
			continue
		}
		scene := scenes[a.Scene]
		if scene == nil {
			if scene, err = play(ctx, p.Task, a.Scene, p.Observations, noise, seed); err != nil {
				return nil, err
			}
			scenes[a.Scene] = scene
		}
		for _, n := range p.Observations {
			if a.Most > 0 && n > a.Most {
				continue
			}
			rng := seed.Stream(a.Name, uint64(n))
			seen, truth := scene.seen.until(n), scene.truths[n]
			guess, err := a.Guess(ctx, seen, rng)
			if err != nil {
				return nil, err
			}
			if len(guess.X) == 0 {
				continue
			}
			guess.complete(p.Task, truth, rng.Uint64())
			entryOf(entries, noise, n, a.Name, false).add(score(truth, guess), baseline(p.Task, truth, seed.Stream("baseline", uint64(n))), guess.Note)
		}
	}
	for _, n := range p.Observations {
		if !strings.Contains(boundName, p.Filter) {
			break
		}
		truth := first.truths[n]
		s, ok, err := bound(ctx, first.seen.until(n), truth)
		if err != nil {
			return nil, err
		}
		if ok {
			entryOf(entries, noise, n, boundName, true).add(s, baseline(p.Task, truth, seed.Stream("baseline", uint64(n))), "")
		}
	}
	return kinds, nil
}

const boundName = "deviations that are left, at the truth"

func entryOf(entries *[]*entry, noise float64, n int, name string, bound bool) *entry {
	for _, e := range *entries {
		if e.line.Observations == n && e.line.Attack == name {
			return e
		}
	}
	e := &entry{line: Line{Noise: noise, Observations: n, Attack: name, Bound: bound}}
	*entries = append(*entries, e)
	return e
}

func (e *entry) add(found, baseline Score, note string) {
	e.found, e.baselines = append(e.found, found), append(e.baselines, baseline)
	if note != "" && !slices.Contains(e.line.Notes, note) {
		e.line.Notes = append(e.line.Notes, note)
	}
}

// complete adds guesses until there are as many as inputs, around the best guess or anywhere. If
// the attack has no best design and no values, the best is the estimated optimum, as for the
// baseline. Missing values become the mean of the guessed ones.
func (g *Guess) complete(t *task.Task, truth Truth, seed uint64) {
	n := len(truth.X)
	g.own = min(len(g.X), n)
	if g.Best == nil && g.Y == nil {
		g.Best = truth.EstimatedOptimum
	}
	around := g.best()
	for _, x := range g.X {
		t.Space.Snap(x)
	}
	if left := n - len(g.X); left > 0 {
		g.X = append(g.X, spreadOut(t, around, left, 0.5, 0.1, random.SeedOf(seed).Stream("completed", 0))...)
	}
	g.X = g.X[:n]
	if g.Y == nil {
		return
	}
	level := mean(g.Y)
	for len(g.Y) < n {
		g.Y = append(g.Y, level)
	}
	g.Y = g.Y[:n]
}

// Text describes a line in a sentence.
func (l Line) Text() string {
	f := l.Found
	if l.Bound {
		return fmt.Sprintf("%s: %s of %s inputs to %g (median deviation %.2g), values to %.2g of their range (%s within %g %%)",
			l.Attack, count(f.Found), count(f.Inputs), Near, f.Distance, f.ValueError, count(f.Values), 100*Close)
	}
	return fmt.Sprintf("%s: %s", l.Attack, f.text(f.HasValues)) + l.noted()
}

// Known describes the score of the baseline: an attacker that knows only the node's estimated
// optimum, its number of observations and how starting designs are drawn.
func (l Line) Known() string { return l.Baseline.text(true) }

func (l Line) noted() string {
	if len(l.Notes) == 0 {
		return ""
	}
	return " (" + strings.Join(l.Notes, "; in other federations ") + ")"
}

func (s Score) text(values bool) string {
	text := fmt.Sprintf("%s of %s inputs within %g (median distance %.2g)", count(s.Found), count(s.Inputs), Near, s.Distance)
	if values {
		text += fmt.Sprintf(", values to %.2g of their range (%s within %g %%)", s.ValueError, count(s.Values), 100*Close)
	} else {
		text += ", no values"
	}
	if s.Front > 0 {
		return text + fmt.Sprintf(", %s of %s designs of the front within %g (median distance %.2g)", count(s.FrontFound), count(s.Front), Near, s.FrontDistance)
	}
	return text + fmt.Sprintf(", the best input to %.2g", s.BestInput)
}

// count formats a number of inputs, which is an average over federations.
func count(v float64) string {
	return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64)
}
