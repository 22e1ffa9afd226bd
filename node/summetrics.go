package node

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// sumState collects the gauges that are sums over all tasks. A session whose loop is busy for longer
// than scrapeTimeout counts with its numbers of the last scrape.
type sumState struct {
	node *nodeMetrics

	topicPeers, meshPeers *prometheus.Desc
	gauges                []agentGauge
}

var _ prometheus.Collector = sumState{}

func newSumState(n *nodeMetrics) sumState {
	return sumState{
		node:       n,
		topicPeers: prometheus.NewDesc(topicPeersName, topicPeersHelp, nil, nil),
		meshPeers:  prometheus.NewDesc(meshPeersName, meshPeersHelp, nil, nil),
		gauges:     agentGauges(),
	}
}

func (s sumState) Describe(to chan<- *prometheus.Desc) {
	to <- s.topicPeers
	to <- s.meshPeers
	for _, gauge := range s.gauges {
		to <- gauge.desc
	}
}

func (s sumState) Collect(to chan<- prometheus.Metric) {
	s.node.mu.RLock()
	tasks := slices.Collect(maps.Keys(s.node.started))
	s.node.mu.RUnlock()
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, m := range tasks {
		asking.Go(func() { m.refresh(ctx) })
	}
	asking.Wait()
	topicPeers, meshPeers, sums := 0, 0, make([]int, len(s.gauges))
	for _, m := range tasks {
		topicPeers += m.topicPeers()
		meshPeers += m.meshSize()
		numbers := m.lastNumbers()
		for i, gauge := range s.gauges {
			sums[i] += gauge.value(numbers)
		}
	}
	send := func(desc *prometheus.Desc, value int) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
	}
	send(s.topicPeers, topicPeers)
	send(s.meshPeers, meshPeers)
	for i, gauge := range s.gauges {
		send(gauge.desc, sums[i])
	}
}

// refresh updates the numbers of the last scrape, unless the session does not answer.
func (m *taskMetrics) refresh(ctx context.Context) {
	numbers, err := m.session.agentNumbers(ctx)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = numbers
}

func (m *taskMetrics) lastNumbers() agentNumbers {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
