package trialfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ReadDesigns reads a file of designs. It is like one of past trials, but values are optional and
// ignored.
func ReadDesigns(purpose, path string, space *task.Space) (designs []task.Design, err error) {
	err = readRows(purpose, path, space, false, func(r pastRow) error {
		design, err := r.parseDesign(space)
		designs = append(designs, design)
		return err
	})
	return designs, err
}

// readRows passes on the rows of a file, in order. An error names the purpose, the file and the
// row.
func readRows(purpose, path string, space *task.Space, values bool, take func(pastRow) error) error {
	return columns{space: space, purpose: purpose}.read(path, values, take)
}

// maxPast is the maximum size of a file of trials in bytes, the same as for a request over HTTP.
const maxPast = 32 << 20

// read accepts CSV and JSON. CSV has a header with the names of the parameters and "value". JSON is
// an array of objects, either flat with the same names or as history --format json writes them, or
// an object with such an array in "trials", as export writes it. It recognises Optuna's data frames
// by their columns. A file named .log is a journal of Optuna.
func (c columns) read(path string, values bool, take func(pastRow) error) error {
	data, err := bounded.ReadFile(path, maxPast)
	if err != nil {
		return fmt.Errorf("%s: %w", c.purpose, err)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		err = c.readCSV(data, values, take)
	case ".json":
		err = c.readJSON(data, take)
	case ".log":
		err = c.readJournal(data, values, take)
	default:
		return fmt.Errorf("%s: %s: expected files named .csv, .json or .log", c.purpose, path)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.purpose, path, err)
	}
	return nil
}

func (c columns) readCSV(data []byte, values bool, take func(pastRow) error) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // byte order mark of spreadsheets
	reader := bounded.NewCSV(bytes.NewReader(data), maxPast)
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty; its first line must name the columns")
	}
	if err != nil {
		return err
	}
	meanings, err := c.meanings(header, values)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := reader.FieldPos(0)
		row := c.newRow(fmt.Sprintf("line %d", line), header)
		for i, m := range meanings {
			row.put(m, header[i], fields[i])
		}
		if err := take(row); err != nil {
			return fmt.Errorf("%s: %w", row.place, err)
		}
	}
}

func (c columns) readJSON(data []byte, take func(pastRow) error) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("the file is empty; %w", errNoRows)
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(new(json.RawMessage)); err != nil {
		return notRows(data, err) // before any row
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	begin, err := decoder.Token()
	switch {
	case err != nil:
		return notRows(data, err)
	case begin == json.Delim('['):
		err = c.readObjects(decoder, data, take)
	case begin == json.Delim('{'):
		err = c.readMember(decoder, data, take)
	default:
		return errNoRows
	}
	if err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the array")
	}
	return nil
}

var errNoRows = errors.New("expected an array of objects")

// readMember reads the array of the key trials, and skips the other keys of an object.
func (c columns) readMember(decoder *json.Decoder, data []byte, take func(pastRow) error) error {
	found := false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return notRows(data, err)
		}
		if key != "trials" {
			var skipped json.RawMessage
			if err := decoder.Decode(&skipped); err != nil {
				return notRows(data, err)
			}
			continue
		}
		if begin, err := decoder.Token(); err != nil {
			return notRows(data, err)
		} else if begin != json.Delim('[') {
			return errNoRows
		}
		if err := c.readObjects(decoder, data, take); err != nil {
			return err
		}
		found = true
	}
	if _, err := decoder.Token(); err != nil { // the end of the object
		return notRows(data, err)
	}
	if !found {
		return errNoRows
	}
	return nil
}

