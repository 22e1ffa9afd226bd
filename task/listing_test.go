package task_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/task"
)

// movers are a strategy that goes anywhere and one that moves along a graph.
func movers() []task.StrategyType {
	return []task.StrategyType{{Name: "jump", Constraints: true}, {Name: "walk", Moves: true}}
}

// roads is a task with listed designs, of seven lines.
const roads = `name: a
goal: maximize
parameters:
  - {name: x, type: int, low: 0, high: 9}
  - {name: c, type: categorical, choices: [a, "b, c"]}
designs:
  file: roads.csv
`

// roadTable is a path of three designs.
const roadTable = "x,c,neighbors\n1,a,2\n3,a,1;3\n3,\"b, c\",2\n"

func beside(table string) fstest.MapFS {
	return fstest.MapFS{"roads.csv": {Data: []byte(table)}, "sub/roads.csv": {Data: []byte(table)}}
}

func parseListed(t testing.TB, text, table string) *task.Task {
	t.Helper()
	parsed, err := task.ParseBeside(beside(table), "dir/task.yaml", []byte(text), movers())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// The exact text matters: it is what a user sees.
func TestTableErrors(t *testing.T) {
	steps := roads + "  max_moves: 1\n"
	for _, c := range []struct{ text, table, want string }{
		// the section
		{roads + "  max_moves: 3\n", roadTable, "dir/task.yaml:8:14: designs: max_moves 3 must be a whole number from 1 to 2"},
		{roads + "  step: 1\n", roadTable, `dir/task.yaml:8:3: designs: unknown key "step"; accepted: max_moves, file`},
		{strings.Replace(roads, "roads.csv", "no.csv", 1), "", `dir/task.yaml:7:9: designs: file "no.csv": file does not exist`},
		{strings.Replace(roads, "roads.csv", "../roads.csv", 1), "", `dir/task.yaml:7:9: designs: file "../roads.csv": must be the path of a table in the folder of the task file or below it, with / between folders`},
		{strings.Replace(roads, "roads.csv", "/roads.csv", 1), "", `dir/task.yaml:7:9: designs: file "/roads.csv": must be the path of a table in the folder of the task file or below it, with / between folders`},
		{strings.Replace(roads, "file: roads.csv", "max_moves: 1", 1), "", `dir/task.yaml:7:3: designs: missing key "file"`},
		{strings.Replace(roads, "\n  file: roads.csv", " roads.csv", 1), "", `dir/task.yaml:6:10: designs must be a mapping (key: value), not the text "roads.csv"; expected designs: {file: roads.csv}`},
		{roads + "  sha256: 00\n  count: 0\n", "", `dir/task.yaml:7:3: designs: file applies only with a task file that does not say count and sha256, which stand for the table
dir/task.yaml:8:11: designs: sha256 must be a text, not the number 00; write it in quotes
dir/task.yaml:9:10: designs: count 0 must be a whole number from 1 to 100000`},
		// columns
		{roads, "", "dir/roads.csv:1:1: the table is empty; it needs a line with the names of the columns: x, c"},
		{roads, "x,c\n", "dir/roads.csv:1:1: 0 designs; accepted: 1 to 100000"},
		{roads, "x,c,x\n1,a,1\n", `dir/roads.csv:1:5: column "x" is repeated`},
		{roads, "x\n1\n", `dir/roads.csv:1:1: missing column "c"; each parameter has one`},
		{roads, "x,c,neighbours\n1,a,1\n", `dir/roads.csv:1:5: unknown column "neighbours"; accepted: x, c, neighbors`},
		{steps, "x,c\n1,a\n", "dir/roads.csv:1:1: max_moves needs a column neighbors, which the table does not have"},
		{strings.ReplaceAll(roads, "name: x", "name: neighbors"), "neighbors,c\n1,a\n", "dir/roads.csv:1:1: no parameter can be called neighbors, which is the column of the graph"},
		// cells
		{roads, "x,c\n1,a\n10,a\n", `dir/roads.csv:3:1: parameter "x": 10 is not accepted; it takes a whole number from 0 to 9`},
		{roads, "x,c\n1,a\n1.5,a\n", `dir/roads.csv:3:1: parameter "x": 1.5 is not accepted; it takes a whole number from 0 to 9`},
		{roads, "x,c\n1,a\n,a\n", `dir/roads.csv:3:1: parameter "x": the text "" is not accepted; it takes a whole number from 0 to 9`},
		{roads, "c,x\na,1\nb,1\n", `dir/roads.csv:3:1: parameter "c": "b" is not accepted; it takes one of "a", "b, c"`},
		{roads, "x,c\n1,a,2\n", "dir/roads.csv:2:1: another number of columns than in the first line"},
		{roads, "x,c\n1,\"a\n", "dir/roads.csv:2:6: extraneous or missing \" in quoted-field"},
		{roads, "x,c\n1,\xff\n", "dir/roads.csv:1:1: the table is not valid UTF-8"},
		// designs
		{roads, "x,c\n1,a\n2,a\n\n1,a\n", "dir/roads.csv:5:1: the design is that of row 1"},
		// the graph
		{steps, "x,c,neighbors\n1,a,two\n", `dir/roads.csv:2:5: neighbors must be numbers of rows, from 1, with ; between them, not "two"`},
		{steps, "x,c,neighbors\n1,a,2;\n2,a,1\n", `dir/roads.csv:2:5: neighbors must be numbers of rows, from 1, with ; between them, not "2;"`},
		{steps, "x,c,neighbors\n1,a,2\n2,a,1;4\n3,a,\n", `dir/roads.csv:3:1: neighbor 4 is not there; accepted: the rows 1 to 3
dir/roads.csv:4:1: the design has no neighbor; every design needs at least one`},
		{steps, "x,c,neighbors\n1,a,0;2\n2,a,1\n", "dir/roads.csv:2:1: neighbor 0 is not there; accepted: the rows 1 to 2"},
		{steps, "x,c,neighbors\n1,a,1;2\n2,a,1\n", "dir/roads.csv:2:1: row 1 is named as its own neighbor"},
		{steps, "x,c,neighbors\n1,a,2;2\n2,a,1\n", "dir/roads.csv:2:1: neighbor 2 is named twice"},
		{steps, "x,c,neighbors\n1,a,2;3\n2,a,1;3\n3,a,2\n", "dir/roads.csv:2:1: neighbor 3 does not name row 1 as its neighbor"},
		{roads, "x,c,neighbors\n1,a,2;3\n2,a,1;3\n3,a,2\n", "dir/roads.csv:2:1: neighbor 3 does not name row 1 as its neighbor"},
		// strategies
		{steps + "strategy: {type: jump}\n", roadTable, "dir/task.yaml:9:18: strategy: type jump goes to any design at once, and nodes of this task move along a graph (designs: max_moves); those that do: walk"},
	} {
		_, err := task.ParseBeside(beside(c.table), "dir/task.yaml", []byte(c.text), movers())
		var parsed *task.ParseError
		if !errors.As(err, &parsed) {
			t.Errorf("%q with %q: %v", c.text, c.table, err)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q with %q:\n got %s\nwant %s", c.text, c.table, err, c.want)
		}
	}
}

// Values that the cube cannot tell apart would be one design to every model.
func TestDesignsThatEncodeAlikeAreRefused(t *testing.T) {
	_, err := task.NewListed([]task.Parameter{{Name: "x", Kind: task.Float, Low: -1e10, High: 1}},
		[][]task.Value{{task.FloatValue(1e-9)}, {task.FloatValue(2e-9)}}, nil)
	if want := "task: design 2: the design is indistinguishable from that of row 1 at float precision within these bounds"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestListingIsBounded(t *testing.T) {
	var many strings.Builder
	many.WriteString("x\n")
	for i := range 100_001 {
		fmt.Fprintln(&many, i)
	}
	text := strings.Replace(roads, "high: 9", "high: 1000000", 1)
	text = strings.Replace(text, "  - {name: c, type: categorical, choices: [a, \"b, c\"]}\n", "", 1)
	_, err := task.ParseBeside(beside(many.String()), "task.yaml", []byte(text), movers())
	if want := "roads.csv:100002:1: more than 100000 designs, the maximum"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if parsed := parseListed(t, text, strings.TrimSuffix(many.String(), "100000\n")); parsed.Space.Listing().Len() != 100_000 {
		t.Error("100,000 designs are not listed")
	}
	var parameters []task.Parameter
	var row []task.Value
	for i := range 100 {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Int, Low: 0, High: 1e6})
		row = append(row, task.IntValue(0))
	}
	rows := make([][]task.Value, 41_944)
	for i := range rows {
		rows[i] = slices.Clone(row)
		rows[i][0] = task.IntValue(int64(i))
	}
	_, err = task.NewListed(parameters, rows, nil)
	if want := "task: 41944 designs with 100 coordinates each are 4194400 numbers; accepted: up to 4194304"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, few := range [][][]task.Value{nil, {}} {
		if _, err := task.NewListed(parameters, few, nil); err == nil || err.Error() != "task: 0 designs; accepted: 1 to 100000" {
			t.Errorf("no design: %v", err)
		}
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	_, err := task.ParseBeside(beside("x,c,neighbors\n"+strings.Repeat("1,a,1\n", 50)), "task.yaml", []byte(roads), movers())
	var parsed *task.ParseError
	// 49 repeat the first; each names row 1, which names nobody else, and the first itself.
	if !errors.As(err, &parsed) || len(parsed.Errors) != 20 || parsed.Omitted != 49+50-20 {
		t.Errorf("%v", err)
	}
	rows := make([][]task.Value, 50)
	for i := range rows {
		rows[i] = []task.Value{task.IntValue(1)}
	}
	_, err = task.NewListed([]task.Parameter{{Name: "x", Kind: task.Int, Low: 0, High: 9}}, rows, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "design 21: the design is that of row 1\nand 29 more") {
		t.Errorf("%v", err)
	}
}

// Errors of the task file come before those of the table.
func TestTableErrorsComeLast(t *testing.T) {
	_, err := task.ParseBeside(beside("x,c\n1,b\n"), "task.yaml", []byte(roads+"foo: 1\n"), movers())
	want := "task.yaml:8:1: unknown key \"foo\"; accepted: name, goal, objectives, parameters, parameter_constraints, designs, constraints, failures, continues, surrogate, strategy, privacy, stop, description, unit, tags, default\n" +
		"roads.csv:2:3: parameter \"c\": \"b\" is not accepted; it takes one of \"a\", \"b, c\""
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestTablesNeedAFolder(t *testing.T) {
	_, err := task.Parse("task.yaml", []byte(roads), movers())
	want := `task.yaml:7:9: designs: file "roads.csv": tables are read from beside a task file, and this task is read without`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The digest is that of the three lines [1,"a",[2]], [3,"a",[1,3]] and [3,"b, c",[2]].
func TestGoldenIDOfListedDesigns(t *testing.T) {
	got := parseListed(t, roads+"  max_moves: 2\n", roadTable)
	if want := `"designs":{"count":3,"max_moves":2,"sha256":"44dcca83c0c1254b03300cd8673c514e3b8c808deefef7fc7322de98173d335e"},`; !strings.Contains(string(got.Canonical()), want) {
		t.Errorf("%s has not %s", got.Canonical(), want)
	}
	if want := "bagaaieratbyinajcvdmvvopka4jghyajbesyhwz3lnehujs22x3wedt45elq"; got.ID().String() != want {
		t.Errorf("ID %s, want %s", got.ID(), want)
	}
}

func TestWhatTheIDOfATableDependsOn(t *testing.T) {
	golden := parseListed(t, roads, roadTable).ID()
	for name, table := range map[string]string{
		"line ends":      strings.ReplaceAll(roadTable, "\n", "\r\n"),
		"mark":           "\ufeff" + roadTable,
		"quotes":         "\"x\",c,neighbors\n\"1\",\"a\",\"2\"\n3,a,1;3\n3,\"b, c\",2\n",
		"spelling":       "x,c,neighbors\n1.0,a, 2\n3e0,a,3; 1\n 3 ,\"b, c\",2\n",
		"columns":        "neighbors,c,x\n2,a,1\n1;3,a,3\n2,\"b, c\",3\n",
		"empty lines":    "x,c,neighbors\n1,a,2\n\n3,a,1;3\n3,\"b, c\",2\n\n",
		"without an end": strings.TrimSuffix(roadTable, "\n"),
	} {
		if got := parseListed(t, roads, table); got.ID() != golden {
			t.Errorf("%s: %s", name, got.Canonical())
		}
	}
	if got := parseListed(t, strings.Replace(roads, "roads.csv", "sub/roads.csv", 1), roadTable); got.ID() != golden {
		t.Errorf("the name of the table: %s", got.Canonical())
	} else if got.Space.Listing().File() != "sub/roads.csv" {
		t.Errorf("the table is %q", got.Space.Listing().File())
	}
	seen := map[string]string{golden.String(): "the table", parseListed(t, roads+"  max_moves: 1\n", roadTable).ID().String(): "max_moves"}
	for name, table := range map[string]string{
		"rows":        "x,c,neighbors\n3,a,2;3\n1,a,1\n3,\"b, c\",1\n",
		"a value":     "x,c,neighbors\n2,a,2\n3,a,1;3\n3,\"b, c\",2\n",
		"an edge":     "x,c,neighbors\n1,a,2;3\n3,a,1;3\n3,\"b, c\",1;2\n",
		"no graph":    "x,c\n1,a\n3,a\n3,\"b, c\"\n",
		"less":        "x,c\n1,a\n3,a\n",
		"every value": "x,c\n0,a\n",
	} {
		id := parseListed(t, roads, table).ID().String()
		if other, taken := seen[id]; taken {
			t.Errorf("%s has the ID of %s", name, other)
		}
		seen[id] = name
	}
}

// A canonical form is the same task, whose designs are not known.
func TestCanonicalFormIsWithoutTheTable(t *testing.T) {
	known := parseListed(t, roads+"  max_moves: 1\n", roadTable)
	absent, err := task.Parse("journal", known.Canonical(), movers())
	if err != nil {
		t.Fatal(err)
	}
	l := absent.Space.Listing()
	if absent.ID() != known.ID() || absent.MaxMoves != 1 || !l.Absent() || l.Len() != 3 || known.Space.Listing().Absent() {
		t.Errorf("%s: %+v", absent.Canonical(), l)
	}
	if count, ok := absent.Space.Finite(); count != 3 || !ok {
		t.Errorf("%d designs, %t", count, ok)
	}
	design, err := absent.Space.NewDesign(task.IntValue(7), task.ChoiceValue("a")) // nobody can tell
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.Index(design); ok {
		t.Error("an absent listing has a design")
	}
	if err := known.Space.Check(design); err == nil || err.Error() != "task: x=7 c=a is none of the 3 listed designs" {
		t.Errorf("%v", err)
	}
	if got := absent.Space.Decode([]float64{0.55, 1, 0}); got.Int("x") != 5 {
		t.Errorf("without a table %v is decoded", got)
	}
}

func TestNewTakesAListing(t *testing.T) {
	parsed := parseListed(t, roads+"  max_moves: 1\n", roadTable)
	spec := task.Spec{Name: "a", Goal: task.Maximize, Parameters: parsed.Space.Parameters(), Listing: parsed.Space.Listing(), MaxMoves: 1}
	made, err := task.New(spec, movers())
	if err != nil {
		t.Fatal(err)
	}
	l := made.Space.Listing()
	if made.ID() != parsed.ID() || l.Absent() || made.MaxMoves != 1 || made.Strategy.Type != "walk" {
		t.Errorf("%s, want %s", made.Canonical(), parsed.Canonical())
	}
	for i := range l.Len() {
		if d := l.Design(i); made.Space.Check(d) != nil || !d.Equal(parsed.Space.Listing().Design(i)) {
			t.Errorf("design %d is %v", i, d)
		}
	}
	for want, change := range map[string]func(*task.Spec){
		"task: Spec.Listing is of a space with other parameters than Spec.Parameters": func(s *task.Spec) { s.Parameters[0].High = 8 },
		"task: Spec.MaxMoves is 1 without a Spec.Listing, expected 0":                 func(s *task.Spec) { s.Listing = nil },
		"task: designs: max_moves 3 must be a whole number from 1 to 2":               func(s *task.Spec) { s.MaxMoves = 3 },
		"task: Spec.MaxMoves is 1, and Spec.Listing has no graph": func(s *task.Spec) {
			s.Listing = parseListed(t, roads, "x,c\n1,a\n").Space.Listing()
		},
	} {
		wrong := spec
		wrong.Parameters = parsed.Space.Parameters()
		change(&wrong)
		if _, err := task.New(wrong, movers()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The default of a task with max_moves is a strategy that moves; without one the file is
// refused.
func TestStrategiesThatMove(t *testing.T) {
	if got := parseListed(t, roads, roadTable); got.Strategy.Type != "jump" || got.MaxMoves != 0 {
		t.Errorf("%s", got.Canonical())
	}
	if got := parseListed(t, roads+"  max_moves: 1\n", roadTable); got.Strategy.Type != "walk" || got.MaxMoves != 1 {
		t.Errorf("%s", got.Canonical())
	}
	_, err := task.ParseBeside(beside(roadTable), "task.yaml", []byte(roads+"  max_moves: 1\n"), movers()[:1])
	if want := "task.yaml:1:1: strategy: type jump goes to any design at once, and nodes of this task move along a graph (designs: max_moves); no known type does"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestListingOfTable(t *testing.T) {
	space := parseListed(t, roads, roadTable).Space
	l := space.Listing()
	if count, ok := space.Finite(); count != 3 || !ok || l.Len() != 3 {
		t.Errorf("%d designs, %t", count, ok)
	}
	if got := l.Design(2).String(); got != `x=3 c="b, c"` {
		t.Errorf("design 2 is %s", got)
	}
	for i, want := range [][]int{{1}, {0, 2}, {1}} {
		if got := l.Neighbors(i); !slices.Equal(got, want) || !l.Graph() {
			t.Errorf("neighbors of %d: %v", i, got)
		}
	}
	for _, values := range []map[string]any{{"x": 1, "c": "b, c"}, {"x": 2, "c": "a"}} {
		if _, err := space.ParseDesign(values); err == nil || !strings.HasSuffix(err.Error(), "is none of the 3 listed designs") {
			t.Errorf("%v: %v", values, err)
		}
	}
	other, err := task.NewSpace([]task.Parameter{{Name: "y", Kind: task.Float, Low: 0, High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.Index(other.Decode([]float64{0})); ok {
		t.Error("a design of another space is listed")
	}
	if _, ok := l.Index(task.Design{}); ok {
		t.Error("no design is listed")
	}
	without := parseListed(t, roads, "x,c\n1,a\n").Space.Listing()
	if without.Graph() || without.Neighbors(0) != nil || without.Within(0, 2) != nil {
		t.Error("there is a graph without one")
	}
	if plain := other.Listing(); plain != nil || plain.Absent() {
		t.Error("a space without a list has one")
	}
}

// drawListed returns a listed space of drawn parameters, with some of its designs, and a
// graph that has each in a circle and drawn edges more.
func drawListed(t *rapid.T) (*task.Space, [][]int) {
	box := task.DrawSpace(t)
	var rows [][]task.Value
	seen := map[string]bool{}
	for range rapid.IntRange(1, 60).Draw(t, "designs") {
		u := rapid.SliceOfN(rapid.Float64Range(0, 1), box.Dim(), box.Dim()).Draw(t, "u")
		if d := box.Decode(u); !seen[fmt.Sprint(box.Encode(d))] {
			seen[fmt.Sprint(box.Encode(d))] = true
			rows = append(rows, d.Values())
		}
	}
	var neighbors [][]int
	if n := len(rows); n > 1 {
		edges := make([][]bool, n)
		for i := range edges {
			edges[i] = make([]bool, n)
		}
		for i := range n {
			j := (i + 1) % n
			edges[i][j], edges[j][i] = true, true
			if k := rapid.IntRange(0, n-1).Draw(t, "edge"); k != i {
				edges[i][k], edges[k][i] = true, true
			}
		}
		neighbors = make([][]int, n)
		for i := range edges {
			for j, on := range edges[i] {
				if on {
					neighbors[i] = append([]int{j}, neighbors[i]...) // not in order
				}
			}
		}
	}
	space, err := task.NewListed(box.Parameters(), rows, neighbors)
	if err != nil {
		t.Fatal(err)
	}
	return space, neighbors
}

// Decode gives the nearest design, the first of equals, as a search of all does.
func TestDecodeFindsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, _ := drawListed(t)
		l := space.Listing()
		at := make([][]float64, l.Len())
		for i := range at {
			at[i] = space.Encode(l.Design(i))
			same := make([]float64, space.Dim())
			l.Encode(same, i)
			if k, ok := l.Index(l.Design(i)); !slices.Equal(at[i], same) || k != i || !ok {
				t.Fatalf("design %d is encoded as %v and %v, and is number %d", i, at[i], same, k)
			}
			if d := space.Decode(same); !d.Equal(l.Design(i)) {
				t.Fatalf("%v became %v", l.Design(i), d)
			}
			again, err := space.UnmarshalDesign([]byte(l.Design(i).Key()))
			if err != nil || !again.Equal(l.Design(i)) {
				t.Fatalf("%v was read as %v, %v", l.Design(i), again, err)
			}
		}
		for range 30 {
			u := make([]float64, space.Dim())
			for k := range u {
				// Halves and ends make ties.
				u[k] = rapid.OneOf(rapid.Float64Range(-0.2, 1.2), rapid.SampledFrom([]float64{0, 0.5, 1, math.Inf(1), math.NaN()})).Draw(t, "coordinate")
			}
			if rapid.Bool().Draw(t, "between") { // two designs, which are then both nearest, often
				a, b := rapid.IntRange(0, len(at)-1).Draw(t, "a"), rapid.IntRange(0, len(at)-1).Draw(t, "b")
				for k := range u {
					u[k] = (at[a][k] + at[b][k]) / 2
				}
			}
			best, least := -1, math.Inf(1)
			for i := range at {
				sum := 0.0
				for k, x := range u {
					if !(x > 0) {
						x = 0
					}
					difference := min(x, 1) - at[i][k]
					sum += float64(difference * difference)
				}
				if sum < least {
					best, least = i, sum
				}
			}
			got := space.Decode(u)
			if i, _ := l.Index(got); i != best {
				t.Fatalf("%v gives design %d, the nearest is %d", u, i, best)
			}
			if err := space.Check(got); err != nil {
				t.Fatal(err)
			}
			space.Snap(u)
			if !slices.Equal(u, at[best]) {
				t.Fatalf("Snap gives %v, want %v", u, at[best])
			}
		}
	})
}

// Within is what a walk over all ways finds.
func TestListingWithinEqualsSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, neighbors := drawListed(t)
		l := space.Listing()
		if neighbors == nil {
			return
		}
		steps := rapid.IntRange(0, 4).Draw(t, "steps")
		from := rapid.IntRange(0, l.Len()-1).Draw(t, "from")
		reached := map[int]bool{}
		var walk func(i, left int)
		walk = func(i, left int) {
			reached[i] = true
			if left > 0 {
				for _, j := range neighbors[i] {
					walk(j, left-1)
				}
			}
		}
		walk(from, steps)
		var want []int
		for i := range l.Len() {
			if reached[i] && i != from {
				want = append(want, i)
			}
		}
		if got := l.Within(from, steps); !slices.Equal(got, want) {
			t.Fatalf("%d steps from %d lead to %v, want %v", steps, from, got, want)
		}
	})
}

// The canonical form of any listing is read back, and a table that says the same is the
// same task.
func TestListingCanonicalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, _ := drawListed(t)
		made, err := task.New(task.Spec{Name: "a", Goal: task.Minimize, Parameters: space.Parameters(), Listing: space.Listing()}, movers())
		if err != nil {
			t.Fatal(err)
		}
		again, err := task.Parse("canonical", made.Canonical(), movers())
		if err != nil || again.ID() != made.ID() {
			t.Fatalf("%s: %v", made.Canonical(), err)
		}
	})
}

// The parser of tables never panics, and what it accepts is a list with the properties
// of one.
func FuzzTable(f *testing.F) {
	f.Add([]byte(roadTable))
	f.Add([]byte("c,x\n\"b, c\",1e0\na,3\n"))
	f.Add([]byte("x,c,neighbors\n1,a,2; 3\n2,a,1;3\r\n3,a,2;1\n"))
	f.Add([]byte("\ufeffx,c,neighbors\n1,a,-9223372036854775808\n"))
	f.Add([]byte("x,c\n1,\"a\n\n,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := task.ParseBeside(beside(string(data)), "task.yaml", []byte(roads), movers())
		if err != nil {
			var all *task.ParseError
			if !errors.As(err, &all) || len(all.Errors) == 0 || len(all.Errors) > task.MaxErrors {
				t.Fatalf("error is %T: %v", err, err)
			}
			for _, one := range all.Errors {
				if one.File != "roads.csv" || one.Line < 1 || one.Column < 1 || one.Message == "" || one.Line > len(data)+2 || one.Column > len(data)+2 {
					t.Fatalf("error at %s:%d:%d: %q", one.File, one.Line, one.Column, one.Message)
				}
			}
			return
		}
		l := parsed.Space.Listing()
		for i := range l.Len() {
			if k, ok := l.Index(l.Design(i)); k != i || !ok {
				t.Fatalf("design %d has number %d", i, k)
			}
			for _, j := range l.Neighbors(i) {
				if j == i || !slices.Contains(l.Neighbors(j), i) {
					t.Fatalf("%d is a neighbor of %d", j, i)
				}
			}
			if l.Graph() && len(l.Neighbors(i)) == 0 {
				t.Fatalf("%d has no neighbor", i)
			}
		}
		again, err := task.Parse("canonical", parsed.Canonical(), movers())
		if err != nil || again.ID() != parsed.ID() {
			t.Fatalf("%s: %v", parsed.Canonical(), err)
		}
	})
}
