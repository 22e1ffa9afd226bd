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

	topicPeers, meshPeers, present, stored, evaluations *prometheus.Desc
}

var _ prometheus.Collector = sumState{}

func newSumState(n *nodeMetrics) sumState {
	return sumState{
		node:        n,
		topicPeers:  prometheus.NewDesc(topicPeersName, topicPeersHelp, nil, nil),
		meshPeers:   prometheus.NewDesc(meshPeersName, meshPeersHelp, nil, nil),
		present:     prometheus.NewDesc(presentName, presentHelp, nil, nil),
		stored:      prometheus.NewDesc(storedName, storedHelp, nil, nil),
		evaluations: prometheus.NewDesc(evaluationsName, evaluationsHelp, nil, nil),
	}
}

func (s sumState) Describe(to chan<- *prometheus.Desc) {
	to <- s.topicPeers
	to <- s.meshPeers
	to <- s.present
	to <- s.stored
	to <- s.evaluations
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
	var topicPeers, meshPeers, present, stored, evaluations int
	for _, m := range tasks {
		numbers := m.lastNumbers()
		topicPeers += m.topicPeers()
		meshPeers += m.meshSize()
		present += numbers.present
		stored += numbers.stored
		evaluations += numbers.progress.Evals
	}
	for desc, value := range map[*prometheus.Desc]int{s.topicPeers: topicPeers, s.meshPeers: meshPeers, s.present: present, s.stored: stored, s.evaluations: evaluations} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
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
