package trained

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// Values of the key designs.
const (
	onGrid = "grid"
	listed = "listed"
)

func tableKind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name:  "table",
			About: "what was measured before, on any task, by members with tables of their own; the goal is that of the task file",
			Keys: []family.Key{
				{Name: "task", Type: family.Text, Meaning: "task file with the goal, parameters and constraints, whose other sections do not count; required"},
				{Name: "file", Type: family.Text, Meaning: "CSV, perhaps compressed by gzip, with a column for each parameter and each constraint; or several, separated by semicolons, or a folder of them; required"},
				{Name: "member", Type: family.Text, Meaning: "the column that names the member that measured; by default " + memberColumn + ", and a file without it is one member, named by the file"},
				{Name: "value", Type: family.Text, Default: valueColumn, Meaning: "the column of the objective"},
				{Name: "standard_error", Type: family.Text, Meaning: "a column with the standard error of each value: its root mean square, for each member, adds to the noise; by default nothing does"},
				{Name: "designs", Type: family.Choice, Choices: []string{onGrid, listed},
					Meaning: "grid: values between the measured designs are interpolated linearly; listed: there are no designs between them; by default grid where all members have a full one and nothing is constrained"},
				{Name: "curve", Type: family.Text, Meaning: "columns whose names begin with this text and end with a number have the values by step; then designs must be listed; by default there are none"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:       buildTable,
		Constraints: func(v family.Values) []task.Constraint { return taskOf(v).Constraints },
		Floor:       measuredFloor,
		Content:     contentOfTable,
	}
}

func buildTable(v family.Values) (*task.Space, family.DrawFunc, error) {
	t, err := taskOfTable(v)
	if err != nil {
		return nil, nil, err
	}
	files, err := filesOfTable(v)
	if err != nil {
		return nil, nil, err
	}
	layout := layout{task: t, member: v.Text("member"), value: v.Text("value"), standardError: v.Text("standard_error"), curve: v.Text("curve")}
	way := v.Choice("designs")
	if layout.curve != "" { // curves are not interpolated
		if way == onGrid {
			return nil, nil, errors.New("key designs is grid; expected listed with the key curve")
		}
		way = listed
	}
	members, err := layout.read(files)
	if err != nil {
		return nil, nil, fmt.Errorf("key file: %w", err)
	}
	space, measured, err := measure(t, members, way)
	if err != nil {
		return nil, nil, fmt.Errorf("key file: %w", err)
	}
	return space, func(seed random.Seed, agents int) (family.Federation, error) {
		if agents > len(measured) {
			return family.Federation{}, fmt.Errorf("table: %d agents; the table has %d members, each of which is one agent", agents, len(measured))
		}
		drawn := make([]measurements, agents)
		objectives := make([]objective, agents)
		for k, n := range seed.Stream("members", 0).Perm(len(measured))[:agents] {
			drawn[k] = measured[n]
			objectives[k] = objective{drawn[k].value, func() float64 { return drawn[k].optimum }}
		}
		f := assemble(space, t.Goal, v, objectives)
		f.Constraints = t.Constraints
		for k := range f.Members {
			m, from := &f.Members[k], drawn[k]
			m.Objective.Curve, m.Objective.Steps = from.curve, from.steps
			m.Name, m.Space, m.Constraints = from.name, from.space, from.constraints
			m.Objective.Noise = math.Hypot(m.Objective.Noise, from.standardError)
			if len(t.Constraints) > 0 {
				m.Objective.Range = math.NaN()
				if m.Counts {
					m.Objective.Range = from.width
				}
			}
		}
		return f, nil
	}, nil
}

// taskOfTable returns the task of the file that the key task names.
func taskOfTable(v family.Values) (*task.Task, error) {
	path := v.Text("task")
	t, err := readTask(path)
	if err != nil {
		return nil, err
	}
	if t.MaxMoves > 0 {
		return nil, fmt.Errorf("key task: %s: nodes move along a graph there (max_moves: %d), and members of a table go anywhere; accepted: a task without max_moves", path, t.MaxMoves)
	}
	return t, nil
}

