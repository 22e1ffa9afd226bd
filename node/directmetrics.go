package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/node/internal/wire"
)

// directMetrics count direct messages.
type directMetrics struct {
	sent         *prometheus.CounterVec // by kind
	sendFailures prometheus.Counter
	dropped      *prometheus.CounterVec // by reason
	received     *prometheus.CounterVec // by kind
	rejected     *prometheus.CounterVec // by reason
}

func (d *directMetrics) define(c *collectors) {
	d.sent = c.counters("fbo_direct_sent_total", "Direct messages of this node whose receipt was confirmed.", "kind")
	d.sendFailures = c.counter("fbo_direct_send_failures_total", "Attempts to deliver a direct message that failed; most are made again.")
	d.dropped = c.counters("fbo_direct_dropped_total", "Direct messages of this node that were dropped.", "reason")
	d.received = c.counters("fbo_direct_received_total", "Direct messages that were taken.", "kind")
	d.rejected = c.counters("fbo_direct_rejected_total", "Direct messages that were rejected.", "reason")
}

func (d *directMetrics) initialise(kinds []string) {
	for _, kind := range kinds {
		d.sent.WithLabelValues(kind)
		d.received.WithLabelValues(kind)
	}
	for _, reason := range wire.DropReasons() {
		d.dropped.WithLabelValues(reason)
	}
	for _, reason := range wire.RejectReasons() {
		d.rejected.WithLabelValues(reason)
	}
}

// Initialise only the task's own kinds: the node sends and accepts no others.

func (m *taskMetrics) DirectSent(kind string) {
	if m != nil {
		m.direct.sent.WithLabelValues(kind).Inc()
	}
}

func (m *taskMetrics) DirectFailed() {
	if m != nil {
		m.direct.sendFailures.Inc()
	}
}

func (m *taskMetrics) DirectDropped(reason string, count int) {
	if m != nil {
		m.direct.dropped.WithLabelValues(reason).Add(float64(count))
	}
}

func (m *taskMetrics) DirectReceived(kind string) {
	if m != nil {
		m.direct.received.WithLabelValues(kind).Inc()
	}
}

func (m *taskMetrics) DirectRejected(reason string) {
	if m != nil {
		m.direct.rejected.WithLabelValues(reason).Inc()
	}
}
