package sim

import (
	"fmt"
	"testing"
)

// BenchmarkTrafficInCrowds reports the traffic of TestLongTrafficInCrowds, also for 1,000 agents, which take too
// long for a test.
func BenchmarkTrafficInCrowds(b *testing.B) {
	for _, agents := range []int{200, 400, 1000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			var got crowdTraffic
			for b.Loop() {
				got = perMinute(b, agents, 32, 4, 6)
			}
			b.ReportMetric(got.messages, "messages/agent-minute")
			b.ReportMetric(got.gossiped, "gossip-B/agent-minute")
			b.ReportMetric(got.fetched, "fetch-B/agent-minute")
			b.ReportMetric(0, "ns/op")
		})
	}
}
