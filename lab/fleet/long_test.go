//go:build long

package fleet

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
)

var (
	maxAgents = flag.Int("agents", 1000, "maximum number of agents of TestLongFleet")
	seedOf    = flag.Uint64("seed", 1, "seed of TestLongFleet")
)

// TestLongTrafficIsThatOfRealAgents compares the traffic of 200 agents with that of real ones.
func TestLongTrafficIsThatOfRealAgents(t *testing.T) { testCrowd(t, 200, 100, 32, 4, 6) }

// TestLongFleet prints the rows of docs/experiments/fleet.md.
func TestLongFleet(t *testing.T) {
	for _, agents := range []int{200, 1000, 3000, 10_000, 30_000, 100_000} {
		for _, faults := range []string{"none", "faults", "floods"} {
			if agents > *maxAgents {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", faults, agents), func(t *testing.T) {
				s := Scenario{
					Agents: agents, Seed: random.SeedOf(*seedOf), Starts: 4 * time.Minute, From: 10 * time.Minute, Till: 13 * time.Minute,
					ShareEvery: 10 * time.Minute, Working: true, Newcomers: 50, Message: sizes(t), NoFlood: faults == "faults",
				}
				if faults != "none" {
					s.Churn, s.Hostile, s.Split = 0.2, 0.2, Span{11 * time.Minute, 12 * time.Minute}
				}
				begin := time.Now()
				r, err := Run(s)
				if err != nil {
					t.Fatal(err)
				}
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				t.Logf("%v; %v, %d MiB", r, time.Since(begin).Round(100*time.Millisecond), memory.Sys>>20)
				if len(r.First) == 0 || r.Without > 0 {
					t.Errorf("%d newcomers got a share within a minute or later, %d did not", len(r.First), r.Without)
				}
			})
		}
	}
}
