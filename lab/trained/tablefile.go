package trained

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/task"
)

// Default names of columns. Keys of the family or parameters of the task may change them. The
// command `fbo-node history --format csv` writes the last two.
const (
	memberColumn = "member"
	valueColumn  = "value"
	stateColumn  = "state"
)

// maxTable is the largest size of a table in bytes, after decompression.
const maxTable = 128 << 20

// constraintPrefix may precede the name of a constraint in the name of its column.
const constraintPrefix = "constraint."

// minDesigns is the smallest number of designs of a member; with fewer there is nothing to choose.
const minDesigns = 2

// layout describes the columns of a table.
type layout struct {
	task          *task.Task
	member        string // "" means memberColumn, if the table has that column
	value         string
	standardError string // "" means none
	curve         string // columns of values by step begin with this; "" means none
}

// measurer is one member of a table.
type measurer struct {
	name          string
	points        []*point // one for each different design, in the order of the table
	byDesign      map[string]*point
	errors, times float64 // sum of the squares of standard errors, and their number
}

// point is a design with the means of its measured values. Boolean constraints count as 1 or 0.
type point struct {
	values      []task.Value
	u           []float64 // encoded
	value       float64
	constraints []float64
	curve       curves.Curve
	times       float64 // number of measurements
}

// cells holds the parsed values of one row.
type cells struct {
	member        string
	values        []task.Value
	value         float64
	constraints   []float64
	standardError float64
	curve         curves.Curve
	result        bool
}

