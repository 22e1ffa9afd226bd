//go:build unix

package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
)

// Under noise best prints the recommended design as the summary of run does, while a node runs
// and after.
func TestBestUnderNoise(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	const definition = "name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n"
	file := writeFile(t, "line.yaml", definition)
	rows, imported := "x,value\n", []object{}
	for i := range 24 {
		x, value := float64(i/4)/6, float64(2*(i%2)-1)*50+float64(i)/100
		rows += fmt.Sprintf("%g,%g\n", x, value)
		imported = append(imported, object{"parameters": object{"x": x}, "outcome": object{"value": value}})
	}
	first := regexp.MustCompile(`^recommended: (x=\S+), predicted \S+ The noise of outcomes is larger than the differences between designs, so the best observed value is mostly luck:\n`)
	check := func(when string) {
		t.Helper()
		text := must(t, "best", "--data-dir", dir, file)
		found := first.FindStringSubmatch(text)
		if found == nil || !strings.Contains(text, "\nvalue  -50 (trial 1, imported)\nx  0\n") {
			t.Fatalf("%s best prints %s", when, text)
		}
		design := found[1]
		if flags := must(t, "best", "--data-dir", dir, file, "--format", "flags"); flags != "--x "+strings.TrimSuffix(strings.TrimPrefix(design, "x="), ",")+"\n" {
			t.Errorf("%s flags are %q, recommended is %s", when, flags, design)
		}
		var best struct {
			ID          uint64 `json:"id"`
			Recommended struct {
				agent.Recommendation
				Design object `json:"parameters"`
			} `json:"recommended"`
		}
		decode(t, must(t, "best", "--json", "--data-dir", dir, file), &best)
		if r := best.Recommended; best.ID != 1 || r.Design["x"] == nil || !r.Noisy || r.Predicted == nil || r.Reason == "" {
			t.Errorf("%s: %+v", when, best)
		}
	}
	p, _ := startServe(t, dir)
	client := socketClient(dir)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": definition})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/line/import", object{"trials": imported})
	mustRequest(t, http.StatusOK, client, "GET", "/v1/tasks/line/model", nil) // waits until the model knows all outcomes
	check("while the node runs")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	check("after the node has ended")

	past := writeFile(t, "rows.csv", rows)
	line := join(runLine(file, shortTempDir(t), "--import", past, "--evals", "1"), objective("bowl"))
	if e := call(t, line...); !regexp.MustCompile(`(?m)^recommended: x=\S+ predicted \S+ The noise of outcomes`).MatchString(e.stdout) {
		t.Errorf("run ends with %s", e.stdout)
	}
}
