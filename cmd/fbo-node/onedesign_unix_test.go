//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// Two nodes with different optima end with the same recommended design, between the two. A stopped node
// refuses to name one. After their starting designs they wait for each other's share: otherwise a busy machine
// delays it, and the nodes evaluate designs near their own optima only.
func TestOneDesignForAllNodes(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "plants.yaml", "name: plants\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+
		"surrogate: {features: 64}\nstrategy: {type: average-objective}\n")
	_, address := startKeeper(t, file, shortTempDir(t))
	dirs := []string{shortTempDir(t), shortTempDir(t)}
	gate := filepath.Join(shortTempDir(t), "open")
	var nodes []*process
	for i, optimum := range []string{"0.2", "0.6"} {
		nodes = append(nodes, start(t, join(runLine(file, dirs[i], "--json", "--peer", address, "--evals", "10", "--keep-after", "--seed", "1"), objective("shifted", optimum, gate))...))
	}
	for i, p := range nodes {
		id := nodes[1-i].await(t, "its start", isEvent("node_started")).PeerID
		p.await(t, "a share of the other node", func(e event) bool { return e.Event == "share_received" && e.Peer == id })
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range nodes {
		p.await(t, "its summary", isEvent("summary"))
	}
	type best struct {
		Recommended struct {
			Design    object  `json:"parameters"`
			Predicted float64 `json:"predicted"`
			Agents    int     `json:"agents"`
		} `json:"recommended"`
	}
	var both [2]best
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		for i, dir := range dirs {
			both[i] = best{}
			decode(t, must(t, "best", "--json", "--data-dir", dir, file), &both[i])
		}
		a, b := both[0].Recommended, both[1].Recommended
		if a.Agents == 2 && b.Agents == 2 && a.Design["x"] == b.Design["x"] && a.Predicted == b.Predicted {
			break
		}
		if time.Since(begun) > patienceOfTests {
			t.Fatalf("the nodes recommend %+v and %+v", a, b)
		}
	}
	if x := both[0].Recommended.Design["x"].(float64); x < 0.3 || x > 0.5 {
		t.Errorf("x = %g is recommended, the average of the objectives has its minimum at 0.4", x)
	}
	for i, dir := range dirs {
		if text := must(t, "best", "--data-dir", dir, file); !strings.HasPrefix(text, "recommended: x=") || !strings.Contains(text, "average objective of 2 agents") {
			t.Errorf("node %d: best prints %s", i, text)
		}
	}
	nodes[0].signal(t, syscall.SIGTERM)
	nodes[0].wait(t)
	for _, format := range []string{"text", "flags"} {
		if e := call(t, "best", "--data-dir", dirs[0], file, "--format", format); e.code == base.ExitDone || e.stdout != "" || !strings.Contains(e.stderr, "fbo-node keep") {
			t.Errorf("format %s of a stopped node: %+v", format, e)
		}
	}
}
