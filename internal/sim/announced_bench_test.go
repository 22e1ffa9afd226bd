package sim_test

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/crowdtest"
)

// BenchmarkTrafficInCrowds reports the traffic of TestLongTrafficInCrowds, also for 1,000 agents, which take too
// long for a test.
func BenchmarkTrafficInCrowds(b *testing.B) {
	for _, agents := range []int{200, 400, 1000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			var got crowdtest.Traffic
			for b.Loop() {
				got = crowdtest.PerMinute(b, agents, 32, 4, 6)
			}
			b.ReportMetric(got.Messages, "messages/agent-minute")
			b.ReportMetric(got.Gossiped, "gossip-B/agent-minute")
			b.ReportMetric(got.Fetched, "fetch-B/agent-minute")
			b.ReportMetric(0, "ns/op")
		})
	}
}
