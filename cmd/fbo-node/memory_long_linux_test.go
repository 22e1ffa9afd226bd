//go:build linux && long

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/adversary"
	"github.com/fbo-node/fbo/internal/cli/base"
)

const sharesTask = `name: shares
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: %d}
strategy: {type: fts}
`

// A node with --memory stays near that limit, which is a soft one, while two identities answer its requests
// with the shares of 1,101 authors, and makes progress. Without the flag the same node needs clearly more.
func TestLongMemoryLimit(t *testing.T) {
	const duration = 20 * time.Second
	const above = 1.08 // of the limit: the system counts pages of the program file, which differ
	program := released(t)
	limited := 0.0 // MiB, of large shares
	for _, c := range []struct {
		name     string
		features int // of a share
		flags    []string
		limit    float64 // MiB; 0: none
	}{
		{"large shares", 2048, []string{"--memory", "96MiB"}, 96},
		{"large shares without a limit", 2048, nil, 0},
		{"the smallest limit", 256, []string{"--memory", "64MiB"}, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := fmt.Sprintf(sharesTask, c.features)
			file := writeFile(t, "task.yaml", task)
			p := startCommand(t, exec.Command(program, join(runLine(file, shortTempDir(t), join([]string{"--json"}, c.flags)...), objective("steady"))...))
			f, err := adversary.NewField(adversary.Plan{
				Attack: "1,101 large shares in sync answers", Task: task, Targets: []string{p.tcpAddress(t)}, Addresses: []string{"127.0.0.1"},
			}, func() {})
			if err != nil {
				t.Fatal(err)
			}
			attack, err := adversary.ByName("1,101 large shares in sync answers")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- attack.Run(ctx, f) }()
			most, trials := 0.0, len(p.of("trial_finished"))
			for began := time.Now(); time.Since(began) < duration; time.Sleep(50 * time.Millisecond) {
				most = max(most, residentMB(t, p.command.Process.Pid)*1e6/(1<<20))
			}
			trials = len(p.of("trial_finished")) - trials
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			p.signal(t, os.Interrupt)
			if code := p.wait(t); code != base.ExitDone {
				t.Errorf("exit code %d, expected %d", code, base.ExitDone)
			}
			t.Logf("%d answers with 1,101 shares; at most %.0f MiB resident; %d trials meanwhile", f.Counts()["answers"], most, trials)
			switch {
			case c.limit == 0:
				if most < limited+8 {
					t.Errorf("%.0f MiB resident without a limit, %.0f with one; expected 8 MiB more", most, limited)
				}
			case most > above*c.limit:
				t.Errorf("%.0f MiB resident, expected at most %.2f of %.0f", most, above, c.limit)
			}
			limited = max(limited, most)
			if f.Counts()["answers"] == 0 || trials == 0 {
				t.Errorf("%d answers and %d trials, expected some", f.Counts()["answers"], trials)
			}
		})
	}
}
