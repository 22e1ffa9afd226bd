package trained

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// table has two fields, of which the first has 2 × 3 settings with these values.
const table = `field,x1,C,gamma,auc_decision,auc_platt
7,0,0.01,0.1,0.6,0
7,0,0.01,1,0.7,0
7,0,0.01,10,0.5,0
7,0,1,0.1,0.8,0
7,0,1,1,0.4,0
7,0,1,10,0.9,0
3,0,1,0.1,0.55,0
3,0,1,1,0.55,0
3,0,1,10,0.55,0
3,0,0.01,0.1,0.55,0
3,0,0.01,1,0.55,0
3,0,0.01,10,0.55,0
`

func tableFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grid.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLandmineInterpolatesInLogarithms(t *testing.T) {
	fields, err := readGrids(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	g := fields[1] // of number 7
	for _, test := range []struct{ c, gamma, want float64 }{
		{0.01, 0.1, 0.6}, {0.01, 1, 0.7}, {1, 10, 0.9}, {1, 1, 0.4},
		{0.1, 0.1, 0.7}, {1, math.Sqrt(0.1), 0.6}, {0.1, math.Sqrt(10), (0.7 + 0.5 + 0.4 + 0.9) / 4},
		{0.001, 0.01, 0.6}, {9, 99, 0.9}, // outside: at the edge
	} {
		if got := g.at(test.c, test.gamma); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("at C=%g gamma=%g: %g, want %g", test.c, test.gamma, got, test.want)
		}
	}
}

func TestLandmineFederation(t *testing.T) {
	path := tableFile(t, table)
	for _, scale := range []string{"linear", "log"} {
		spec := fmt.Sprintf("landmine:file=%s,scale=%s", path, scale)
		if scale == "linear" {
			spec = "landmine:file=" + path
		}
		f, err := Kinds().Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != spec {
			t.Errorf("%q is called %q", spec, f.Name)
		}
		a := mustDraw(t, spec, 1, 2)
		if a.Goal != task.Maximize || a.Space.Parameters()[1].High != 10 || string(a.Space.Parameters()[0].Scale) != scale {
			t.Errorf("goal %s, parameters %v", a.Goal, a.Space.Parameters())
		}
		optima := []float64{a.Members[0].Objective.Optimum, a.Members[1].Objective.Optimum}
		slices.Sort(optima)
		if !slices.Equal(optima, []float64{0.55, 0.9}) {
			t.Errorf("optima %v", optima)
		}
		for _, m := range a.Members {
			best := slices.Max(valuesAt(m.Objective, designs(a.Space, 500)))
			corner := a.Space.Decode([]float64{1, 1})
			if best > m.Objective.Optimum+1e-12 || m.Objective.Value(corner) != m.Objective.Optimum {
				t.Errorf("optimum %g, found %g, at its place %g", m.Objective.Optimum, best, m.Objective.Value(corner))
			}
		}
		if _, err := f.Draw(random.SeedOf(1), 3); err == nil || !strings.Contains(err.Error(), "2 fields") {
			t.Errorf("three agents: %v", err)
		}
	}
}

// What identifies the family is what the file says, besides its path.
func TestLandmineContentIsThatOfTheFile(t *testing.T) {
	content := func(path string) string {
		f, err := Kinds().Parse("landmine:file=" + path)
		if err != nil {
			t.Fatal(err)
		}
		return f.Content
	}
	path := tableFile(t, table)
	first := content(path)
	if first == "" || first != content(tableFile(t, table)) {
		t.Errorf("content %q, elsewhere %q", first, content(tableFile(t, table)))
	}
	if err := os.WriteFile(path, []byte(strings.Replace(table, "0.9", "0.8", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := content(path); again == first {
		t.Error("another table has the same content")
	}
}

// Which member has which field depends on the seed.
func TestLandmineFieldsAreMixed(t *testing.T) {
	spec := "landmine:newcomer=true,file=" + tableFile(t, table)
	seen := map[float64]bool{}
	for seed := range uint64(20) {
		f := mustDraw(t, spec, seed, 2)
		seen[f.Members[1].Objective.Optimum] = true
		if f.Members[0].Counts || !f.Members[1].Late {
			t.Fatalf("members %+v", f.Members)
		}
	}
	if len(seen) != 2 {
		t.Errorf("the newcomer's optimum is always %v", seen)
	}
}

func TestLandmineRefuses(t *testing.T) {
	lines := strings.SplitAfter(table, "\n")
	for name, test := range map[string]struct{ text, say string }{
		"nothing":         {"", "no row"},
		"names only":      {lines[0], "no row"},
		"no column":       {strings.ReplaceAll(table, "gamma", "g"), "no column gamma"},
		"ragged":          {table + "1,2\n", "wrong number of fields"},
		"odd field":       {strings.ReplaceAll(table, "\n7,", "\nx,"), `line 2: field "x"`},
		"odd number":      {strings.ReplaceAll(table, "0.7,", "abc,"), `line 3: "abc"`},
		"NaN":             {strings.ReplaceAll(table, "0.7,", "NaN,"), `line 3: "NaN"`},
		"above 1":         {strings.ReplaceAll(table, "0.7,", "1.1,"), `"1.1"`},
		"C of 0":          {strings.ReplaceAll(table, ",0.01,", ",0,"), `"0"`},
		"a row missing":   {strings.Join(lines[:6], "") + strings.Join(lines[7:], ""), "field 7"},
		"a row twice":     {strings.Join(lines[:6], "") + lines[1] + strings.Join(lines[7:], ""), "twice"},
		"different grids": {strings.ReplaceAll(table, "\n3,0,1,", "\n3,0,2,"), "field 7 has other C or gamma than field 3"},
		"one C":           {strings.Join(lines[:4], ""), "no grid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kinds().Parse("landmine:file=" + tableFile(t, test.text))
			if err == nil || !strings.Contains(err.Error(), test.say) || !strings.Contains(err.Error(), "key file") {
				t.Errorf("error %v does not say %q", err, test.say)
			}
		})
	}
	for _, spec := range []string{"landmine", "landmine:file=", "landmine:file=/nowhere/at/all.csv"} {
		if _, err := Kinds().Parse(spec); err == nil || !strings.Contains(err.Error(), "file") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// FBO_LANDMINE_GRID names a table of the 29 fields of the published data.
func TestLandmineData(t *testing.T) {
	path := os.Getenv("FBO_LANDMINE_GRID")
	if path == "" {
		t.Skip("FBO_LANDMINE_GRID does not name a table")
	}
	fields, err := readGridFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(fields) != 29 {
		t.Errorf("%d fields", len(fields))
	}
	for _, g := range fields {
		for i, auc := range g.auc {
			if got := g.at(g.c[i/len(g.gamma)], g.gamma[i%len(g.gamma)]); math.Abs(got-auc) > 1e-12 {
				t.Errorf("interpolation gives %g in place of %g", got, auc)
			}
		}
	}
	f := mustDraw(t, "landmine:file="+path, 1, 29)
	for k, m := range f.Members {
		best := slices.Max(valuesAt(m.Objective, designs(f.Space, 2000)))
		t.Logf("member %d: best of the table %.4f, of 2,000 designs %.4f", k, m.Objective.Optimum, best)
		if best > m.Objective.Optimum+1e-12 {
			t.Errorf("member %d: optimum %g, found %g", k, m.Objective.Optimum, best)
		}
	}
}
