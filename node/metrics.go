package node

import (
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/strategy"
)

// Labels for the nodes of a registry and the tasks of a node. Their values are the last eight
// characters of the peer ID and of the task's ID. The metric fbo_task_info has the full IDs.
const (
	nodeLabel = "node"
	taskLabel = "task"
)

const shortLength = 8

func shortTask(id string) string { return id[max(0, len(id)-shortLength):] }

// nodeMetrics holds the collectors of one node, in the registry that the user chose. A nil
// *nodeMetrics counts nothing.
type nodeMetrics struct {
	collectors
	droppedRPCs prometheus.Counter
	total       *taskSeries // of all tasks; nil if each task has series of its own

	mu      sync.RWMutex
	tasks   map[string]*taskMetrics // by topic
	started map[*taskMetrics]bool   // those whose sessions answer calls, if there is a total
}

// startMetrics registers the metrics of the node that belong to no task.
func (n *Node) startMetrics() error {
	if n.Metrics == nil {
		return nil
	}
	m := &nodeMetrics{
		collectors: collectors{registerer: prometheus.WrapRegistererWith(prometheus.Labels{nodeLabel: strategy.ShortID(n.ID())}, n.Metrics)},
		tasks:      map[string]*taskMetrics{},
		started:    map[*taskMetrics]bool{},
	}
	m.droppedRPCs = m.counter("fbo_gossip_dropped_rpcs_total", "Gossip packets to a peer that were given up because its queue was full.")
	m.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fbo_connected_peers", Help: "Peers with a connection to this node, on any task or none.",
	}, func() float64 { return float64(len(n.host.Network().Peers())) }))
	m.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fbo_tasks", Help: "Tasks that the node takes part in.",
	}, func() float64 { return float64(m.taskCount()) }))
	if n.SumMetrics {
		m.total = newTaskSeries(m.registerer)
		m.list = append(m.list, m.total.list...)
		m.add(newSumState(m))
	}
	if n.Host == nil { // bytes of the user's host are not counted
		m.add(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "fbo_sent_bytes_total", Help: "Bytes sent on all streams.",
		}, func() float64 { return float64(n.traffic.Sent.Load()) }))
		m.add(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "fbo_received_bytes_total", Help: "Bytes received on all streams.",
		}, func() float64 { return float64(n.traffic.Received.Load()) }))
	}
	if err := m.register(); err != nil {
		return err
	}
	n.metrics = m
	n.onClose(func() error { m.unregister(); n.metrics = nil; return nil })
	return nil
}

// ofTopic returns the metrics of a topic's task, or nil if the node has not joined the topic.
func (m *nodeMetrics) ofTopic(topic string) *taskMetrics {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tasks[topic]
}

func (m *nodeMetrics) taskCount() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.tasks)
}

// closedStream removes a disconnected peer from the meshes of all tasks, because gossipsub reports
// no prune for it.
func (m *nodeMetrics) closedStream(id peer.ID) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, t := range m.tasks {
		t.pruned(id)
	}
}

// collectors is a list of metrics that are registered and unregistered together.
type collectors struct {
	registerer prometheus.Registerer
	list       []prometheus.Collector
}

func (c *collectors) add(collector prometheus.Collector) { c.list = append(c.list, collector) }

func (c *collectors) counter(name, help string) prometheus.Counter {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	c.add(counter)
	return counter
}

func (c *collectors) counters(name, help string, labels ...string) *prometheus.CounterVec {
	vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	c.add(vector)
	return vector
}

func (c *collectors) histogram(name, help string, buckets []float64) prometheus.Histogram {
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	c.add(histogram)
	return histogram
}

func (c *collectors) register() error {
	for i, collector := range c.list {
		if err := c.registerer.Register(collector); err != nil {
			c.list = c.list[:i]
			c.unregister()
			return fmt.Errorf("Node.Metrics: %w", err)
		}
	}
	return nil
}

func (c *collectors) unregister() {
	for _, collector := range c.list {
		c.registerer.Unregister(collector)
	}
}
