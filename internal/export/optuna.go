package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Values of Optuna's JournalOperation, StudyDirection and TrialState.
const (
	createStudy       = 0
	setStudyAttribute = 2
	createTrial       = 4

	minimize = 1
	maximize = 2

	complete = 1
	pruned   = 2
	fail     = 3
)

// writer is the worker_id of all records. Optuna itself uses random UUIDs. Readers only check
// whether a record is their own.
const writer = "fbo-node"

// studyID is the ID of the only study in a file, since Optuna numbers studies from 0.
const studyID = 0

type studyRecord struct {
	Op         int    `json:"op_code"`
	Worker     string `json:"worker_id"`
	Name       string `json:"study_name"`
	Directions []int  `json:"directions"`
}

// attributeRecord sets a user attribute of the study. An Optuna record can set only one.
type attributeRecord struct {
	Op        int    `json:"op_code"`
	Worker    string `json:"worker_id"`
	Study     int    `json:"study_id"`
	Attribute object `json:"user_attr"`
}

// trialRecord creates a trial that has already ended.
type trialRecord struct {
	Op            int      `json:"op_code"`
	Worker        string   `json:"worker_id"`
	Study         int      `json:"study_id"`
	Started       *string  `json:"datetime_start"`
	State         int      `json:"state"`
	Value         *number  `json:"value"`
	Values        []number `json:"values"` // only for several objectives
	Ended         *string  `json:"datetime_complete,omitempty"`
	Distributions object   `json:"distributions"`
	Parameters    object   `json:"params"`
	Attributes    object   `json:"user_attrs"`
	System        object   `json:"system_attrs"`
	Intermediate  object   `json:"intermediate_values"` // by step
}

// Ended reports whether a trial has ended in a way that Optuna supports: with a value, a failure or
// early.
func Ended(t strategy.Trial) bool { return t.State.Ended() }

