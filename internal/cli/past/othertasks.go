package past

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/continuation"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Disclosures lists what this node has disclosed about a task's data under other
// tasks, as far as the data directory records it. Each task has its own privacy promise, and
// disclosures about the same data add up.
type Disclosures struct {
	Tasks []otherTaskDisclosure `json:"tasks"`

	// EpsilonTotal covers all known releases of other tasks and all planned releases of this
	// task, if it has a promise; 0 if one of the tasks has none.
	EpsilonTotal float64 `json:"epsilon_total,omitempty"`
	Delta        float64 `json:"delta,omitempty"`
	Adjacency    string  `json:"adjacency,omitempty"`

	planned int // releases of this task; 0 when it promises nothing
}

// otherTaskDisclosure is another task with the same data, or with the same parameters, so that
// it may have them.
type otherTaskDisclosure struct {
	Task        string  `json:"task"`
	Name        string  `json:"name"`
	DPGuarantee bool    `json:"dp_guarantee"`            // of the task; without one it has shared exact or coarse data
	Releases    int     `json:"releases,omitempty"`      // as far as is known
	Epsilon     float64 `json:"epsilon_spent,omitempty"` // by these
	Delta       float64 `json:"delta,omitempty"`
	Trials      int     `json:"trials"` // that this task has too, or is about to import

	DisclosesMore []string `json:"discloses_more,omitempty"` // what this task adds to coarse designs that the other one has shared

	spending ledger.Spending
}

// FindDisclosures reads a data directory, before a node runs on it or while one does; imports adds
// to the task's own trials. It returns nil when nothing is known. It skips unreadable data: a run
// reports that itself.
func FindDisclosures(ctx context.Context, dir string, t *task.Task, imports []agent.Past) *Disclosures {
	if !base.RegistrationOf(t).Shares() {
		return nil // it has no information
	}
	return DisclosuresOf(t, taskHistories(ctx, dir), imports)
}

// DisclosuresOf returns what these tasks have disclosed; nil where that is nothing.
func DisclosuresOf(t *task.Task, pasts []History, imports []agent.Past) *Disclosures {
	own := slices.Clone(imports)
	for _, p := range pasts {
		if p.Task.ID() == t.ID() {
			own = append(own, doneOf(p.Trials)...)
		}
		if c, err := task.Continue(p.Task, t); err == nil { // before the first start they are no trials of t yet
			carried, _ := continuation.Trials(c, t, p.Trials)
			own = append(own, carried...)
		}
	}
	var found Disclosures
	if t.Privacy != nil {
		found.planned = t.Privacy.Releases
	}
	for _, p := range pasts {
		if disclosed, ok := disclosureOf(p, t, own); ok {
			found.Tasks = append(found.Tasks, disclosed)
		}
	}
	if found.Tasks == nil {
		return nil
	}
	found.sum(t)
	return &found
}

// taskHistories returns all tasks of a data directory that can be read: of a running node those
// that it works on.
func taskHistories(ctx context.Context, dir string) (pasts []History) {
	if tasks, ok, err := control.Tasks(ctx, dir); err != nil || ok {
		for _, t := range tasks {
			if p, err := readServed(ctx, dir, tasks, t.ID); err == nil {
				pasts = append(pasts, p)
			}
		}
		return pasts
	}
	_ = EachInJournal(dir, func(_ string, h History, err error) error {
		if err == nil {
			pasts = append(pasts, h)
		}
		return nil
	})
	return pasts
}

func doneOf(trials []strategy.Trial) (done []agent.Past) {
	for _, trial := range trials {
		if trial.Outcome != nil {
			done = append(done, agent.Past{Design: trial.Design, Outcome: *trial.Outcome})
		}
	}
	return done
}

// disclosureOf returns what a past task disclosed about the data of t. It reports false if the
// task disclosed nothing, or only other data: its parameters differ and it shares no trial with
// own. Disclosures of tasks without a promise count only if t has a promise.
func disclosureOf(p History, t *task.Task, own []agent.Past) (otherTaskDisclosure, bool) {
	disclosed := otherTaskDisclosure{Task: p.Task.ID().String(), Name: p.Task.Name, DPGuarantee: p.Task.Privacy != nil}
	if p.Task.ID() == t.ID() {
		return disclosed, false
	}
	done := doneOf(p.Trials)
	disclosed.Trials = inCommon(p.Task.Space, done, t.Space, own)
	if base.RegistrationOf(p.Task).Disclosure(p.Task).Coarse && base.RegistrationOf(t).Disclosure(t).Coarse {
		if len(done) > 0 && (disclosed.Trials > 0 || slices.Equal(names(p.Task.Space), names(t.Space)) || slices.Equal(shapes(p.Task.Space), shapes(t.Space))) {
			disclosed.DisclosesMore = coarsen.DisclosesMore(p.Task.Space, t.Space)
		}
		return disclosed, len(disclosed.DisclosesMore) > 0
	}
	if disclosed.Trials == 0 && !slices.Equal(names(p.Task.Space), names(t.Space)) {
		return disclosed, false
	}
	if !disclosed.DPGuarantee {
		return disclosed, t.Privacy != nil && base.RegistrationOf(p.Task).Shares() && len(done) > 0
	}
	terms, err := ledger.NewTerms(p.Task)
	spent, ok := strategy.StatusValue[ledger.State](p.Items, strategy.PrivacyKey)
	if err != nil || !ok {
		return disclosed, false
	}
	disclosed.Releases, disclosed.Delta = spent.Released, terms.Delta
	disclosed.spending = ledger.Spending{Terms: terms, Releases: disclosed.Releases}
	disclosed.Epsilon, err = terms.Spent(disclosed.Releases)
	return disclosed, err == nil && disclosed.Releases > 0
}

