package trialfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// Values of Optuna 5's JournalOperation.
const (
	opCreateStudy = iota
	opDeleteStudy
	opStudyAttribute
	opStudySystemAttribute
	opCreateTrial
	opParameter
	opState
	opIntermediate
	opAttribute
)

// optunaStates has Optuna's TrialState in the order of its numbers.
var optunaStates = []string{"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}

// optunaRecord is a line of the journal. NaN and infinity are null (pythonJSON).
type optunaRecord struct {
	Op             int               `json:"op_code"`
	StudyName      string            `json:"study_name"`
	Directions     []int             `json:"directions"`
	Study          int               `json:"study_id"`
	Trial          int               `json:"trial_id"`
	State          int               `json:"state"`
	Value          any               `json:"value"`
	Values         []any             `json:"values"`
	Distributions  map[string]string `json:"distributions"`
	Parameters     map[string]any    `json:"params"`
	Parameter      string            `json:"param_name"`
	ParameterValue any               `json:"param_value_internal"`
	Distribution   string            `json:"distribution"`
	Attributes     map[string]any    `json:"user_attrs"`
	Attribute      map[string]any    `json:"user_attr"`
	Intermediate   map[string]any    `json:"intermediate_values"`
	Step           uint64            `json:"step"`
	StepValue      any               `json:"intermediate_value"`
}

// maxColumns is the maximum number of columns of a study. A task has far fewer parameters and outputs.
const maxColumns = 4096

// optunaStudy is a study of a journal.
type optunaStudy struct {
	name       string
	directions []int
	exported   bool // by this program
	trials     []*optunaTrial
}

type optunaTrial struct {
	state        int
	values       []any
	parameters   map[string]any
	attributes   map[string]any
	intermediate map[uint64]any
}

func (t *optunaTrial) ended() bool {
	return slices.Contains([]string{"COMPLETE", "PRUNED", "FAIL"}, optunaStates[t.state])
}

// readJournal reads a study from a journal of Optuna, the file of its JournalFileBackend. The study
// becomes rows with the columns of its data frame, so that the same flags apply, and its values by step.
func (c columns) readJournal(data []byte, values bool, take func(pastRow) error) error {
	studies, err := optunaStudies(data)
	if err != nil {
		return err
	}
	study, err := c.wantedStudy(studies)
	if err != nil {
		return err
	}
	header := study.columns()
	if !isStudy(header) {
		return fmt.Errorf("no trial of the study %q has a parameter", study.name)
	}
	if len(header) > maxColumns {
		return fmt.Errorf("the study %q has %d columns; expected at most %d", study.name, len(header), maxColumns)
	}
	meanings, err := c.meanings(header, values)
	if err != nil {
		return err
	}
	of := map[string]meaning{}
	for i, m := range meanings {
		of[header[i]] = m
	}
	shift := study.shift()
	for number, trial := range study.trials {
		row := c.newRow(fmt.Sprintf("trial %d of the study", number), header)
		for column, cell := range trial.cells(number) {
			row.put(of[column], column, cell)
		}
		for step, value := range trial.intermediate {
			row.curve.putIntermediate(step+shift, value)
		}
		if study.exported {
			err = row.putExported(trial.attributes)
		}
		if err == nil {
			err = take(row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", row.place, err)
		}
	}
	return nil
}

// wantedStudy returns the only study, or that with the name of the task.
func (c columns) wantedStudy(studies []*optunaStudy) (*optunaStudy, error) {
	var names []string
	for _, s := range studies {
		names = append(names, s.name)
	}
	switch i := slices.Index(names, c.study); {
	case len(studies) == 0:
		return nil, errors.New("the journal has no study")
	case len(studies) == 1:
		return studies[0], c.checkDirection(studies[0])
	case i >= 0:
		return studies[i], c.checkDirection(studies[i])
	}
	return nil, fmt.Errorf("the journal has %d studies: %s; expected one, or one with the name of the task", len(names), sanitize.List(names))
}

// checkDirection returns an error if a study has other goals than the task. A study of several objectives
// goes with a task of one, whose value the user names.
func (c columns) checkDirection(s *optunaStudy) error {
	const maximize = 2 // Optuna's StudyDirection
	if len(c.goals) > 1 && len(s.directions) != len(c.goals) {
		return fmt.Errorf("the study %q has %s, and the task has %d; expected equal numbers", s.name, sanitize.Count(len(s.directions), "objective"), len(c.goals))
	}
	if len(s.directions) != len(c.goals) {
		return nil
	}
	for i, goal := range c.goals {
		switch {
		case (s.directions[i] == maximize) == (goal == task.Maximize):
		case len(c.goals) == 1:
			return fmt.Errorf("the study %q does not %s, as the task does", s.name, goal)
		default:
			return fmt.Errorf("the study %q does not %s objective %d, as the task does with %q", s.name, goal, i+1, c.objectives[i])
		}
	}
	return nil
}

// optunaStudies returns the studies of a journal that were not deleted. As in Optuna, an ended trial
// does not change, and an incomplete last line is ignored.
func optunaStudies(data []byte) ([]*optunaStudy, error) {
	var studies []*optunaStudy // by their numbers; nil if deleted
	var trials []*optunaTrial  // by their numbers, of all studies
	number := 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r optunaRecord
		decoder := json.NewDecoder(bytes.NewReader(pythonJSON(line)))
		decoder.UseNumber()
		if err := decoder.Decode(&r); err != nil {
			if !bytes.HasSuffix(line, []byte("\n")) && number > 1 {
				break
			}
			return nil, fmt.Errorf("line %d: no record of an Optuna journal: %w", number, notOptuna(err))
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		open := func() *optunaTrial {
			if r.Trial < 0 || r.Trial >= len(trials) || trials[r.Trial].ended() {
				return &optunaTrial{parameters: map[string]any{}, attributes: map[string]any{}, intermediate: map[uint64]any{}}
			}
			return trials[r.Trial]
		}
		exists := r.Study >= 0 && r.Study < len(studies) && studies[r.Study] != nil
		switch r.Op {
		case opCreateStudy:
			if !slices.ContainsFunc(studies, func(s *optunaStudy) bool { return s != nil && s.name == r.StudyName }) {
				studies = append(studies, &optunaStudy{name: r.StudyName, directions: r.Directions})
			}
		case opDeleteStudy:
			if exists {
				studies[r.Study] = nil
			}
		case opStudyAttribute:
			if _, ok := r.Attribute["task_id"]; ok && exists {
				studies[r.Study].exported = true
			}
		case opCreateTrial:
			if !exists {
				continue
			}
			trial, err := r.trial()
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			trials, studies[r.Study].trials = append(trials, trial), append(studies[r.Study].trials, trial)
		case opParameter:
			value, err := externalValue(r.Distribution, r.ParameterValue)
			if err != nil {
				return nil, fmt.Errorf("line %d: parameter %q: %w", number, r.Parameter, err)
			}
			open().parameters[r.Parameter] = value
		case opState:
			trial := open()
			if trial.state = r.State; r.Values != nil {
				trial.values = r.Values
			}
		case opIntermediate:
			open().intermediate[r.Step] = r.StepValue
		case opAttribute:
			maps.Copy(open().attributes, r.Attribute)
		}
	}
	return slices.DeleteFunc(studies, func(s *optunaStudy) bool { return s == nil }), nil
}

// notOptuna returns an error about JSON in the words of the file.
func notOptuna(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s; expected what Optuna writes", cmp.Or(wrong.Field, "value"), wrong.Value)
	}
	return err
}

func (r optunaRecord) check() error {
	if r.State < 0 || r.State >= len(optunaStates) {
		return fmt.Errorf("state %d; expected 0 to %d", r.State, len(optunaStates)-1)
	}
	return nil
}

// trial returns a created trial, which may have ended already.
func (r optunaRecord) trial() (*optunaTrial, error) {
	t := &optunaTrial{state: r.State, values: r.Values, parameters: map[string]any{}, attributes: map[string]any{}, intermediate: map[uint64]any{}}
	if r.Value != nil {
		t.values = []any{r.Value}
	}
	for name, internal := range r.Parameters {
		value, err := externalValue(r.Distributions[name], internal)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", name, err)
		}
		t.parameters[name] = value
	}
	for text, value := range r.Intermediate {
		step, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return nil, fmt.Errorf("step %q; expected a whole number", text)
		}
		t.intermediate[step] = value
	}
	maps.Copy(t.attributes, r.Attributes)
	return t, nil
}

