// Package r tests the example in R. Without R and its packages curl and jsonlite it skips, with the reason.
package r

import (
	"os/exec"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/outage"
)

func TestWorkerOutlivesItsNode(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: it trains real models")
	}
	rscript, err := exec.LookPath("Rscript")
	if err != nil {
		t.Skipf("there is no R: %v", err)
	}
	if output, err := exec.CommandContext(t.Context(), rscript, "-e", "library(curl); library(jsonlite)").CombinedOutput(); err != nil {
		t.Skipf("R lacks curl or jsonlite: %v, %s", err, output)
	}
	outage.Check(t, map[string]any{"learning_rate": 10, "penalty": 1, "steps": 400, "standardize": false}, rscript, "worker.R")
}