// read returns the members in all files, in the order in which they first occur.
func (l layout) read(files []string) ([]*measurer, error) {
	var all []*measurer
	named := map[string]*measurer{}
	ofFile := map[string]string{} // for members that are named after their file, the path of that file
	for _, path := range files {
		own := stem(filepath.Base(path))
		err := l.readFile(path, func(c cells, hasMember bool) error {
			if !hasMember {
				c.member = own
				if other, ok := ofFile[own]; named[own] != nil && (!ok || other != path) {
					return fmt.Errorf("a file without a column of members is one member, named by the file, and there is another member %q", own)
				}
				ofFile[own] = path
			} else if other, ok := ofFile[c.member]; ok {
				return fmt.Errorf("the member %q is the file %s already", c.member, other)
			}
			m := named[c.member]
			if m == nil {
				m = &measurer{name: c.member, byDesign: map[string]*point{}}
				named[c.member], all = m, append(all, m)
			}
			if c.result {
				m.add(c, l.task.Space)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, m := range all {
		if n := len(m.points); n < minDesigns {
			return nil, fmt.Errorf("member %q has results of %d designs; accepted: %d and more", m.name, n, minDesigns)
		}
		if math.IsNaN(m.optimum(l.task)) {
			return nil, fmt.Errorf("member %q: none of its %d designs keeps the constraints, so that there is no regret; accepted: members with a feasible design", m.name, len(m.points))
		}
	}
	return all, nil
}

// readFile calls take for each row of a file.
func (l layout) readFile(path string, take func(c cells, hasMember bool) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	if head, _ := r.Peek(2); string(head) != "\x1f\x8b" {
		return l.readRows(r, take)
	}
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	return l.readRows(unzipped, take)
}

// readRows calls take for each row of a CSV whose first line has the names of columns. Errors name
// the line, counted from 1.
func (l layout) readRows(r io.Reader, take func(c cells, hasMember bool) error) error {
	buffered := bufio.NewReader(r)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" { // byte order mark, which spreadsheets write
		_, _ = buffered.Discard(3)
	}
	reader := bounded.NewCSV(buffered, maxTable)
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if err == io.EOF {
		return errors.New("the file is empty; its first line must name the columns")
	}
	if err != nil {
		return err
	}
	c, err := l.columns(header)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	rows := 0
	for ; ; rows++ {
		record, err := reader.Read()
		if err == io.EOF {
			break
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d: it has %d cells; accepted: %d, as many as line 1", line, len(record), len(header))
		}
		if err != nil {
			return err
		}
		row, err := c.parse(record)
		if err == nil {
			err = take(row, c.member >= 0)
		}
		if err != nil {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if rows == 0 {
		return errors.New("there is no row below the names of columns")
	}
	return nil
}

// columns holds the index of each column in a row; -1 if the table does not have it.
type columns struct {
	task                                *task.Task
	member, value, standardError, state int
	parameters, constraints             []int
	steps                               []int    // indices of the columns of values by step
	stepNumbers                         []uint64 // their steps, ascending
}

func (l layout) columns(header []string) (columns, error) {
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	c := columns{task: l.task, member: -1, standardError: -1, state: -1}
	parameters := l.task.Space.Parameters()
	var err error
	find := func(name string) (at int) {
		at = slices.Index(header, name)
		switch {
		case err != nil:
		case at < 0:
			err = fmt.Errorf("there is no column %q; the columns are %s", name, strings.Join(header, ", "))
		case slices.Contains(header[at+1:], name):
			err = fmt.Errorf("column %q stands twice", name)
		}
		return at
	}
	isParameter := func(name string) bool {
		return slices.ContainsFunc(parameters, func(p task.Parameter) bool { return p.Name == name })
	}
	for _, name := range []string{l.member, l.value, l.standardError} {
		if name != "" && isParameter(name) {
			return c, fmt.Errorf("%q is a parameter of the task and cannot be another column as well; the keys member, value and standard_error name others", name)
		}
	}
	there := func(name string) bool { return !isParameter(name) && slices.Contains(header, name) }
	for _, p := range parameters {
		c.parameters = append(c.parameters, find(p.Name))
	}
	c.value = find(l.value)
	for _, constraint := range l.task.Constraints {
		name := constraintPrefix + string(constraint.Output)
		if !there(name) {
			name = string(constraint.Output)
		}
		c.constraints = append(c.constraints, find(name))
	}
	if l.standardError != "" {
		c.standardError = find(l.standardError)
	}
	if l.member != "" {
		c.member = find(l.member)
	} else if there(memberColumn) {
		c.member = find(memberColumn)
	}
	if there(stateColumn) {
		c.state = find(stateColumn)
	}
	if err == nil && l.curve != "" {
		err = c.findSteps(l.curve, header)
	}
	return c, err
}

// findSteps finds the columns of values by step, which must be in the order of the steps.
func (c *columns) findSteps(prefix string, header []string) error {
	for i, name := range header {
		text, ok := strings.CutPrefix(name, prefix)
		step, err := strconv.ParseUint(text, 10, 64)
		if !ok || err != nil {
			continue
		}
		if n := len(c.stepNumbers); n > 0 && step <= c.stepNumbers[n-1] {
			return fmt.Errorf("column %q follows step %d; expected increasing steps", name, c.stepNumbers[n-1])
		}
		c.steps, c.stepNumbers = append(c.steps, i), append(c.stepNumbers, step)
	}
	if len(c.steps) == 0 {
		return fmt.Errorf("no column begins with %q and ends with a step; the columns are %s", prefix, strings.Join(header, ", "))
	}
	return nil
}

// curve parses the values by step. Empty cells at the end mean that the evaluation was shorter.
func (c columns) curve(record []string) (curve curves.Curve, err error) {
	for i, at := range c.steps {
		if strings.TrimSpace(record[at]) == "" {
			break
		}
		value, err := number(record[at])
		if err != nil {
			return nil, fmt.Errorf("the value of step %d %w", c.stepNumbers[i], err)
		}
		curve = append(curve, curves.Step{Step: c.stepNumbers[i], Value: value})
	}
	if err := curve.Check(); err != nil {
		return nil, err
	}
	if len(c.steps) > 0 && len(curve) == 0 {
		return nil, errors.New("there is no value by step")
	}
	return curve, nil
}

// parse parses a row. If the column for the state explains a missing value, the row has no result.
func (c columns) parse(record []string) (row cells, err error) {
	if c.member >= 0 {
		if row.member = strings.TrimSpace(record[c.member]); row.member == "" {
			return row, errors.New("there is no member; accepted: the name of one")
		}
	}
	if value := strings.TrimSpace(record[c.value]); value == "" && c.state >= 0 && record[c.state] != "" && record[c.state] != "done" {
		return row, nil
	}
	if row.value, err = number(record[c.value]); err != nil {
		return row, fmt.Errorf("the value %w", err)
	}
	for i, p := range c.task.Space.Parameters() {
		v, err := c.task.Space.ParseValue(p.Name, record[c.parameters[i]])
		if err != nil {
			return row, plainly(err)
		}
		row.values = append(row.values, v)
	}
	if _, err := c.task.Space.NewDesign(row.values...); err != nil { // the task may list its designs
		return row, plainly(err)
	}
	for i, constraint := range c.task.Constraints {
		value, err := reading(constraint, record[c.constraints[i]])
		if err != nil {
			return row, fmt.Errorf("constraint %q %w", constraint.Output, err)
		}
		row.constraints = append(row.constraints, value)
	}
	if c.standardError >= 0 {
		if row.standardError, err = number(record[c.standardError]); err == nil && row.standardError < 0 {
			err = fmt.Errorf("is %g; accepted: 0 and more", row.standardError)
		}
		if err != nil {
			return row, fmt.Errorf("the standard error %w", err)
		}
	}
	if row.curve, err = c.curve(record); err != nil {
		return row, err
	}
	row.result = true
	return row, nil
}

// plainly returns an error of package task without the name of the package.
func plainly(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "task: ")) }

// maxValue is the largest absolute value that is accepted, so that squares do not overflow.
const maxValue = 1e100

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(math.Abs(v) <= maxValue) {
		return 0, fmt.Errorf("is %q; accepted: a number from %g to %g", text, -maxValue, maxValue)
	}
	return v + 0, nil
}

func reading(c task.Constraint, text string) (float64, error) {
	if !c.Truth {
		return number(text)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return 0, fmt.Errorf("is %q; accepted: true or false", text)
}

// add adds a measurement. If a design is measured several times, its point has the mean.
func (m *measurer) add(c cells, space *task.Space) {
	design, err := space.NewDesign(c.values...)
	if err != nil {
		panic(err) // unexpected: parse has accepted the design
	}
	u := space.Encode(design)
	p := m.at(u)
	if p == nil {
		p = &point{values: design.Values(), u: u, constraints: make([]float64, len(c.constraints))}
		m.points, m.byDesign[placeOf(u)] = append(m.points, p), p
	}
	p.times, p.curve = p.times+1, c.curve // of several measurements the last
	p.value += (c.value - p.value) / p.times
	for i, v := range c.constraints {
		p.constraints[i] += (v - p.constraints[i]) / p.times
	}
	m.errors, m.times = m.errors+c.standardError*c.standardError, m.times+1
}

// at returns the point of an encoded design; nil if the design was not measured.
func (m *measurer) at(u []float64) *point { return m.byDesign[placeOf(u)] }

func placeOf(u []float64) string {
	var place strings.Builder
	for _, x := range u {
		place.WriteString(strconv.FormatFloat(x, 'x', -1, 64))
		place.WriteByte(' ')
	}
	return place.String()
}

func (m *measurer) sameDesigns(other *measurer) bool {
	return len(m.points) == len(other.points) &&
		!slices.ContainsFunc(m.points, func(p *point) bool { return other.at(p.u) == nil })
}

// rows returns the designs in the form that task.NewListed accepts.
func (m *measurer) rows() [][]task.Value {
	rows := make([][]task.Value, len(m.points))
	for i, p := range m.points {
		rows[i] = p.values
	}
	return rows
}

// measurements returns all fields except the functions.
func (m *measurer) measurements(t *task.Task) measurements {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range m.points {
		low, high = min(low, p.value), max(high, p.value)
	}
	return measurements{name: m.name, optimum: m.optimum(t), width: high - low, standardError: math.Sqrt(m.errors / m.times)}
}

// optimum returns the best value among the designs that satisfy the constraints, or NaN if none
// does.
func (m *measurer) optimum(t *task.Task) float64 {
	best := math.NaN()
	for _, p := range m.points {
		feasible := true
		for i, c := range t.Constraints {
			feasible = feasible && c.Keeps(p.constraints[i])
		}
		if feasible && !(t.Goal.Sign()*(p.value-best) <= 0) {
			best = p.value
		}
	}
	return best
}
