// Package nvflare tests the NVFlare example. Its test skips, and reports why, without a Python that has nvflare and
// scikit-learn; FBO_PYTHON_FEDERATED names one.
package nvflare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/federated"
)

// TestJob runs the job in NVFlare's simulator. The lines of the sites are the last that job.py prints.
func TestJob(t *testing.T) {
	output := federated.Run(t, "nvflare", "job.py", "--rounds", "1", "--evals", "4")
	var sites []federated.Site
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, `{"site"`) {
			continue
		}
		var site federated.Site
		if err := json.Unmarshal([]byte(line), &site); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		sites = append(sites, site)
	}
	federated.Check(t, sites)
}
