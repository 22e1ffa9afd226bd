package trained

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

func trafficKind() family.Kind {
	return family.Kind{
		Info: family.Info{
			Name:  "traffic",
			About: "logarithm of one more than the demand for rides in a region of a city, from a table, to be maximised by all members",
			Keys: []family.Key{
				{Name: "file", Type: family.Text, Meaning: "CSV with columns node, x1, x2, log1p_demand: a row for each region; required"},
				{Name: "roads", Type: family.Text, Meaning: "CSV with columns node, neighbours_0based_semicolon: which nodes can be reached from which; required"},
				{Name: "max_moves", Type: family.Whole, Default: "1", Low: 0, High: 2, Meaning: "regions from one evaluation of a member to its next, at most; 0: any region"},
				noiseKey(), newcomerKey(),
			},
		},
		Build:    buildTraffic,
		MaxMoves: func(v family.Values) int { return v.Whole("max_moves") },
		Content:  contentOfTraffic,
	}
}

func buildTraffic(v family.Values) (*task.Space, family.DrawFunc, error) {
	city, err := readCity(v.Text("file"), v.Text("roads"))
	if err != nil {
		return nil, nil, err
	}
	listing := city.space.Listing()
	one := objective{
		func(d task.Design) float64 {
			i, ok := listing.Index(d)
			if !ok {
				panic(fmt.Sprintf("trained: traffic: %v is no region", d))
			}
			return city.demand[i]
		},
		func() float64 { return slices.Max(city.demand) },
	}
	return city.space, func(_ random.Seed, agents int) (family.Federation, error) {
		return assemble(city.space, task.Maximize, v, slices.Repeat([]objective{one}, agents)), nil
	}, nil
}

// contentOfTraffic returns a digest of both files.
func contentOfTraffic(v family.Values) (string, error) {
	h := sha256.New()
	for _, key := range []string{"file", "roads"} {
		data, err := bounded.ReadFile(v.Text(key), maxTable)
		if err != nil {
			return "", fmt.Errorf("key %s: %w", key, err)
		}
		fmt.Fprintf(h, "%d\n", len(data)) // the length marks where the next file begins
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// city holds the regions that are connected by at least one road.
type city struct {
	space  *task.Space
	demand []float64 // by the number of the region in the task's list
}

// region is a row of the table of regions.
type region struct {
	x1, x2 int64
	demand float64
}

func readCity(regionFile, roadFile string) (*city, error) {
	regions, err := readFile("file", regionFile, "columns node, x1, x2, log1p_demand", readRegions)
	if err != nil {
		return nil, err
	}
	roads, err := readFile("roads", roadFile, "columns node, neighbours_0based_semicolon", readRoads)
	if err != nil {
		return nil, err
	}
	c, err := newCity(regions, roads)
	if err != nil {
		return nil, fmt.Errorf("keys file and roads: %w", err)
	}
	return c, nil
}

// readFile calls read with the file at path; key is the key that names the file.
func readFile[T any](key, path, what string, read func(io.Reader) (T, error)) (all T, err error) {
	if path == "" {
		return all, fmt.Errorf("key %s is missing; accepted: the path of a CSV with %s", key, what)
	}
	file, err := os.Open(path)
	if err != nil {
		return all, fmt.Errorf("key %s: %w", key, err)
	}
	defer file.Close()
	if all, err = read(file); err != nil {
		return all, fmt.Errorf("key %s: %s: %w", key, path, err)
	}
	return all, nil
}

// newCity returns the regions with roads, in the order of their nodes.
//
// The published file has one-way roads (1,080 of its connections are listed at one end only), and
// most of its nodes list themselves. In a task's graph all roads lead both ways, so that no member
// is trapped where others can enter. Staying does not count as a step. The search is therefore
// easier for all members than in the published experiment.
func newCity(regions map[int]region, roads map[int][]int) (*city, error) {
	beside := map[int]map[int]bool{}
	join := func(a, b int) {
		if beside[a] == nil {
			beside[a] = map[int]bool{}
		}
		beside[a][b] = true
	}
	for from, all := range roads {
		for _, to := range all {
			for _, node := range []int{from, to} {
				if _, ok := regions[node]; !ok {
					return nil, fmt.Errorf("node %d is on a road and is no region", node)
				}
			}
			if from != to {
				join(from, to)
				join(to, from)
			}
		}
	}
	var nodes []int
	for node := range beside {
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	number := map[int]int{}
	for i, node := range nodes {
		number[node] = i
	}
	c := &city{}
	parameters := []task.Parameter{
		{Name: "x1", Kind: task.Int, Low: math.Inf(1), High: math.Inf(-1)},
		{Name: "x2", Kind: task.Int, Low: math.Inf(1), High: math.Inf(-1)},
	}
	var rows [][]task.Value
	var neighbors [][]int
	for _, node := range nodes {
		r := regions[node]
		c.demand = append(c.demand, r.demand)
		rows = append(rows, []task.Value{task.IntValue(r.x1), task.IntValue(r.x2)})
		for i, x := range []int64{r.x1, r.x2} {
			parameters[i].Low, parameters[i].High = min(parameters[i].Low, float64(x)), max(parameters[i].High, float64(x))
		}
		var all []int
		for other := range beside[node] {
			all = append(all, number[other])
		}
		neighbors = append(neighbors, all)
	}
	if len(nodes) == 0 {
		return nil, errors.New("no two regions are joined by a road")
	}
	var err error
	c.space, err = task.NewListed(parameters, rows, neighbors)
	return c, err
}

func readRegions(r io.Reader) (map[int]region, error) {
	all := map[int]region{}
	err := eachRow(r, []string{"node", "x1", "x2", "log1p_demand"}, func(cells []string) error {
		var numbers [3]int64
		for i := range numbers {
			var err error
			if numbers[i], err = strconv.ParseInt(cells[i], 10, 32); err != nil {
				return fmt.Errorf("%q is no whole number", cells[i])
			}
		}
		demand, err := strconv.ParseFloat(cells[3], 64)
		if err != nil || math.IsNaN(demand) || math.IsInf(demand, 0) {
			return fmt.Errorf("log1p_demand %q is no finite number", cells[3])
		}
		node := int(numbers[0])
		if _, twice := all[node]; twice {
			return fmt.Errorf("node %d is there twice", node)
		}
		all[node] = region{numbers[1], numbers[2], demand}
		return nil
	})
	return all, err
}

func readRoads(r io.Reader) (map[int][]int, error) {
	all := map[int][]int{}
	err := eachRow(r, []string{"node", "neighbours_0based_semicolon"}, func(cells []string) error {
		node, err := strconv.Atoi(cells[0])
		if err != nil {
			return fmt.Errorf("node %q is no whole number", cells[0])
		}
		if cells[1] == "" {
			return nil
		}
		for text := range strings.SplitSeq(cells[1], ";") {
			neighbor, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("neighbor %q is no whole number", text)
			}
			all[node] = append(all[node], neighbor)
		}
		return nil
	})
	return all, err
}

// eachRow calls f with the cells of the given columns for each row. It adds the line to errors of
// f.
func eachRow(r io.Reader, columns []string, f func(cells []string) error) error {
	reader := bounded.NewCSV(r, maxTable)
	header, err := reader.Read()
	if err == io.EOF {
		return errors.New("there is no line with the names of columns")
	}
	if err != nil {
		return err
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return fmt.Errorf("there is no column %s", name)
		}
	}
	cells := make([]string, len(columns))
	for {
		row, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, column := range at {
			cells[i] = row[column]
		}
		if err := f(cells); err != nil {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}
