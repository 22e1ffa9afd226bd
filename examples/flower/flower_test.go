// Package flower tests the Flower example. Its tests skip, and report why, without a Python that has flwr and
// scikit-learn; FBO_PYTHON_FEDERATED names one.
package flower

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/federated"
)

// checkPerSite runs per_site.py with one seed.
func checkPerSite(t *testing.T, flags ...string) {
	results := filepath.Join(t.TempDir(), "results.jsonl")
	output := federated.Run(t, "flwr", "per_site.py", append([]string{"--seeds", "1", "--rounds", "1", "--evals", "4", "--results", results}, flags...)...)
	if !strings.Contains(output, "| together, 4 | ") || !strings.Contains(output, "| alone less together, 4 | ") {
		t.Errorf("per_site.py prints %s", output)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Sites []federated.Site }
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	federated.Check(t, line.Sites)
}

// TestPerSite tunes five sites with the apps of Flower and real nodes, without Flower's processes.
func TestPerSite(t *testing.T) { checkPerSite(t) }

// TestGlobalJob tunes the settings of a whole federated training by four runs.
func TestGlobalJob(t *testing.T) {
	output := federated.Run(t, "flwr", "global_job.py", "--seeds", "1", "--rounds", "1", "--evals", "4")
	for _, want := range []string{"seed 1: {", "| defaults | ", "| best of 4 | "} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in\n%s", want, output)
		}
	}
}
