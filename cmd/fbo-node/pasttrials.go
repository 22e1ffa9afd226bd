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

const valueColumn = "value"

// historyColumns may stand in a CSV file beside the parameters, so that what
// history writes can be imported.
func historyColumns() []string {
	return []string{"trial", "state", "source", "peer", "started", "finished", "reason"}
}

// readPastTrials reads a file of past trials. CSV: a header with the names of
// the parameters and "value". JSON: an array of objects, either flat in the same
// way, or as history --format json writes them. Rows without a value (failed
// trials) are left out.
func readPastTrials(path string, space *task.Space) ([]agent.Past, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	var past []agent.Past
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		past, err = parsePastCSV(data, space)
	case ".json":
		past, err = parsePastJSON(data, space)
	default:
		return nil, fmt.Errorf("import: %s: accepted are files named .csv and .json", path)
	}
	if err != nil {
		return nil, fmt.Errorf("import: %s: %w", path, err)
	}
	return past, nil
}

func parsePastCSV(data []byte, space *task.Space) ([]agent.Past, error) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty; its first line must name the columns")
	}
	if err != nil {
		return nil, err
	}
	if err := checkHeader(header, space); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var past []agent.Past
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return past, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		fields := map[string]any{}
		for i, name := range header {
			fields[name] = row[i]
		}
		p, ok, err := onePast(fields, space)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if ok {
			past = append(past, p)
		}
	}
}

func checkHeader(header []string, space *task.Space) error {
	missing := map[string]bool{valueColumn: true}
	for _, p := range space.Parameters() {
		missing[p.Name] = true
	}
	seen := map[string]bool{}
	for _, name := range header {
		if seen[name] {
			return fmt.Errorf("column %q stands twice", name)
		}
		seen[name] = true
		if !missing[name] && !slices.Contains(historyColumns(), name) {
			return fmt.Errorf("column %q is neither a parameter nor %q", name, valueColumn)
		}
		delete(missing, name)
	}
	if len(missing) > 0 {
		return fmt.Errorf("columns missing: %s", strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return nil
}

func parsePastJSON(data []byte, space *task.Space) ([]agent.Past, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var rows []map[string]any
	if err := decoder.Decode(&rows); err != nil {
		return nil, fmt.Errorf("%w (accepted is an array of objects)", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the array")
	}
	var past []agent.Past
	for i, row := range rows {
		p, ok, err := onePast(flatten(row), space)
		if err != nil {
			return nil, fmt.Errorf("trial %d: %w", i+1, err)
		}
		if ok {
			past = append(past, p)
		}
	}
	return past, nil
}

// flatten turns a trial as history writes it into a row.
func flatten(row map[string]any) map[string]any {
	parameters, ok := row["parameters"].(map[string]any)
	if !ok {
		return row
	}
	flat := maps.Clone(parameters)
	flat["state"] = row["state"]
	if outcome, ok := row["outcome"].(map[string]any); ok {
		flat[valueColumn] = outcome["value"]
	} else if value, ok := row[valueColumn]; ok {
		flat[valueColumn] = value
	}
	return flat
}

// onePast reads one row; ok is false for a trial without a value.
func onePast(fields map[string]any, space *task.Space) (p agent.Past, ok bool, err error) {
	raw, found := fields[valueColumn]
	state, _ := fields["state"].(string)
	if (!found || raw == "" || raw == nil) && state != "" && state != string(strategy.Done) {
		return agent.Past{}, false, nil
	}
	value, err := toNumber(raw)
	if err != nil {
		return agent.Past{}, false, fmt.Errorf("%s: %w", valueColumn, err)
	}
	design := map[string]any{}
	for _, parameter := range space.Parameters() {
		given, found := fields[parameter.Name]
		if !found {
			continue // ParseDesign names what is missing
		}
		if text, isText := given.(string); isText && parameter.Kind != task.Categorical {
			given = json.Number(strings.TrimSpace(text))
		}
		design[parameter.Name] = given
	}
	if p.Design, err = space.ParseDesign(design); err != nil {
		return agent.Past{}, false, err
	}
	p.Outcome = strategy.Outcome{Value: value}
	return p, true, nil
}

func toNumber(raw any) (float64, error) {
	text := fmt.Sprint(raw)
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if raw == nil || err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%q is not a finite number", text)
	}
	return value, nil
}
