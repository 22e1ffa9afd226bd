package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	valueColumn = "value"
	stateColumn = "state"
)

// historyColumns may stand in a CSV file beside the parameters, so that what
// history writes can be imported.
func historyColumns() []string {
	return []string{"trial", stateColumn, "source", "peer", "started", "finished", "reason"}
}

// readPastTrials reads a file of past trials. CSV: a header with the names of
// the parameters and "value". JSON: an array of objects, either flat in the same
// way, or as history --format json writes them. Rows without a value (failed
// trials) are left out.
func readPastTrials(path string, space *task.Space) (past []agent.Past, err error) {
	err = readRows("import", path, space, true, addPast(&past, space))
	return past, err
}

// addPast takes rows of past trials.
func addPast(past *[]agent.Past, space *task.Space) func(pastRow) error {
	return func(r pastRow) error {
		parsed, ok, err := r.parse(space)
		if ok {
			*past = append(*past, parsed)
		}
		return err
	}
}

// readDesigns reads a file of designs: as one of past trials, but that values
// may be missing and count for nothing.
func readDesigns(purpose, path string, space *task.Space) (designs []task.Design, err error) {
	err = readRows(purpose, path, space, false, func(r pastRow) error {
		design, err := r.parseDesign(space)
		designs = append(designs, design)
		return err
	})
	return designs, err
}

// readRows hands over the rows of a file, in order. An error names the purpose,
// the file and the row.
func readRows(purpose, path string, space *task.Space, values bool, take func(pastRow) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		err = parseCSV(data, space, values, take)
	case ".json":
		err = parseJSON(data, space, take)
	default:
		return fmt.Errorf("%s: %s: accepted are files named .csv and .json", purpose, path)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", purpose, path, err)
	}
	return nil
}

