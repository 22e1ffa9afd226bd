package export

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Names of columns, and prefixes of names, for the state and the outcome of a trial.
const (
	ValueColumn      = "value"
	StateColumn      = "state"
	CostColumn       = "cost"        // only if a trial has a cost
	ConstraintPrefix = "constraint." // for constraints; names of parameters contain no dot
	MetricPrefix     = "metric."     // for metrics
	AttributePrefix  = "attribute."  // for attributes
)

// Names of columns for values by step and the decision to stop early. They contain a dot, which names
// of parameters do not.
const (
	StepsColumn      = "steps.json" // an array of arrays of a step and its value
	StopRuleColumn   = "stop.rule"
	StopStepColumn   = "stop.step"
	StopReasonColumn = "stop.reason"

	StopForecastColumn  = "stop.forecast"
	StopDeviationColumn = "stop.deviation"
	lastStepColumn      = "steps.last"
	lastValueColumn     = "steps.last_value"
)

// Names of columns, the last three only if a trial has one of them.
const (
	trialColumn    = "trial"
	feasibleColumn = "feasible"
	frontColumn    = "front"
	tagsColumn     = "tags"
	filesColumn    = "files"
	notesColumn    = "notes"
)

// Column is one column of a table of trials.
type Column struct {
	Name string
	Cell func(strategy.Trial) string
}

