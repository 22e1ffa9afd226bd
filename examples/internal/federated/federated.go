// Package federated runs the examples of federated trainings in tests.
package federated

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
)

// Run returns what a Python script of the folder of the test prints on standard output. It builds the program,
// and uses the Python package of this checkout. It skips the test, with the reason, without a Python that has
// scikit-learn and the framework; FBO_PYTHON_FEDERATED names one.
func Run(t *testing.T, framework, script string, args ...string) string {
	t.Helper()
	python := interpreter.NeedNamed(t, "FBO_PYTHON_FEDERATED", "sklearn", framework)
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/fbo-node").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	packages, err := filepath.Abs("../../python/src")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, append([]string{script}, args...)...)
	command.Env = append(os.Environ(), "FBO_NODE="+binary, "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1",
		"FLWR_TELEMETRY_ENABLED=0", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", script, args, err, output, problem.Bytes())
	}
	return string(output)
}

// Site is what a site reports after a tuning by four evaluations together with the others.
type Site struct {
	Site  int     `json:"site"`
	Evals float64 `json:"evals_together"`
	First float64 `json:"valid_loss_1_together"`
	Best  float64 `json:"valid_loss_4_together"`
	Error float64 `json:"test_error_4_together"`
}

// Check reports what is wrong with the results of five sites.
func Check(t *testing.T, sites []Site) {
	t.Helper()
	seen := map[int]bool{}
	for _, site := range sites {
		seen[site.Site] = true
		if site.Evals != 4 || site.Best <= 0 || site.Best > site.First || site.Error < 0 || site.Error > 1 {
			t.Errorf("result %+v, expected 4 evaluations, of which the best is no worse than the first", site)
		}
	}
	if len(sites) != 5 || len(seen) != 5 {
		t.Errorf("results of %d sites, expected 5: %+v", len(seen), sites)
	}
}