// readObjects reads an array whose beginning has been read, one object after the other: many small
// objects at once would take much more memory than their text.
func (c columns) readObjects(decoder *json.Decoder, data []byte, take func(pastRow) error) error {
	for i := 1; decoder.More(); i++ {
		var fields map[string]any
		if err := decoder.Decode(&fields); err != nil {
			return notRows(data, err)
		}
		row, err := c.rowOfObject(fmt.Sprintf("trial %d", i), fields)
		if err == nil {
			err = take(row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", row.place, err)
		}
	}
	if _, err := decoder.Token(); err != nil { // the end of the array
		return notRows(data, err)
	}
	return nil
}

// notRows returns an error that describes in the user's terms why a file is no array of objects.
func notRows(data []byte, err error) error {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType):
		return errNoRows
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(data[:min(syntax.Offset, int64(len(data)))], []byte("\n"))
		return fmt.Errorf("line %d: not valid JSON: %w", line, err)
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// errValueIsParameter: a flat row would be ambiguous between the two.
var errValueIsParameter = fmt.Errorf("the task has a parameter named %q; expected only what `history --format json` and `export --format json` write", valueColumn)

// pastRow is one row of a file, not yet checked.
type pastRow struct {
	place       string            // position in the file, for errors
	design      map[string]any    // values of the file, or defaults
	columns     map[string]string // where the file has a parameter
	state       string
	study       bool // the states are Optuna's
	value       any  // nil or "" when there is none
	cost        any  // nil when there is none
	constraints map[string]any
	metrics     map[string]any
	annotations strategy.Annotations
	curve       curveRow
	fromZero    bool // steps of Optuna's columns begin with 0
}

func (c columns) newRow(place string, names []string) pastRow {
	row := pastRow{
		place: place, design: map[string]any{}, columns: map[string]string{}, constraints: map[string]any{}, metrics: map[string]any{},
		study: isStudy(names), fromZero: slices.Contains(names, intermediatePrefix+"0"),
	}
	row.curve.study = row.study
	for name, v := range c.defaults {
		row.design[name] = v
	}
	return row
}

// put stores the content of a column. An empty cell leaves a default, if there is one.
func (r *pastRow) put(m meaning, column string, cell any) {
	if cell == nil || cell == "" {
		return
	}
	switch m.what {
	case aParameter:
		r.design[m.name], r.columns[m.name] = cell, column
	case aValue:
		r.value = cell
	case aState:
		r.state, _ = cell.(string)
	case aCost:
		r.cost = cell
	case aConstraint:
		r.constraints[m.name] = cell
	case aMetric:
		r.metrics[m.name] = cell
	case anAttribute:
		if r.annotations.Attributes == nil {
			r.annotations.Attributes = map[string]string{}
		}
		r.annotations.Attributes[m.name] = fmt.Sprint(cell)
	case theSteps:
		r.curve.steps = cell
	case aStop:
		r.curve.putStop(m.name, cell)
	case anIntermediate:
		step, _ := strconv.ParseUint(m.name, 10, 63) // checked by columns.inStudy
		if r.fromZero {
			step++
		}
		r.curve.putIntermediate(step, cell)
	}
}

// rowOfObject reads an object: flat, as a line of a CSV file, or a trial as
// history writes it.
func (c columns) rowOfObject(place string, fields map[string]any) (pastRow, error) {
	design, nested := fields["parameters"].(map[string]any)
	if !nested {
		design = fields
	}
	names := slices.Sorted(maps.Keys(design))
	row := c.newRow(place, names)
	if !nested && isParameter(c.space, valueColumn) && !row.study {
		return row, errValueIsParameter
	}
	for _, name := range names {
		m, err := c.of(name, names)
		if nested && m.what != aParameter && !slices.Contains(c.ignored, name) && err == nil {
			err = fmt.Errorf("%q is no parameter of the task", name)
		}
		if err != nil {
			return row, err
		}
		row.put(m, name, design[name])
	}
	if nested {
		row.state, _ = fields[stateColumn].(string)
		var err error
		if row.annotations, err = annotationsOf(fields); err != nil {
			return row, err
		}
		row.put(meaning{what: aCost}, "", fields[costColumn])
		row.put(meaning{what: theSteps}, "", fields["steps"])
		stop, _ := fields["stop"].(map[string]any)
		for _, key := range stopKeys {
			row.put(meaning{aStop, key}, "", stop[key])
		}
	}
	if outcome, ok := fields["outcome"].(map[string]any); ok && nested {
		row.put(meaning{what: aValue}, "", outcome["value"])
		for key, what := range map[string]what{"constraints": aConstraint, "metrics": aMetric} {
			numbers, _ := outcome[key].(map[string]any)
			for name, v := range numbers {
				row.put(meaning{what, name}, "", v)
			}
		}
	}
	return row, nil
}

// annotationsOf returns the annotations of a trial as history writes it.
func annotationsOf(fields map[string]any) (of strategy.Annotations, err error) {
	given := map[string]any{}
	for _, key := range []string{"attributes", "tags", "files", "notes"} {
		if v, ok := fields[key]; ok {
			given[key] = v
		}
	}
	if len(given) == 0 {
		return of, nil
	}
	data, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(data, &of)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return of, fmt.Errorf("%s: %s; expected what history --format json writes", wrong.Field, wrong.Value)
	}
	return of, err
}

// failed reports whether the row is a failed trial, in this program's terms or Optuna's.
func (r pastRow) failed() bool {
	if r.study {
		return r.state == "FAIL"
	}
	return r.state == string(strategy.Failed)
}