func names(space *task.Space) (sorted []string) {
	for _, p := range space.Parameters() {
		sorted = append(sorted, p.Name)
	}
	slices.Sort(sorted)
	return sorted
}

// shapes lists the parameters of a space without their names.
func shapes(space *task.Space) (sorted []string) {
	for _, p := range space.Parameters() {
		p.Name = ""
		sorted = append(sorted, fmt.Sprint(p))
	}
	slices.Sort(sorted)
	return sorted
}

// inCommon counts the trials of one task that the other has too: with the same value, at
// designs that agree on all parameters that both tasks have. Others may have been
// renamed, added or left out in between.
func inCommon(space *task.Space, trials []agent.Past, other *task.Space, others []agent.Past) (count int) {
	both := names(space)
	theirs := names(other)
	both = slices.DeleteFunc(both, func(name string) bool { return !slices.Contains(theirs, name) })
	text := func(trial agent.Past) string {
		parts := []string{render.Exact(trial.Outcome.Value)}
		for _, name := range both {
			parts = append(parts, fmt.Sprintf("%q", trial.Design.Value(name).String()))
		}
		return strings.Join(parts, " ")
	}
	known := map[string]bool{}
	for _, trial := range others {
		known[text(trial)] = true
	}
	for _, trial := range trials {
		if known[text(trial)] {
			count++
		}
	}
	return count
}

// sum fills in the composition of all promises.
func (e *Disclosures) sum(t *task.Task) {
	if t.Privacy == nil {
		return
	}
	terms, err := ledger.NewTerms(t)
	if err != nil {
		return // base.ReadTask has refused it
	}
	parts := []ledger.Spending{{Terms: terms, Releases: terms.Releases}}
	for _, disclosed := range e.Tasks {
		if !disclosed.DPGuarantee {
			return
		}
		parts = append(parts, disclosed.spending)
	}
	epsilon, adjacency, err := ledger.Together(terms.Delta, parts...)
	if err == nil {
		e.EpsilonTotal, e.Delta, e.Adjacency = epsilon, terms.Delta, adjacency
	}
}

// Lines returns the warnings.
func (e *Disclosures) Lines() (lines []string) {
	for i, disclosed := range e.Tasks {
		if i == sanitize.MaxListed {
			lines = append(lines, fmt.Sprintf("so have %s more; `fbo-node task check --json` lists all", sanitize.Count(len(e.Tasks)-i, "task")))
			break
		}
		lines = append(lines, disclosed.text(e.planned > 0))
	}
	if e.EpsilonTotal > 0 {
		lines = append(lines, fmt.Sprintf("disclosures of the same data add up: with all %s that this task plans to (ε = %.3g, δ = %g), adjacency %s",
			sanitize.Count(e.planned, "release"), e.EpsilonTotal, e.Delta, e.Adjacency))
	}
	return lines
}

// Write prints the warnings; of nil, nothing.
func (e *Disclosures) Write(out io.Writer) {
	if e == nil {
		return
	}
	for _, line := range e.Lines() {
		fmt.Fprintf(out, "warning: %s\n", line)
	}
}

func (o otherTaskDisclosure) text(promised bool) string {
	data := "data with the same parameters, perhaps the same data"
	if o.Trials > 0 {
		data = fmt.Sprintf("the same data (of its trials %d are this task's too)", o.Trials)
	}
	where := fmt.Sprintf("task %q (%s) in this data directory", o.Name, o.Task)
	if o.DisclosesMore != nil {
		return fmt.Sprintf("%s has shared coarse designs of %s: %s (docs/changing-a-task.md)", where, data, strings.Join(o.DisclosesMore, "; "))
	}
	if !o.DPGuarantee {
		return fmt.Sprintf("%s has shared information about %s without a privacy guarantee; the guarantee of this task does not cover that", where, data)
	}
	text := fmt.Sprintf("%s has spent %s, (ε = %.3g, δ = %g), on %s", where, sanitize.Count(o.Releases, "release"), o.Epsilon, o.Delta, data)
	if !promised {
		text += ": that guarantee does not cover the shares of this task, which have none"
	}
	return text
}
