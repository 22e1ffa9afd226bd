package vizierapi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Short names of messages.
type (
	parameterSpec = vizierpb.StudySpec_ParameterSpec
	metricSpec    = vizierpb.StudySpec_MetricSpec
)

// problem is the specification of a study as a task, with the names of both.
type problem struct {
	task       *task.Task
	parameters []parameter // in the order of the task's
	metrics    []metric    // objectives in the task's order, and safety metrics
}

type parameter struct {
	id      string // Vizier's name
	name    string // the task's name
	boolean bool   // clients convert its texts to truth values
}

type metric struct {
	id     string
	name   string // of the constraint, or of one of several objectives
	safety bool   // it is a constraint
}

// anyAlgorithm has the names that leave the choice to the service.
var anyAlgorithm = []string{"", "ALGORITHM_UNSPECIFIED", "DEFAULT"}

// algorithmPrefix stands before the type of a strategy.
const algorithmPrefix = "fbo:"

// pythiaKey is the metadata key by which clients choose another server for suggestions.
const pythiaKey = "PYTHIA_ENDPOINT"

// newProblem returns the task of a study. Studies with the same name and specification have the same task,
// on any node and for any owner.
func newProblem(study *vizierpb.Study, strategies strategy.Set) (*problem, error) {
	spec := study.GetStudySpec()
	p := &problem{}
	form := task.Spec{Name: study.GetDisplayName()}
	if err := p.addMetrics(spec.GetMetrics(), &form); err != nil {
		return nil, err
	}
	for _, one := range spec.GetParameters() {
		if err := p.addParameter(one, nil, &form); err != nil {
			return nil, err
		}
	}
	switch name := spec.GetAlgorithm(); {
	case slices.Contains(anyAlgorithm, name):
	case strings.HasPrefix(name, algorithmPrefix):
		form.Strategy.Type = strings.TrimPrefix(name, algorithmPrefix)
	default:
		return nil, invalid("algorithm %.100q: expected DEFAULT, or fbo: and the type of a strategy, such as fbo:density", name)
	}
	for _, kv := range spec.GetMetadata() {
		if kv.GetKey() == pythiaKey {
			return nil, unsupported("pythia_endpoint: this service chooses designs itself; expected none")
		}
	}
	if spec.GetDefaultStoppingSpec() != nil {
		form.Stop = &task.Stopping{Type: task.ForecastRule, GracePeriod: 1, StartupTrials: 5} // the defaults of a task file
	}
	var err error
	if form.About.Default, err = p.defaults(spec.GetParameters(), form.Parameters); err == nil {
		p.task, err = strategies.NewTask(form)
	}
	if given := (*connect.Error)(nil); err != nil && !errors.As(err, &given) {
		err = invalid("study_spec: %s", strings.ReplaceAll(strings.ReplaceAll(err.Error(), "task: ", ""), "\n", "; "))
	}
	return p, err
}

func (p *problem) addMetrics(given []*metricSpec, form *task.Spec) error {
	var goals []task.Goal
	for _, one := range given {
		m := metric{id: one.GetMetricId(), name: nameOf(one.GetMetricId()), safety: one.SafetyConfig != nil}
		if m.id == "" || slices.ContainsFunc(p.metrics, func(other metric) bool { return other.id == m.id || other.name == m.name }) {
			return invalid("metric %.100q: expected a name that differs from the others in letters or digits", m.id)
		}
		p.metrics = append(p.metrics, m)
		goal := task.Maximize
		switch one.GetGoal() {
		case vizierpb.StudySpec_MetricSpec_MAXIMIZE:
		case vizierpb.StudySpec_MetricSpec_MINIMIZE:
			goal = task.Minimize
		default:
			return invalid("metric %.100q: goal %v: expected MAXIMIZE or MINIMIZE", m.id, one.GetGoal())
		}
		if !m.safety {
			goals = append(goals, goal)
			continue
		}
		if one.SafetyConfig.DesiredMinSafeTrialsFraction != nil {
			return unsupported("metric %.100q: desired_min_safe_trials_fraction: designs that violate a safety threshold are learned by evaluating some; expected none", m.id)
		}
		c := task.Constraint{Output: task.Output(m.name), Low: math.Inf(-1), High: math.Inf(1)}
		if goal == task.Maximize {
			c.Low = one.SafetyConfig.GetSafetyThreshold()
		} else {
			c.High = one.SafetyConfig.GetSafetyThreshold()
		}
		form.Constraints = append(form.Constraints, c)
	}
	if len(goals) == 0 {
		return invalid("metrics: expected one or more that are no safety metrics")
	}
	form.Goal = goals[0]
	if len(goals) > 1 {
		for i, m := range p.objectives() {
			form.Objectives = append(form.Objectives, task.ObjectiveGoal{Name: m.name, Goal: goals[i]})
		}
	}
	return nil
}

// objectives returns the metrics that are no constraints.
func (p *problem) objectives() (all []metric) {
	for _, m := range p.metrics {
		if !m.safety {
			all = append(all, m)
		}
	}
	return all
}

