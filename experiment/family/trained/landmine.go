package trained

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/fbo-node/fbo/experiment/family"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

func landmineKind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name:  "landmine",
			About: "area under the ROC curve of a support vector machine on each member's field, from a table, to be maximised",
			Keys: []family.Key{
				{Name: "file", Type: family.Text, Meaning: "CSV with columns field, C, gamma, auc_decision: a grid for each field; required"},
				{Name: "scale", Type: family.Choice, Default: string(task.Linear), Choices: []string{string(task.Linear), string(task.Log)},
					Meaning: "how C and gamma are laid out"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:   buildLandmine,
		Content: contentOfLandmine,
	}
}

func buildLandmine(v family.Values) (*task.Space, family.DrawFunc, error) {
	path := v.Text("file")
	if path == "" {
		return nil, nil, errors.New("key file is missing; accepted: the path of a CSV with columns field, C, gamma, auc_decision")
	}
	fields, err := readGridFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("key file: %w", err)
	}
	first := fields[0]
	scale := task.Scale(v.Choice("scale"))
	space, err := task.NewSpace([]task.Parameter{
		{Name: "C", Kind: task.Float, Low: first.c[0], High: first.c[len(first.c)-1], Scale: scale},
		{Name: "gamma", Kind: task.Float, Low: first.gamma[0], High: first.gamma[len(first.gamma)-1], Scale: scale},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("key file: %s: %w", path, err)
	}
	return space, func(seed random.Seed, agents int) (family.Federation, error) {
		if agents > len(fields) {
			return family.Federation{}, fmt.Errorf("trained: landmine: %d agents; the table has %d fields", agents, len(fields))
		}
		objectives := make([]objective, agents)
		for k, n := range seed.Stream("fields", 0).Perm(len(fields))[:agents] {
			g := fields[n]
			objectives[k] = objective{
				func(d task.Design) float64 { return g.at(d.Float("C"), d.Float("gamma")) },
				func() float64 { return slices.Max(g.auc) },
			}
		}
		return assemble(space, task.Maximize, v, objectives), nil
	}, nil
}

// contentOfLandmine returns a digest of the file.
func contentOfLandmine(v family.Values) (string, error) {
	data, err := os.ReadFile(v.Text("file"))
	if err != nil {
		return "", fmt.Errorf("key file: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// grid is one field's table: auc[i·len(gamma)+j] at c[i] and gamma[j], which
// ascend.
type grid struct {
	c, gamma, auc []float64
}

// at interpolates between the four nearest settings, linearly in the logarithms,
// so that it is nowhere more than at the best of the table.
func (g *grid) at(c, gamma float64) float64 {
	i, s := between(g.c, c)
	j, t := between(g.gamma, gamma)
	row, next := g.auc[i*len(g.gamma):], g.auc[(i+1)*len(g.gamma):]
	return (1-s)*((1-t)*row[j]+t*row[j+1]) + s*((1-t)*next[j]+t*next[j+1])
}

// between returns the i with v from nodes[i] to nodes[i+1], and the part of the
// way from the one to the other, in the logarithm.
func between(nodes []float64, v float64) (i int, part float64) {
	i, _ = slices.BinarySearch(nodes, v)
	i = min(max(i-1, 0), len(nodes)-2)
	part = math.Log(v/nodes[i]) / math.Log(nodes[i+1]/nodes[i])
	return i, min(1, max(0, part))
}

func readGridFile(path string) ([]*grid, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fields, err := readGrids(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return fields, nil
}

// cell is one row of a table.
type cell struct{ c, gamma, auc float64 }

// readGrids returns the tables in the order of the fields' numbers.
func readGrids(r io.Reader) ([]*grid, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, errors.New("there is no row below the names of columns")
	}
	columns := [4]int{}
	for i, name := range []string{"field", "C", "gamma", "auc_decision"} {
		if columns[i] = slices.Index(rows[0], name); columns[i] < 0 {
			return nil, fmt.Errorf("there is no column %s", name)
		}
	}
	cells := map[int][]cell{}
	for n, row := range rows[1:] {
		field, err := strconv.Atoi(row[columns[0]])
		if err != nil {
			return nil, fmt.Errorf("line %d: field %q is no whole number", n+2, row[columns[0]])
		}
		var numbers [3]float64
		for i := range numbers {
			text := row[columns[i+1]]
			if numbers[i], err = strconv.ParseFloat(text, 64); err != nil || !accepted(i, numbers[i]) {
				return nil, fmt.Errorf("line %d: %q is not accepted; accepted: C and gamma above 0, auc_decision 0 to 1", n+2, text)
			}
		}
		cells[field] = append(cells[field], cell{numbers[0], numbers[1], numbers[2]})
	}
	return gridsOf(cells)
}

// accepted is for the columns C, gamma and auc_decision.
func accepted(column int, v float64) bool {
	if column < 2 {
		return v > 0 && !math.IsInf(v, 1)
	}
	return v >= 0 && v <= 1
}

func gridsOf(cells map[int][]cell) ([]*grid, error) {
	var numbers []int
	for field := range cells {
		numbers = append(numbers, field)
	}
	slices.Sort(numbers)
	var all []*grid
	for _, field := range numbers {
		g, err := gridOf(cells[field])
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", field, err)
		}
		if len(all) > 0 && (!slices.Equal(g.c, all[0].c) || !slices.Equal(g.gamma, all[0].gamma)) {
			return nil, fmt.Errorf("field %d has other C or gamma than field %d", field, numbers[0])
		}
		all = append(all, g)
	}
	return all, nil
}

func gridOf(cells []cell) (*grid, error) {
	g := &grid{}
	for _, one := range cells {
		g.c, g.gamma = append(g.c, one.c), append(g.gamma, one.gamma)
	}
	slices.Sort(g.c)
	slices.Sort(g.gamma)
	g.c, g.gamma = slices.Compact(g.c), slices.Compact(g.gamma)
	if len(g.c) < 2 || len(g.gamma) < 2 || len(cells) != len(g.c)*len(g.gamma) {
		return nil, fmt.Errorf("%d rows are no grid of %d C and %d gamma", len(cells), len(g.c), len(g.gamma))
	}
	g.auc = make([]float64, len(cells))
	for i := range g.auc {
		g.auc[i] = math.NaN()
	}
	for _, one := range cells {
		i, _ := slices.BinarySearch(g.c, one.c)
		j, _ := slices.BinarySearch(g.gamma, one.gamma)
		g.auc[i*len(g.gamma)+j] = one.auc
	}
	if slices.ContainsFunc(g.auc, math.IsNaN) {
		return nil, errors.New("a setting of the grid is there twice, and another is missing")
	}
	return g, nil
}
