package task

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

const (
	objectivesKey = "objectives"
	minObjectives = 2
	maxObjectives = 4
)

// MaxReference is the largest absolute value of Objective.Reference.
const MaxReference = 1e100

// ObjectiveGoal is one objective of a task with several objectives.
type ObjectiveGoal struct {
	Name string // [A-Za-z][A-Za-z0-9_]*, at most 64 characters
	Goal Goal
	// Reference is the worst value of interest, in the objective's own units: outcomes that are no better
	// add nothing to the hypervolume. It is nil if nodes learn it from their outcomes.
	Reference *float64
}

// Several reports whether the task has several objectives. Better then means better in the first
// objective, and the result of a task is a Pareto front.
func (t *Task) Several() bool { return len(t.Objectives) > 0 }

// ObjectiveOutputs returns the outputs that are objectives. The first is Objective, the value of an
// outcome. The others are named, and measured as metrics of an outcome.
func (t *Task) ObjectiveOutputs() []Output {
	outputs := []Output{Objective}
	for i, o := range t.Objectives {
		if i > 0 {
			outputs = append(outputs, Output(o.Name))
		}
	}
	return outputs
}

// IsObjective reports whether an output is an objective of the task.
func (t *Task) IsObjective(output Output) bool {
	return slices.Contains(t.ObjectiveOutputs(), output)
}

// Sign returns 1 or -1, the factor by which values of an output are multiplied so that larger is
// better. It is 1 for outputs that are no objectives.
func (t *Task) Sign(output Output) float64 {
	if output == Objective {
		return t.Goal.Sign()
	}
	for _, o := range t.Objectives {
		if Output(o.Name) == output {
			return o.Goal.Sign()
		}
	}
	return 1
}

// Scores returns the values of all objectives with the factors of Sign, so that larger is better. ok
// is false if one is not measured.
func (t *Task) Scores(m Measurement) (scores []float64, ok bool) {
	for _, output := range t.ObjectiveOutputs() {
		value, measured := m.Measured(output)
		if !measured {
			return nil, false
		}
		scores = append(scores, t.Sign(output)*value)
	}
	return scores, true
}

// References returns the reference of each objective with the factor of Sign, NaN where it is to be
// learned.
func (t *Task) References() []float64 {
	all := make([]float64, len(t.Objectives))
	for i, o := range t.Objectives {
		all[i] = math.NaN()
		if o.Reference != nil {
			all[i] = o.Goal.Sign() * *o.Reference
		}
	}
	return all
}

// CheckObjectives returns an error if the metrics of an outcome lack an objective of a task with
// several.
func (t *Task) CheckObjectives(metrics map[string]float64) error {
	var missing []string
	for i, o := range t.Objectives {
		value, ok := metrics[o.Name]
		switch {
		case i == 0:
		case !ok:
			missing = append(missing, quote(o.Name))
		case math.IsNaN(value) || math.IsInf(value, 0):
			return fmt.Errorf("objective %s is %g, not a finite number", quote(o.Name), value)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the task's objective %s is missing in the outcome; expected a metric of this name", missing[0])
	}
	return fmt.Errorf("the task's objectives %s are missing in the outcome; expected metrics of these names", sanitize.List(missing))
}

// objectives reads the key goal or the list of objectives. The first objective is the value of an
// outcome, so the order has a meaning.
func (m *Section) objectives(t *Task) {
	m.Accept("goal", objectivesKey)
	if _, ok := m.get(objectivesKey); !ok {
		t.Goal = Goal(m.Word("goal", "", string(Minimize), string(Maximize)))
		return
	}
	t.Goal = Minimize // until an objective is read
	m.Refuse("goal", "one objective, without the key "+objectivesKey)
	items, ok := m.list(objectivesKey)
	if !ok {
		return
	}
	if n := len(items); n < minObjectives || n > maxObjectives {
		m.Errorf(objectivesKey, "objectives must be %d to %d, not %d; for one objective expected goal: %s or goal: %s", minObjectives, maxObjectives, n, Minimize, Maximize)
		return
	}
	taken := map[string]bool{}
	for i, item := range items {
		if part := m.d.mapping(item, fmt.Sprintf("objective %d", i+1)); part != nil {
			t.Objectives = append(t.Objectives, part.objective(taken))
		}
	}
	if len(t.Objectives) == len(items) {
		t.Goal = t.Objectives[0].Goal
	}
}

func (m *Section) objective(taken map[string]bool) (o ObjectiveGoal) {
	if name, ok := m.text("name"); ok {
		m.what, o.Name = "objective "+quote(name), name
		if message := checkParameterName(name); message != "" {
			m.Errorf("name", "%s", message)
		}
		if taken[name] {
			m.Errorf("name", "the name is repeated")
		}
		taken[name] = true
	}
	o.Goal = Goal(m.Word("goal", "", string(Minimize), string(Maximize)))
	if _, ok := m.get("reference"); ok {
		o.Reference = new(m.Within("reference", 0, -MaxReference, MaxReference))
	}
	m.finish()
	return o
}

// checkObjectives reports what does not go with several objectives.
func (m *Section) checkObjectives(t *Task) {
	if !t.Several() {
		return
	}
	for _, c := range t.Constraints {
		if slices.ContainsFunc(t.Objectives, func(o ObjectiveGoal) bool { return o.Name == string(c.Output) }) {
			m.Errorf("constraints", "constraint %s is an objective too; expected its limit as reference of the objective", quote(string(c.Output)))
		}
	}
	s := t.Surrogate
	if s.Type == rff || s.Fixed != nil || s.Extended() {
		m.Errorf(objectivesKey, "several objectives need surrogate type %s with learned hyperparameters: each objective has its own model", exact)
	}
	if t.Privacy != nil {
		m.Errorf(objectivesKey, "several objectives do not go with the section privacy: its noise is for the share of one objective")
	}
	if t.Stop != nil {
		m.Errorf(objectivesKey, "several objectives do not go with the section stop: its rules compare the values of one objective by step")
	}
}

// takingObjectives returns the names of the types that support several objectives.
func (d *decoder) takingObjectives() string {
	var names []string
	for _, s := range d.strategies {
		if s.Objectives {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

func canonicalObjectives(all []ObjectiveGoal) []map[string]any {
	forms := make([]map[string]any, len(all))
	for i, o := range all {
		forms[i] = map[string]any{"name": o.Name, "goal": o.Goal}
		if o.Reference != nil {
			forms[i]["reference"] = *o.Reference
		}
	}
	return forms
}

// putGoal adds the goal or the objectives to the form of a task.
func putGoal(form map[string]any, goal Goal, objectives []ObjectiveGoal) {
	if len(objectives) == 0 {
		form["goal"] = goal
		return
	}
	form[objectivesKey] = canonicalObjectives(objectives)
}