// externalValue returns the value of a parameter as a text for a cell: of a choice, whose index Optuna
// stores, or a number.
func externalValue(distribution string, internal any) (string, error) {
	var d struct {
		Attributes struct{ Choices []json.RawMessage }
	}
	if err := json.Unmarshal(pythonJSON([]byte(distribution)), &d); err != nil {
		return "", fmt.Errorf("distribution: %w", notOptuna(err))
	}
	choices := d.Attributes.Choices
	if choices == nil {
		return fmt.Sprint(internal), nil
	}
	i, err := toNumber(internal)
	if err != nil || i != math.Trunc(i) || i < 0 || i >= float64(len(choices)) {
		return "", fmt.Errorf("choice %v; expected 0 to %d", internal, len(choices)-1)
	}
	var text string
	if json.Unmarshal(choices[int(i)], &text) == nil {
		return text, nil
	}
	return string(choices[int(i)]), nil
}

// columns returns the names of the columns of the study's data frame.
func (s *optunaStudy) columns() []string {
	all := []string{"number", stateColumn}
	if len(s.directions) > 1 {
		for i := range s.directions {
			all = append(all, valuesPrefix+strconv.Itoa(i))
		}
	} else {
		all = append(all, valueColumn)
	}
	names := map[string]bool{}
	for _, t := range s.trials {
		for name := range t.parameters {
			names["params_"+name] = true
		}
		for name := range t.attributes {
			if name == export.CostAttribute || outputOf(name) && s.exported {
				names["user_attrs_"+name] = true
			}
		}
	}
	return append(all, slices.Sorted(maps.Keys(names))...)
}