// addParameter adds a parameter and its children.
func (p *problem) addParameter(spec *parameterSpec, when []task.Condition, form *task.Spec) error {
	id := spec.GetParameterId()
	one := task.Parameter{Name: nameOf(id), When: when}
	if slices.ContainsFunc(p.parameters, func(other parameter) bool { return strings.EqualFold(other.name, one.Name) }) {
		return invalid("parameter %.100q: another one has this name or one that differs in case or punctuation only; expected one definition of each", id)
	}
	switch spec.GetScaleType() {
	case vizierpb.StudySpec_ParameterSpec_UNIT_LOG_SCALE:
		one.Scale = task.Log
	case vizierpb.StudySpec_ParameterSpec_UNIT_REVERSE_LOG_SCALE:
		return unsupported("parameter %.100q: scale REVERSE_LOG: expected LINEAR or LOG; tune the distance from the maximum on scale LOG in its place", id)
	}
	bounded := func(low, high float64, kind task.Kind, fixed task.Value) {
		one.Kind, one.Low, one.High = kind, low, high
		if low == high {
			one = task.Parameter{Name: one.Name, Kind: kind, Fixed: fixed, When: when}
		}
	}
	switch v := spec.GetParameterValueSpec().(type) {
	case *vizierpb.StudySpec_ParameterSpec_DoubleValueSpec_:
		low := v.DoubleValueSpec.GetMinValue()
		bounded(low, v.DoubleValueSpec.GetMaxValue(), task.Float, task.FloatValue(low))
	case *vizierpb.StudySpec_ParameterSpec_IntegerValueSpec_:
		low := v.IntegerValueSpec.GetMinValue()
		bounded(float64(low), float64(v.IntegerValueSpec.GetMaxValue()), task.Int, task.IntValue(low))
	case *vizierpb.StudySpec_ParameterSpec_DiscreteValueSpec_:
		one.Kind, one.Numbers, one.Scale = task.Float, slices.Sorted(slices.Values(v.DiscreteValueSpec.GetValues())), ""
		if !slices.ContainsFunc(one.Numbers, func(x float64) bool { return x != math.Trunc(x) }) {
			one.Kind = task.Int
		}
	case *vizierpb.StudySpec_ParameterSpec_CategoricalValueSpec_:
		one.Kind, one.Choices, one.Scale = task.Categorical, v.CategoricalValueSpec.GetValues(), ""
	default:
		return invalid("parameter %.100q has no type; expected double, integer, discrete or categorical values", id)
	}
	p.parameters = append(p.parameters, parameter{id, one.Name, spec.GetExternalType() == vizierpb.StudySpec_ParameterSpec_AS_BOOLEAN})
	form.Parameters = append(form.Parameters, one)
	for _, child := range spec.GetConditionalParameterSpecs() {
		values := conditionOf(child, one.Kind)
		if len(values) == 0 {
			return invalid("parameter %.100q: expected values of its parent %.100q, of the parent's type", child.GetParameterSpec().GetParameterId(), id)
		}
		if err := p.addParameter(child.GetParameterSpec(), []task.Condition{task.Equals(one.Name, values...)}, form); err != nil {
			return err
		}
	}
	return nil
}

// conditionOf returns the values of the parent for which a child is active.
func conditionOf(child *vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec, parent task.Kind) (values []task.Value) {
	for _, v := range child.GetParentCategoricalValues().GetValues() {
		values = append(values, task.ChoiceValue(v))
	}
	for _, v := range child.GetParentIntValues().GetValues() {
		values = append(values, task.IntValue(v))
	}
	for _, v := range child.GetParentDiscreteValues().GetValues() {
		if parent == task.Int && v == math.Trunc(v) {
			values = append(values, task.IntValue(int64(v)))
		} else {
			values = append(values, task.FloatValue(v))
		}
	}
	return values
}

// defaults returns the design of the default values, which is zero unless every active parameter has one.
func (p *problem) defaults(specs []*parameterSpec, parameters []task.Parameter) (task.Design, error) {
	values := map[string]any{}
	if len(specs) == 0 || !addDefaults(specs, values) {
		return task.Design{}, nil
	}
	space, err := task.NewSpace(parameters)
	if err != nil {
		return task.Design{}, err
	}
	design, err := space.ParseDesign(values)
	if err != nil {
		return task.Design{}, fmt.Errorf("default values: %w", err)
	}
	return design, nil
}

// addDefaults reports whether all active parameters have a default value, which it adds to values.
func addDefaults(specs []*parameterSpec, values map[string]any) bool {
	for _, spec := range specs {
		name := nameOf(spec.GetParameterId())
		double, integer := spec.GetDoubleValueSpec().GetDefaultValue(), spec.GetIntegerValueSpec().GetDefaultValue()
		discrete, categorical := spec.GetDiscreteValueSpec().GetDefaultValue(), spec.GetCategoricalValueSpec().GetDefaultValue()
		isDefault := func(*vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec) bool { return false }
		switch {
		case double != nil:
			values[name] = double.Value
		case integer != nil:
			values[name] = integer.Value
			isDefault = func(c *vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec) bool {
				return slices.Contains(c.GetParentIntValues().GetValues(), integer.Value)
			}
		case discrete != nil:
			values[name] = discrete.Value
			isDefault = func(c *vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec) bool {
				return slices.Contains(c.GetParentDiscreteValues().GetValues(), discrete.Value)
			}
		case categorical != nil:
			values[name] = categorical.Value
			isDefault = func(c *vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec) bool {
				return slices.Contains(c.GetParentCategoricalValues().GetValues(), categorical.Value)
			}
		default:
			return false
		}
		for _, child := range spec.GetConditionalParameterSpecs() {
			if isDefault(child) && !addDefaults([]*parameterSpec{child.GetParameterSpec()}, values) {
				return false
			}
		}
	}
	return true
}

// nameOf returns a name that tasks accept: of letters, digits and _, and first a letter.
func nameOf(id string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	if name != "" && (name[0] == '_' || name[0] <= '9') {
		name = "p" + name
	}
	return name
}