// OptunaJournal writes a study with the name of the task and the ended trials, in order. It omits
// other trials, because no process would end them in the file. Data that Optuna has no field for,
// such as the reason for a design, become user attributes.
func OptunaJournal(out io.Writer, of *task.Task, trials []strategy.Trial) error {
	var directions []int
	for _, output := range of.ObjectiveOutputs() {
		direction := minimize
		if of.Sign(output) > 0 {
			direction = maximize
		}
		directions = append(directions, direction)
	}
	attribute := func(name string, value any) attributeRecord {
		return attributeRecord{setStudyAttribute, writer, studyID, object{{name, value}}}
	}
	records := []any{
		studyRecord{createStudy, writer, of.Name, directions},
		attribute("task_id", of.ID().String()),
		attribute("task", json.RawMessage(of.File())),
	}
	parameters := of.Space.Parameters()
	var all []distribution
	var texts []string
	for _, p := range parameters {
		d, err := distributionOf(of.Space, p)
		if err != nil {
			return err
		}
		text, err := encode(d)
		if err != nil {
			return err
		}
		all, texts = append(all, d), append(texts, string(text))
	}
	for _, t := range trials {
		if !Ended(t) {
			continue
		}
		r := trialRecord{
			Op: createTrial, Worker: writer, Study: studyID, State: fail,
			Distributions: object{}, Attributes: withAnnotations(attributesOf(of, t), t), System: limitsOf(of, t),
		}
		r.Started, r.Ended = times(t)
		for _, s := range t.Steps {
			r.Intermediate = append(r.Intermediate, member{strconv.FormatUint(s.Step, 10), number(s.Value)})
		}
		switch {
		case t.Outcome != nil && of.Several():
			r.State = complete
			for _, output := range of.ObjectiveOutputs() {
				value, _ := t.Outcome.Measured(output)
				r.Values = append(r.Values, number(value))
			}
		case t.Outcome != nil:
			r.State, r.Value = complete, new(number(t.Outcome.Value))
		case t.State == strategy.StoppedEarly: // the value as Optuna itself sets it
			r.State, r.Value = pruned, new(number(t.Steps.Last().Value))
		}
		for i, p := range parameters {
			if !t.Design.Active(p.Name) { // Optuna leaves out such parameters too
				continue
			}
			internal, err := all[i].internal(t.Design.Value(p.Name))
			if err != nil {
				return fmt.Errorf("trial %d, parameter %q: %w", t.ID, p.Name, err)
			}
			r.Distributions = append(r.Distributions, member{p.Name, texts[i]})
			r.Parameters = append(r.Parameters, member{p.Name, internal})
		}
		records = append(records, r)
	}
	buffered := bufio.NewWriter(out)
	for _, r := range records {
		if err := writeLine(buffered, r); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// times returns the start and end of a trial for Optuna, or nil for both, because Optuna accepts an
// ended trial only with both. If an imported trial has only one of them, the other is set to the
// same time.
func times(t strategy.Trial) (started, ended *string) {
	from, to := t.Started, t.Finished
	if from.IsZero() {
		from = to
	}
	if to.IsZero() {
		to = from
	}
	if from.IsZero() {
		return nil, nil
	}
	const layout = "2006-01-02T15:04:05.000000+00:00"
	return new(from.UTC().Format(layout)), new(to.UTC().Format(layout))
}

// attributesOf returns the data of a trial for which Optuna has no field. "peer" is the peer that
// the reason for the design names, and "peer_count" the number of peers whose shares were used.
func attributesOf(of *task.Task, t strategy.Trial) object {
	o := object{{"trial", t.ID}, {"source", t.Why.Source}, {"why", t.Why.String()}, {"from_peers", t.Why.FromPeers()}}
	if t.Why.Peer != "" {
		o = append(o, member{"peer", t.Why.Peer.String()})
	}
	if t.Why.PeerCount > 0 {
		o = append(o, member{"peer_count", t.Why.PeerCount})
	}
	if t.Reason != "" {
		o = append(o, member{"reason", t.Reason})
	}
	if t.Cost != nil {
		o = append(o, member{CostAttribute, number(*t.Cost)})
	}
	if t.Stop != nil {
		o = append(o, member{StopRuleColumn, t.Stop.Rule}, member{StopStepColumn, t.Stop.Step}, member{StopReasonColumn, t.Stop.Reason})
		if t.Stop.Forecast != nil {
			o = append(o, member{StopForecastColumn, number(*t.Stop.Forecast)}, member{StopDeviationColumn, number(t.Stop.Deviation)})
		}
	}
	if f := feasible(of, t); f != nil {
		o = append(o, member{feasibleColumn, *f})
	}
	if t.Outcome == nil {
		return o
	}
	for _, name := range keysOf(t.Outcome.Constraints) {
		o = append(o, member{ConstraintPrefix + name, t.Outcome.Constraints[name]})
	}
	for _, name := range keysOf(t.Outcome.Metrics) {
		if of.IsObjective(task.Output(name)) { // it is one of the values
			continue
		}
		o = append(o, member{MetricPrefix + name, number(t.Outcome.Metrics[name])})
	}
	return o
}

// CostAttribute is the user attribute with the cost of a trial.
const CostAttribute = "fbo:cost"

// UserAttributes returns the names that the export gives to user attributes, except those of outputs.
func UserAttributes() []string {
	return []string{
		"trial", "source", "why", "from_peers", "peer", "peer_count", "reason", feasibleColumn, CostAttribute,
		StopRuleColumn, StopStepColumn, StopReasonColumn, StopForecastColumn, StopDeviationColumn, tagsColumn, filesColumn, notesColumn,
	}
}

// withAnnotations adds the annotations of a trial. An attribute keeps its name, unless it is one of
// UserAttributes or another user attribute has it.
func withAnnotations(o object, t strategy.Trial) object {
	if len(t.Tags) > 0 {
		o = append(o, member{tagsColumn, t.Tags})
	}
	if len(t.Files) > 0 {
		o = append(o, member{filesColumn, t.Files})
	}
	if len(t.Notes) > 0 {
		o = append(o, member{notesColumn, t.Notes})
	}
	own := len(o)
	for _, name := range keysOf(t.Attributes) {
		as := name
		taken := func(m member) bool { return m.name == as }
		for slices.Contains(UserAttributes(), as) || slices.ContainsFunc(o[:own], taken) || as != name && t.Attributes[as] != "" {
			as = AttributePrefix + as
		}
		o = append(o, member{as, t.Attributes[name]})
	}
	return o
}

// limitsOf returns the system attributes with Optuna's form of constraints: one number for each
// constraint, which is at most 0 if the constraint is satisfied.
func limitsOf(of *task.Task, t strategy.Trial) object {
	o := object{}
	for _, c := range of.Constraints {
		if v, ok := t.Measured(c.Output); ok {
			o = append(o, member{"constraints:" + string(c.Output), number(excess(c, v))})
		}
	}
	return o
}

// excess returns by how much a value exceeds the nearer limit of a constraint, in the output's own
// units. It is at most 0 if and only if the constraint is satisfied.
func excess(c task.Constraint, v float64) float64 {
	beyond := math.Max(c.Low-v, v-c.High)
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, beyond))
}

