package trialfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

const (
	valueColumn      = export.ValueColumn
	stateColumn      = export.StateColumn
	costColumn       = export.CostColumn
	constraintPrefix = export.ConstraintPrefix
	metricPrefix     = export.MetricPrefix
	attributePrefix  = export.AttributePrefix

	intermediatePrefix = "intermediate_values_" // in data frames of Optuna, before the step
	valuesPrefix       = "values_"              // in data frames of Optuna, before the number or name of an objective
)

// meaning is the content of a column of a file of trials, or of a key of its objects.
type meaning struct {
	what what
	name string // of the parameter, constraint, metric or attribute, key of the stop, or Optuna's step
}

type what int

const (
	nothing what = iota
	aParameter
	aValue
	aState
	aCost
	aConstraint
	aMetric
	anAttribute
	theSteps
	aStop
	anIntermediate
)

// columns determines the meaning of columns. The zero value, with a space, uses the names that
// history writes.
type columns struct {
	space    *task.Space
	renamed  map[string]meaning // columns that the user named
	ignored  []string           // columns that the user excluded
	defaults map[string]task.Value
	purpose  string // flag for which the file is read

	study      string      // name of the study to choose if a journal has several
	goals      []task.Goal // of the objectives; nil to accept studies with any
	objectives []string    // names of the objectives of a task with several
}

// objective returns the meaning of an objective of several, by its number.
func (c columns) objective(i int) meaning {
	if i == 0 {
		return meaning{what: aValue}
	}
	return meaning{aMetric, c.objectives[i]}
}

// named returns the meaning of a name that this program defines.
func (c columns) named(name string) (m meaning, known bool) {
	constraint, isConstraint := strings.CutPrefix(name, constraintPrefix)
	metric, isMetric := strings.CutPrefix(name, metricPrefix)
	attribute, isAttribute := strings.CutPrefix(name, attributePrefix)
	stop, isStop := stopKeys[name]
	objective := slices.Index(c.objectives, name)
	switch {
	case isParameter(c.space, name):
		return meaning{aParameter, name}, true
	case name == valueColumn:
		return meaning{what: aValue}, true
	case name == stateColumn:
		return meaning{what: aState}, true
	case name == costColumn:
		return meaning{what: aCost}, true
	case isConstraint:
		return meaning{aConstraint, constraint}, true
	case isMetric:
		return meaning{aMetric, metric}, true
	case isAttribute:
		return meaning{anAttribute, attribute}, true
	case name == export.StepsColumn:
		return meaning{what: theSteps}, true
	case isStop:
		return meaning{aStop, stop}, true
	case objective >= 0 && !slices.Contains(export.Notes(), name):
		return c.objective(objective), true
	}
	return meaning{}, name == "" || slices.Contains(export.Notes(), name) // pandas writes an index without a name
}

// of returns the meaning of a column in a file with these columns. Names from the user have
// priority over the file's own names.
func (c columns) of(column string, all []string) (meaning, error) {
	if m, ok := c.renamed[column]; ok {
		return m, nil
	}
	if slices.Contains(c.ignored, column) {
		return meaning{}, nil
	}
	m, known := c.named(column)
	if isStudy(all) {
		m, known = c.inStudy(column)
	}
	if !known {
		err := fmt.Errorf("%q is neither a parameter nor %q", column, valueColumn)
		if c.purpose == importing {
			err = fmt.Errorf("%w; --import-ignore %s leaves it out, --import-columns NAME=%s says what it is", err, column, column)
		}
		return meaning{}, err
	}
	for other, taken := range c.renamed {
		if m == taken && m.what != nothing && slices.Contains(all, other) {
			return meaning{}, nil
		}
	}
	return m, nil
}

// isStudy reports whether columns are those of an Optuna study, as its
// trials_dataframe writes them.
func isStudy(columns []string) bool {
	parameter := func(name string) bool { return strings.HasPrefix(name, "params_") }
	return slices.Contains(columns, "number") && slices.Contains(columns, stateColumn) && slices.ContainsFunc(columns, parameter)
}