func parseCSV(data []byte, space *task.Space, values bool, take func(pastRow) error) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // spreadsheets write this mark
	reader := csv.NewReader(bytes.NewReader(data))
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty; its first line must name the columns")
	}
	if err != nil {
		return err
	}
	if err := checkHeader(header, space, values); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := reader.FieldPos(0)
		if err := take(rowOfColumns(header, row, space)); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func checkHeader(header []string, space *task.Space, values bool) error {
	missing := map[string]bool{}
	if values {
		missing[valueColumn] = true
	}
	for _, p := range space.Parameters() {
		missing[p.Name] = true
	}
	if isParameter(space, valueColumn) {
		return errValueIsParameter
	}
	seen := map[string]bool{}
	for _, name := range header {
		if seen[name] {
			return fmt.Errorf("column %q stands twice", name)
		}
		seen[name] = true
		if !missing[name] && name != valueColumn && !slices.Contains(historyColumns(), name) && !strings.HasPrefix(name, metricPrefix) {
			return fmt.Errorf("column %w", unknownColumn(name))
		}
		delete(missing, name)
	}
	if len(missing) > 0 {
		return fmt.Errorf("columns missing: %s", strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return nil
}

func parseJSON(data []byte, space *task.Space, take func(pastRow) error) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the file is empty; accepted is an array of objects")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var rows []map[string]any
	if err := decoder.Decode(&rows); err != nil {
		return notRows(data, err)
	}
	if rows == nil { // the file says null
		return errors.New("accepted is an array of objects")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the array")
	}
	for i, fields := range rows {
		r, err := rowOfObject(fields, space)
		if err == nil {
			err = take(r)
		}
		if err != nil {
			return fmt.Errorf("trial %d: %w", i+1, err)
		}
	}
	return nil
}

// notRows says in the user's words why a file is no array of objects.
func notRows(data []byte, err error) error {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType):
		return errors.New("accepted is an array of objects")
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(data[:min(syntax.Offset, int64(len(data)))], []byte("\n"))
		return fmt.Errorf("line %d: not valid JSON: %w", line, err)
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// errValueIsParameter: a flat row could not say which of the two it means.
var errValueIsParameter = fmt.Errorf("the task has a parameter named %q; accepted is only what `history --format json` writes", valueColumn)

// pastRow is one row of a file, not yet checked.
type pastRow struct {
	design      map[string]any
	state       string
	value       any // nil or "" when there is none
	constraints map[string]any
	metrics     map[string]any
}

// rowOfColumns reads a line of a CSV file. A column named like a parameter is
// the parameter.
func rowOfColumns(header, fields []string, space *task.Space) pastRow {
	row := pastRow{design: map[string]any{}, metrics: map[string]any{}}
	for i, name := range header {
		switch {
		case isParameter(space, name):
			row.design[name] = fields[i]
		case name == valueColumn:
			row.value = fields[i]
		case name == stateColumn:
			row.state = fields[i]
		case strings.HasPrefix(name, metricPrefix):
			row.metrics[strings.TrimPrefix(name, metricPrefix)] = fields[i]
		}
	}
	return row
}

// rowOfObject reads an object: flat, as a line of a CSV file, or a trial as
// history writes it.
func rowOfObject(fields map[string]any, space *task.Space) (pastRow, error) {
	design, nested := fields["parameters"].(map[string]any)
	row := pastRow{design: design, metrics: map[string]any{}}
	if !nested && isParameter(space, valueColumn) {
		return row, errValueIsParameter
	}
	if !nested {
		row.design = map[string]any{}
	}
	for name, value := range fields {
		switch {
		case !nested && isParameter(space, name):
			row.design[name] = value
		case name == valueColumn:
			row.value = value
		case name == stateColumn:
			row.state, _ = value.(string)
		case !nested && strings.HasPrefix(name, metricPrefix):
			row.metrics[strings.TrimPrefix(name, metricPrefix)] = value
		case !nested && !slices.Contains(historyColumns(), name):
			return row, unknownColumn(name)
		}
	}
	for name := range design {
		if nested && !isParameter(space, name) {
			return row, unknownColumn(name)
		}
	}
	if outcome, ok := fields["outcome"].(map[string]any); ok && nested {
		row.value = outcome["value"]
		row.constraints, _ = outcome["constraints"].(map[string]any)
		row.metrics, _ = outcome["metrics"].(map[string]any)
	}
	return row, nil
}

func isParameter(space *task.Space, name string) bool {
	return slices.ContainsFunc(space.Parameters(), func(p task.Parameter) bool { return p.Name == name })
}

func unknownColumn(name string) error {
	return fmt.Errorf("%q is neither a parameter nor %q", name, valueColumn)
}

// parse reads one row; ok is false for a trial without a value.
func (r pastRow) parse(space *task.Space) (p agent.Past, ok bool, err error) {
	if (r.value == nil || r.value == "") && r.state != "" && r.state != string(strategy.Done) {
		return agent.Past{}, false, nil
	}
	if p.Outcome.Value, err = toNumber(r.value); err != nil {
		return agent.Past{}, false, fmt.Errorf("%s: %w", valueColumn, err)
	}
	for name, raw := range r.constraints {
		if p.Outcome.Constraints == nil {
			p.Outcome.Constraints = map[string]float64{}
		}
		if p.Outcome.Constraints[name], err = toNumber(raw); err != nil {
			return agent.Past{}, false, fmt.Errorf("constraint %q: %w", name, err)
		}
	}
	if p.Outcome.Metrics, err = parseMetrics(r.metrics); err != nil {
		return agent.Past{}, false, err
	}
	p.Design, err = r.parseDesign(space)
	return p, err == nil, err
}

func (r pastRow) parseDesign(space *task.Space) (task.Design, error) {
	for _, parameter := range space.Parameters() {
		if text, isText := r.design[parameter.Name].(string); isText && parameter.Kind != task.Categorical {
			r.design[parameter.Name] = json.Number(strings.TrimSpace(text))
		}
	}
	return space.ParseDesign(r.design)
}

func toNumber(raw any) (float64, error) {
	if raw == nil || raw == "" {
		return 0, errors.New("missing")
	}
	text := fmt.Sprint(raw)
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%q is not a finite number", text)
	}
	return value, nil
}