// filesOfTable returns the paths that the key file names. Files of a folder are in the order of
// their names.
func filesOfTable(v family.Values) ([]string, error) {
	const accepted = "accepted: the path of a CSV, several with semicolons between them, or a folder"
	if v.Text("file") == "" {
		return nil, errors.New("key file is missing; " + accepted)
	}
	var files []string
	for path := range strings.SplitSeq(v.Text("file"), ";") {
		if path = strings.TrimSpace(path); path == "" {
			continue // the empty text after a final semicolon, which lists of settings allow
		}
		path = filepath.Clean(path)
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("key file: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("key file: %w", err)
		}
		before := len(files)
		for _, entry := range entries {
			if name := entry.Name(); !entry.IsDir() && stem(name) != name {
				files = append(files, filepath.Join(path, name))
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("key file: the folder %s has no files named .csv or .csv.gz", path)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("key file is empty; " + accepted)
	}
	for i, path := range files {
		if slices.Contains(files[:i], path) {
			return nil, fmt.Errorf("key file: %s is given twice", path)
		}
	}
	return files, nil
}

// stem returns the name of a table's file without its suffixes.
func stem(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".csv")
}

// contentOfTable returns a digest of the task and of the files. It includes the names of the files,
// because members may be named after them.
func contentOfTable(v family.Values) (string, error) {
	t, err := taskOfTable(v)
	if err != nil {
		return "", err
	}
	files, err := filesOfTable(v)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, t.ID())
	for _, path := range files {
		data, err := bounded.ReadFile(path, maxTable)
		if err != nil {
			return "", fmt.Errorf("key file: %w", err)
		}
		fmt.Fprintf(h, "%q %d\n", filepath.Base(path), len(data)) // the length marks where the next file begins
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// measurements holds one possible member of a federation.
type measurements struct {
	name          string
	space         *task.Space // nil if it is the space of the federation
	value         func(d task.Design) float64
	curve         func(d task.Design) []curves.Step // nil without values by step
	steps         int                               // number of values of the longest curve
	constraints   []family.Measure
	optimum       float64 // the best value among designs that satisfy the constraints
	width         float64 // difference between the largest and the smallest value
	standardError float64
}

// measure converts the members' evaluations to functions. way is a value of the key designs; by
// default it uses grids if all members have one, and lists otherwise.
func measure(t *task.Task, members []*measurer, way string) (*task.Space, []measurements, error) {
	grids, err := gridsOf(t, members)
	switch {
	case way == onGrid && err != nil:
		return nil, nil, fmt.Errorf("%w; accepted with designs=grid: each combination of some values of each parameter, the ends of its range or all choices among them", err)
	case err == nil && way != listed:
		var all []measurements
		for i, m := range members {
			one := m.measurements(t)
			one.value = grids[i].value
			all = append(all, one)
		}
		return t.Space, all, nil
	}
	return list(t, members)
}

// list makes functions that are defined for measured designs only. If all members have the same
// designs, these become the space of the federation. Otherwise each member gets its own part of the
// space.
func list(t *task.Task, members []*measurer) (space *task.Space, all []measurements, err error) {
	first := members[0]
	common := !slices.ContainsFunc(members, func(m *measurer) bool { return !m.sameDesigns(first) })
	space = t.Space
	if common {
		if space, err = task.NewListed(t.Space.Parameters(), first.rows(), nil, t.Space.ParameterConstraints()...); err != nil {
			return nil, nil, fmt.Errorf("member %q: %w", first.name, err)
		}
	}
	for _, m := range members {
		one, own := m.measurements(t), space
		if !common {
			if own, err = t.Space.Within(m.rows()); err != nil {
				return nil, nil, fmt.Errorf("member %q: %w", m.name, err)
			}
			one.space = own
		}
		points := make([]*point, own.Listing().Len())
		for i := range points {
			points[i] = m.at(own.Encode(own.Listing().Design(i)))
		}
		pointOf := func(d task.Design) *point {
			i, ok := own.Listing().Index(d)
			if !ok {
				panic(fmt.Sprintf("trained: table: member %q has not measured %v", m.name, d))
			}
			return points[i]
		}
		lookUp := func(of func(*point) float64) func(task.Design) float64 {
			return func(d task.Design) float64 { return of(pointOf(d)) }
		}
		if m.points[0].curve != nil {
			one.curve = func(d task.Design) []curves.Step { return pointOf(d).curve }
			for _, p := range m.points {
				one.steps = max(one.steps, len(p.curve))
			}
		}
		one.value = lookUp(func(p *point) float64 { return p.value })
		for i := range t.Constraints {
			one.constraints = append(one.constraints, family.Measure{Value: lookUp(func(p *point) float64 { return p.constraints[i] })})
		}
		all = append(all, one)
	}
	return space, all, nil
}