// inStudy is named for the columns of an Optuna study: "value", with the name of the objective if
// it has one, "values_" with the number or the name of each of several, "params_" before each parameter, intermediate values by step, outputs that export has
// written as user attributes, and columns that are ignored.
func (c columns) inStudy(column string) (m meaning, known bool) {
	parameter, isParam := strings.CutPrefix(column, "params_")
	attribute, isAttribute := strings.CutPrefix(column, "user_attrs_")
	step, hasStep := strings.CutPrefix(column, intermediatePrefix)
	objective := -1
	if name, ok := strings.CutPrefix(column, valuesPrefix); ok {
		objective = slices.Index(c.objectives, name)
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(c.objectives) {
			objective = i
		}
	}
	switch {
	case objective >= 0:
		return c.objective(objective), true
	case isParam:
		return meaning{aParameter, parameter}, isParameter(c.space, parameter)
	case column == valueColumn || strings.HasPrefix(column, "value_"):
		return meaning{what: aValue}, true
	case column == stateColumn:
		return meaning{what: aState}, true
	case isAttribute && attribute == export.CostAttribute:
		return meaning{what: aCost}, true
	case outputOf(attribute) && isAttribute:
		return c.named(attribute)
	case hasStep:
		_, err := strconv.ParseUint(step, 10, 63)
		return meaning{anIntermediate, step}, err == nil
	case slices.Contains([]string{"", "number", "datetime_start", "datetime_complete", "duration"}, column):
		return meaning{}, true
	}
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(column, prefix) }
	return meaning{}, slices.ContainsFunc([]string{valuesPrefix, "user_attrs_", "system_attrs_"}, hasPrefix)
}

// meanings returns the meaning of each column of a CSV file, or an error about its header.
func (c columns) meanings(header []string, values bool) ([]meaning, error) {
	if isParameter(c.space, valueColumn) && !isStudy(header) {
		return nil, errValueIsParameter
	}
	if slices.Contains(header, "number") && slices.Contains(header, "params") && !isParameter(c.space, "params") {
		return nil, errors.New("this is a data frame of Optuna with two lines of columns; expected what trials_dataframe() gives without multi_index")
	}
	all := make([]meaning, len(header))
	for i, column := range header {
		if column != "" && slices.Contains(header[:i], column) {
			return nil, fmt.Errorf("column %q stands twice", column)
		}
		var err error
		if all[i], err = c.of(column, header); err != nil {
			return nil, fmt.Errorf("column %w", err)
		}
		if all[i].what != nothing && slices.Contains(all[:i], all[i]) {
			return nil, fmt.Errorf("columns %q and %q both hold the %s", header[slices.Index(all, all[i])], column, all[i])
		}
	}
	return all, c.checkMissing(header, all, values)
}

func (c columns) checkMissing(header []string, all []meaning, values bool) error {
	for column, m := range c.renamed {
		if !slices.Contains(header, column) {
			return fmt.Errorf("there is no column %q to hold the %s; the columns are %s", column, m, listed(header))
		}
	}
	var missing []string
	blocks := c.space.Blocks()
	for i, p := range c.space.Parameters() {
		if blocks[i].Count == 1 || len(p.When) > 0 { // may be left out, at least in some rows
			continue
		}
		if _, ok := c.defaults[p.Name]; !ok && !slices.Contains(all, meaning{aParameter, p.Name}) {
			missing = append(missing, p.Name)
		}
	}
	if values && !slices.Contains(all, meaning{what: aValue}) {
		missing = append(missing, valueColumn)
	}
	switch {
	case len(missing) == 0:
		return nil
	case c.purpose != importing:
		return fmt.Errorf("columns missing: %s", sanitize.List(missing))
	case missing[0] == valueColumn:
		return fmt.Errorf("columns missing: %s; --import-columns %s=COLUMN says which it is, of %s", valueColumn, valueColumn, listed(header))
	}
	return fmt.Errorf("columns missing: %s; --import-columns %s=COLUMN says which it is, --import-default %s=VALUE what it was in all rows",
		sanitize.List(missing), missing[0], missing[0])
}

// listed returns the columns that have a name.
func listed(header []string) string {
	unnamed := func(column string) bool { return column == "" }
	return sanitize.List(slices.DeleteFunc(slices.Clone(header), unnamed))
}

func (m meaning) String() string {
	return [...]string{
		"nothing", "parameter " + m.name, "value", "state", "cost", "constraint " + m.name, "metric " + m.name, "attribute " + m.name,
		"values by step", m.name + " of the stop", "value at step " + m.name,
	}[m.what]
}

func isParameter(space *task.Space, name string) bool {
	return slices.ContainsFunc(space.Parameters(), func(p task.Parameter) bool { return p.Name == name })
}