// cells returns the cells of a trial by their columns.
func (t *optunaTrial) cells(number int) map[string]any {
	cells := map[string]any{"number": number, stateColumn: optunaStates[t.state]}
	for i, value := range t.values {
		cells[valuesPrefix+strconv.Itoa(i)] = value
	}
	if len(t.values) == 1 {
		cells[valueColumn] = t.values[0]
	}
	for name, value := range t.parameters {
		cells["params_"+name] = value
	}
	for name, value := range t.attributes {
		cells["user_attrs_"+name] = value
	}
	return cells
}

// shift returns what is added to the steps. Optuna counts from 0, this program from 1: steps move by
// one unless no trial of the study has the step 0.
func (s *optunaStudy) shift() uint64 {
	for _, t := range s.trials {
		if _, ok := t.intermediate[0]; ok {
			return 1
		}
	}
	return 0
}

// outputOf reports whether a user attribute is a measured number that export has written.
func outputOf(name string) bool {
	return strings.HasPrefix(name, constraintPrefix) || strings.HasPrefix(name, metricPrefix)
}

// putExported stores the user attributes of a trial that export has written, except the outputs. How
// the design was chosen is left out: the trial becomes an imported one.
func (r *pastRow) putExported(attributes map[string]any) (err error) {
	if r.annotations, err = annotationsOf(attributes); err != nil {
		return err
	}
	r.annotations.Attributes = nil
	for name, value := range attributes {
		if key, ok := stopKeys[name]; ok {
			r.curve.putStop(key, value)
			continue
		}
		of := name
		if rest := strings.TrimPrefix(name, attributePrefix); slices.Contains(export.UserAttributes(), rest) {
			of = rest
		}
		if outputOf(name) || of == name && slices.Contains(export.UserAttributes(), name) {
			continue
		}
		r.put(meaning{anAttribute, of}, "", value)
	}
	return nil
}

// pythonJSON returns JSON with null in place of NaN and infinity, which Python writes.
func pythonJSON(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case quoted && text[i] == '\\' && len(rest) > 1:
			out = append(out, rest[0], rest[1])
			i++
			continue
		case text[i] == '"':
			quoted = !quoted
		case !quoted:
			if word := notNumber(rest); word > 0 {
				out = append(out, "null"...)
				i += word - 1
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// notNumber returns the length of a NaN or infinity at the beginning of a text, or 0.
func notNumber(text []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