// distribution is Optuna's description of a parameter's values.
type distribution struct {
	Name       string `json:"name"`
	Attributes object `json:"attributes"`
	choices    []task.Value
}

// distributionOf returns the distribution of a parameter. Bools and listed numbers become
// categorical, because Optuna has no other distribution for them. Fixed numbers have equal bounds.
func distributionOf(space *task.Space, p task.Parameter) (distribution, error) {
	switch p.Fixed.Kind() {
	case task.Bool:
		return distribution{"CategoricalDistribution", object{{"choices", []any{p.Fixed}}}, []task.Value{p.Fixed}}, nil
	case task.Int:
		p.Low, p.High = float64(p.Fixed.Int()), float64(p.Fixed.Int())
	case task.Float:
		p.Low, p.High = p.Fixed.Float(), p.Fixed.Float()
	}
	choices, err := choicesOf(space, p)
	logarithmic := p.Scale == task.Log
	switch {
	case err != nil:
		return distribution{}, err
	case choices != nil:
		external := make([]any, len(choices))
		for i, v := range choices {
			external[i] = externalOf(v)
		}
		return distribution{"CategoricalDistribution", object{{"choices", external}}, choices}, nil
	case p.Kind == task.Int:
		return distribution{"IntDistribution", object{
			{"log", logarithmic}, {"step", int64(math.Max(p.Step, 1))}, {"low", int64(p.Low)}, {"high", int64(p.High)},
		}, nil}, nil
	}
	var step any // nil is written as null
	if p.Step > 0 && countsExactly(p) {
		step = number(p.Step)
	}
	return distribution{"FloatDistribution", object{
		{"step", step}, {"low", number(p.Low)}, {"high", number(p.High)}, {"log", logarithmic},
	}, nil}, nil
}

// choicesOf returns the listed values of a parameter, or nil for a parameter with bounds.
func choicesOf(space *task.Space, p task.Parameter) (choices []task.Value, err error) {
	texts := slices.Clone(p.Choices)
	if p.Kind == task.Bool {
		texts = []string{"false", "true"}
	}
	for _, v := range p.Numbers {
		texts = append(texts, exact(v))
	}
	for _, text := range texts {
		v, err := space.ParseValue(p.Name, text)
		if err != nil {
			return nil, err
		}
		choices = append(choices, v)
	}
	return choices, nil
}

// internal returns the form in which Optuna stores a value: a number, or the index of a choice from
// 0.
func (d distribution) internal(v task.Value) (any, error) {
	switch {
	case d.choices != nil:
		i := slices.Index(d.choices, v)
		if i < 0 {
			return nil, fmt.Errorf("%v is none of its choices", v)
		}
		return i, nil
	case v.Kind() == task.Int:
		return number(v.Int()), nil
	}
	return number(v.Float()), nil
}

// externalOf returns the JSON form of a choice.
func externalOf(v task.Value) any {
	if v.Kind() == task.Float {
		return number(v.Float())
	}
	return v
}

// number is a float whose JSON has a decimal point or an exponent, so that Python reads it as a
// float.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	text := exact(float64(n))
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	err := newEncoder(&b).Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
