package node

import "github.com/prometheus/client_golang/prometheus"

// directMetrics count direct messages.
type directMetrics struct {
	sent     *prometheus.CounterVec // by kind
	failures prometheus.Counter
	lost     *prometheus.CounterVec // by reason
	received *prometheus.CounterVec // by kind
	refused  *prometheus.CounterVec // by reason
}

func (d *directMetrics) define(c *collectors) {
	d.sent = c.counters("fbo_direct_sent_total", "Direct messages of this node whose receipt was confirmed.", "kind")
	d.failures = c.counter("fbo_direct_failures_total", "Attempts to deliver a direct message that failed; most are made again.")
	d.lost = c.counters("fbo_direct_lost_total", "Direct messages of this node that were given up.", "reason")
	d.received = c.counters("fbo_direct_received_total", "Direct messages that were taken.", "kind")
	d.refused = c.counters("fbo_direct_refused_total", "Direct messages that were not taken.", "reason")
}

func (d *directMetrics) initialise(kinds []string) {
	for _, kind := range kinds {
		d.sent.WithLabelValues(kind)
		d.received.WithLabelValues(kind)
	}
	for _, reason := range []string{lostOverflow, lostExpired, lostNotAllowed, lostInvalid} {
		d.lost.WithLabelValues(reason)
	}
	for _, reason := range []string{refusedThrottled, refusedMalformed, refusedNotAllowed, refusedBroken} {
		d.refused.WithLabelValues(reason)
	}
}

// The kinds below are those of the task: nothing else is sent or taken.

func (m *taskMetrics) directSent(kind string) {
	if m != nil {
		m.direct.sent.WithLabelValues(kind).Inc()
	}
}

func (m *taskMetrics) directFailed() {
	if m != nil {
		m.direct.failures.Inc()
	}
}

func (m *taskMetrics) directLost(reason string, count int) {
	if m != nil {
		m.direct.lost.WithLabelValues(reason).Add(float64(count))
	}
}

func (m *taskMetrics) directReceived(kind string) {
	if m != nil {
		m.direct.received.WithLabelValues(kind).Inc()
	}
}

func (m *taskMetrics) directRefused(reason string) {
	if m != nil {
		m.direct.refused.WithLabelValues(reason).Inc()
	}
}