// parse reads one row; ok is false for a trial without a result. The design's error
// is an outsideError.
func (r pastRow) parse(space *task.Space) (p agent.Past, ok bool, err error) {
	const complete = "COMPLETE" // Optuna's term; its pruned trials have a value too, which is not the result
	if p.Steps, err = r.curve.curve(); err != nil {
		return agent.Past{}, false, err
	}
	if r.curve.stopped(r.state) {
		return r.parseStopped(space, p.Steps)
	}
	if r.study && r.state != complete || r.value == nil && r.state != "" && r.state != string(strategy.Done) && r.state != complete {
		return agent.Past{}, false, nil
	}
	if p.Stop, err = r.curve.decisionBefore(p.Steps); err != nil {
		return agent.Past{}, false, err
	}
	if p.Outcome.Value, err = toNumber(r.value); err != nil {
		return agent.Past{}, false, fmt.Errorf("%s: %w", valueColumn, err)
	}
	if p.Outcome.Constraints, err = toReadings(r.constraints); err != nil {
		return agent.Past{}, false, err
	}
	if p.Outcome.Metrics, err = parseMetrics(r.metrics); err != nil {
		return agent.Past{}, false, err
	}
	return r.parseRest(space, p)
}

// parseStopped reads a trial that was stopped early. Without values by step it has no result.
func (r pastRow) parseStopped(space *task.Space, curve curves.Curve) (p agent.Past, ok bool, err error) {
	if len(curve) == 0 {
		return p, false, nil
	}
	p.Steps, p.Stopped = curve, true
	if p.Stop, err = r.curve.decision(curve); err != nil {
		return p, false, err
	}
	return r.parseRest(space, p)
}

// parseFailed reads a failed trial. The design's error is an outsideError.
func (r pastRow) parseFailed(space *task.Space) (p agent.Past, err error) {
	if p.Steps, err = r.curve.curve(); err != nil {
		return p, err
	}
	if p.Stop, err = r.curve.decisionBefore(p.Steps); err != nil {
		return p, err
	}
	p.Failed = "as imported"
	p, _, err = r.parseRest(space, p)
	return p, err
}

// parseRest reads cost, annotations and design.
func (r pastRow) parseRest(space *task.Space, p agent.Past) (_ agent.Past, ok bool, err error) {
	if _, err = strategy.Adding(r.annotations).Apply(strategy.Annotations{}, time.Time{}); err != nil {
		return agent.Past{}, false, err
	}
	p.Outcome.Annotations = r.annotations
	if r.cost != nil {
		cost, err := toNumber(r.cost)
		if err == nil {
			err = strategy.CheckCost(&cost)
		}
		if err != nil {
			return agent.Past{}, false, fmt.Errorf("%s: %w", costColumn, err)
		}
		p.Outcome.Cost = &cost
	}
	p.Design, err = r.parseDesign(space)
	return p, err == nil, err
}

// outsideError is the reason why a row is no design of the space.
type outsideError struct{ error }

func (r pastRow) parseDesign(space *task.Space) (task.Design, error) {
	design := maps.Clone(r.design)
	for name, cell := range design {
		text, isText := cell.(string)
		if !isText {
			continue
		}
		v, err := space.ParseValue(name, text)
		if err != nil {
			return task.Design{}, r.outside(name, err)
		}
		design[name] = v
	}
	d, err := space.ParseDesign(design)
	for inactive := (*task.ActivityError)(nil); errors.As(err, &inactive); d, err = space.ParseDesign(design) {
		if _, given := r.columns[inactive.Parameter]; given || !inactive.Inactive {
			return task.Design{}, r.outside(inactive.Parameter, err)
		}
		delete(design, inactive.Parameter) // a default, which does not apply here
	}
	if err != nil {
		return task.Design{}, outsideError{err}
	}
	return d, nil
}

// outside adds the name of the column if there is one and it differs from the parameter's.
func (r pastRow) outside(name string, err error) error {
	if column, ok := r.columns[name]; ok && column != name {
		err = fmt.Errorf("column %q: %w", column, err)
	}
	return outsideError{err}
}

// toReadings returns nil if there are none.
func toReadings(raw map[string]any) (map[string]task.Reading, error) {
	var all map[string]task.Reading
	for name, given := range raw {
		reading, err := toReading(given)
		if err != nil {
			return nil, fmt.Errorf("constraint %q: %w", name, err)
		}
		if all == nil {
			all = map[string]task.Reading{}
		}
		all[name] = reading
	}
	return all, nil
}

// toReading accepts true and false, which pandas writes as True and False, and numbers.
func toReading(raw any) (task.Reading, error) {
	switch strings.ToLower(fmt.Sprint(raw)) {
	case "true":
		return task.Truth(true), nil
	case "false":
		return task.Truth(false), nil
	}
	v, err := toNumber(raw)
	return task.Number(v), err
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