// CSV writes a table that --import reads, unless a parameter has the name "value".
func CSV(out io.Writer, of *task.Task, trials []strategy.Trial) error {
	columns := columnsOf(of, trials)
	rows := [][]string{nil}
	for _, column := range columns {
		rows[0] = append(rows[0], column.Name)
	}
	for _, trial := range trials {
		var row []string
		for _, column := range columns {
			row = append(row, column.Cell(trial))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// columnsOf returns all columns of the table. If another column has the name of a parameter, it is
// omitted, except the column for the value.
func columnsOf(of *task.Task, trials []strategy.Trial) []Column {
	columns := before(of)
	if len(of.Constraints) == 0 {
		columns = slices.DeleteFunc(columns, func(c Column) bool { return c.Name == feasibleColumn })
	}
	if of.Several() {
		columns = append(columns, onFront(of, trials))
	}
	parameters := of.Space.Parameters()
	named := func(c Column) bool {
		return c.Name != ValueColumn && slices.ContainsFunc(parameters, func(p task.Parameter) bool { return p.Name == c.Name })
	}
	columns = append(columns, slices.DeleteFunc([]Column{{CostColumn, cost}}, unused(trials))...)
	columns = slices.DeleteFunc(columns, named)
	for _, p := range parameters {
		columns = append(columns, Column{p.Name, func(t strategy.Trial) string { return t.Design.Value(p.Name).String() }})
	}
	columns = append(columns, outcomeColumns(ConstraintPrefix, trials, func(o strategy.Outcome) map[string]task.Reading { return o.Constraints }, task.Reading.String)...)
	columns = append(columns, MetricColumns(trials)...)
	columns = append(columns, slices.DeleteFunc(curveColumns(), unused(trials))...)
	columns = append(columns, slices.DeleteFunc(after(), named)...)
	columns = append(columns, slices.DeleteFunc(attributeColumns(trials), named)...)
	return append(columns, slices.DeleteFunc(slices.DeleteFunc(annotations(), named), unused(trials))...)
}

// unused returns a function that reports whether a column is empty for all trials.
func unused(trials []strategy.Trial) func(Column) bool {
	return func(c Column) bool {
		return !slices.ContainsFunc(trials, func(t strategy.Trial) bool { return c.Cell(t) != "" })
	}
}

// before returns the columns that precede those of the parameters.
func before(of *task.Task) []Column {
	return []Column{
		{trialColumn, func(t strategy.Trial) string { return strconv.FormatUint(t.ID, 10) }},
		{StateColumn, func(t strategy.Trial) string { return string(t.State) }},
		{ValueColumn, func(t strategy.Trial) string {
			if t.Outcome == nil {
				return ""
			}
			return exact(t.Outcome.Value)
		}},
		{feasibleColumn, func(t strategy.Trial) string {
			if t.Outcome == nil {
				return ""
			}
			return strconv.FormatBool(of.Feasible(t.Outcome))
		}},
	}
}

// onFront returns the column that states whether a trial is on the Pareto front of several objectives.
func onFront(of *task.Task, trials []strategy.Trial) Column {
	front := map[uint64]bool{}
	for _, t := range strategy.Front(of, trials) {
		front[t.ID] = true
	}
	return Column{frontColumn, func(t strategy.Trial) string {
		if t.Outcome == nil {
			return ""
		}
		return strconv.FormatBool(front[t.ID])
	}}
}

func cost(t strategy.Trial) string {
	if t.Cost == nil {
		return ""
	}
	return exact(*t.Cost)
}

// after returns the columns that follow those of parameters, constraints and metrics.
func after() []Column {
	return []Column{
		{"source", func(t strategy.Trial) string { return string(t.Why.Source) }},
		{"peer", func(t strategy.Trial) string {
			if t.Why.Peer == "" {
				return ""
			}
			return t.Why.Peer.String()
		}},
		{"started", func(t strategy.Trial) string { return timeText(t.Started) }},
		{"finished", func(t strategy.Trial) string { return timeText(t.Finished) }},
		{"reason", func(t strategy.Trial) string { return noFormula(t.Reason) }},
		{"peer_count", func(t strategy.Trial) string {
			if t.Why.PeerCount == 0 {
				return ""
			}
			return strconv.Itoa(t.Why.PeerCount)
		}},
		{"why", func(t strategy.Trial) string { return t.Why.String() }},
	}
}

// curveColumns returns the columns about values by step. One cell has the whole curve, so that a table
// of trials keeps one line for each trial and --import reads it back. Steps writes the long form.
func curveColumns() []Column {
	last := func(text func(curves.Step) string) func(strategy.Trial) string {
		return func(t strategy.Trial) string {
			if len(t.Steps) == 0 {
				return ""
			}
			return text(t.Steps.Last())
		}
	}
	stop := func(text func(curves.Stop) string) func(strategy.Trial) string {
		return func(t strategy.Trial) string {
			if t.Stop == nil {
				return ""
			}
			return text(*t.Stop)
		}
	}
	return []Column{
		{lastStepColumn, last(func(s curves.Step) string { return strconv.FormatUint(s.Step, 10) })},
		{lastValueColumn, last(func(s curves.Step) string { return exact(s.Value) })},
		{StopRuleColumn, stop(func(s curves.Stop) string { return noFormula(s.Rule) })},
		{StopStepColumn, stop(func(s curves.Stop) string { return strconv.FormatUint(s.Step, 10) })},
		{StopReasonColumn, stop(func(s curves.Stop) string { return noFormula(s.Reason) })},
		{StopForecastColumn, stop(func(s curves.Stop) string {
			if s.Forecast == nil {
				return ""
			}
			return exact(*s.Forecast)
		})},
		{StopDeviationColumn, stop(func(s curves.Stop) string {
			if s.Forecast == nil {
				return ""
			}
			return exact(s.Deviation)
		})},
		{StepsColumn, func(t strategy.Trial) string { return stepsText(t.Steps) }},
	}
}

// stepsText returns a curve as JSON: an array of arrays of a step and its value.
func stepsText(curve curves.Curve) string {
	if len(curve) == 0 {
		return ""
	}
	var parts []string
	for _, s := range curve {
		parts = append(parts, "["+strconv.FormatUint(s.Step, 10)+","+exact(s.Value)+"]")
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Steps writes the values by step in long form: a line for each value, in the order of trials and
// steps. This is the form that pandas groups, pivots and plots.
func Steps(out io.Writer, trials []strategy.Trial) error {
	rows := [][]string{{trialColumn, "step", ValueColumn}}
	for _, t := range trials {
		for _, s := range t.Steps {
			rows = append(rows, []string{strconv.FormatUint(t.ID, 10), strconv.FormatUint(s.Step, 10), exact(s.Value)})
		}
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// annotations returns the last columns, those of tags, files and notes.
func annotations() []Column {
	return []Column{
		{tagsColumn, func(t strategy.Trial) string { return noFormula(strings.Join(t.Tags, ", ")) }},
		{filesColumn, func(t strategy.Trial) string {
			var paths []string
			for _, file := range t.Files {
				paths = append(paths, file.Path)
			}
			return noFormula(strings.Join(paths, "\n"))
		}},
		{notesColumn, func(t strategy.Trial) string {
			var texts []string
			for _, note := range t.Notes {
				texts = append(texts, note.Text)
			}
			return noFormula(strings.Join(texts, "\n\n"))
		}},
	}
}

// attributeColumns returns a column for each attribute that any trial has.
func attributeColumns(trials []strategy.Trial) []Column {
	return namedColumns(AttributePrefix, trials, func(t strategy.Trial) map[string]string { return t.Attributes }, noFormula)
}

// noFormula returns a text that spreadsheets do not interpret as a formula. If the text begins like
// one, it puts an apostrophe before it, which spreadsheets hide. This is necessary because the
// output of a training program can contain any text. Characters that are not printable become
// escapes.
func noFormula(text string) string {
	text = sanitize.Lines(text)
	if text != "" && strings.ContainsRune("=+-@\t\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

// Notes returns the names of the columns that belong neither to the design nor to the outcome.
func Notes() (names []string) {
	for _, c := range slices.Concat(before(nil), after(), annotations()) {
		if c.Name != ValueColumn && c.Name != StateColumn {
			names = append(names, c.Name)
		}
	}
	return append(names, lastStepColumn, lastValueColumn, frontColumn)
}

// MetricColumns returns a column for each metric that any trial has.
func MetricColumns(trials []strategy.Trial) []Column {
	return outcomeColumns(MetricPrefix, trials, func(o strategy.Outcome) map[string]float64 { return o.Metrics }, exact)
}

// outcomeColumns returns one column for each name in a map of the outcomes, such as their
// constraints or metrics.
func outcomeColumns[V any](prefix string, trials []strategy.Trial, of func(strategy.Outcome) map[string]V, text func(V) string) []Column {
	return namedColumns(prefix, trials, func(t strategy.Trial) map[string]V {
		if t.Outcome == nil {
			return nil
		}
		return of(*t.Outcome)
	}, text)
}

// namedColumns returns one column for each name in a map of the trials.
func namedColumns[V any](prefix string, trials []strategy.Trial, held func(strategy.Trial) map[string]V, text func(V) string) []Column {
	names := map[string]bool{}
	for _, t := range trials {
		for name := range held(t) {
			names[name] = true
		}
	}
	var columns []Column
	for _, name := range slices.Sorted(maps.Keys(names)) {
		columns = append(columns, Column{prefix + name, func(t strategy.Trial) string {
			if v, ok := held(t)[name]; ok {
				return text(v)
			}
			return ""
		}})
	}
	return columns
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
