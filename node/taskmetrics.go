package node

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/strategy"
)

// Upper bounds of the histograms' buckets, in seconds.
var (
	journalBuckets    = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	suggestionBuckets = []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	evaluationBuckets = []float64{.1, .5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 72 * 3600}
)

// scrapeTimeout is the maximum time for which a scrape waits for a session's loop.
const scrapeTimeout = time.Second

// taskSeries holds the counters and histograms of one task, or of all tasks of a node.
type taskSeries struct {
	collectors
	sent            *prometheus.CounterVec // by kind
	received        *prometheus.CounterVec // by kind and result
	publishFailures prometheus.Counter
	rejected        *prometheus.CounterVec // by reason
	undeliverable   prometheus.Counter
	duplicate       prometheus.Counter
	fetches         prometheus.Counter
	fetchFailures   prometheus.Counter
	direct          directMetrics
	journal         prometheus.Histogram
	suggestion      prometheus.Histogram
	evaluation      *prometheus.HistogramVec // by state
}

// taskMetrics holds the metrics of one session. A nil *taskMetrics counts nothing.
type taskMetrics struct {
	*taskSeries
	node    *nodeMetrics
	session *Session
	topic   string
	kinds   map[string]bool

	begun map[uint64]time.Time // start times of running trials; owned by the session's loop

	mu   sync.Mutex
	mesh map[peer.ID]bool
	last agentNumbers // of the last scrape that the session answered, without a label task
}

// newTaskMetrics creates a session's metrics, and adds them to the metrics that the gossip tracer
// updates. Those with the label task are not registered yet.
func newTaskMetrics(s *Session) *taskMetrics {
	n := s.node.metrics
	if n == nil {
		return nil
	}
	m := &taskMetrics{
		taskSeries: n.total,
		node:       n,
		session:    s,
		topic:      wire.TopicName(s.task, s.keys),
		kinds:      map[string]bool{},
		begun:      map[uint64]time.Time{},
		mesh:       map[peer.ID]bool{},
	}
	if n.total == nil {
		m.taskSeries = newTaskSeries(prometheus.WrapRegistererWith(prometheus.Labels{taskLabel: shortTask(s.id)}, n.registerer))
		m.defineStates()
	}
	m.initialise(s.agent.Kinds())
	n.mu.Lock()
	n.tasks[m.topic] = m
	n.mu.Unlock()
	return m
}

func newTaskSeries(registerer prometheus.Registerer) *taskSeries {
	m := &taskSeries{collectors: collectors{registerer: registerer}}
	m.sent = m.counters("fbo_shares_sent_total", "Shares of this node given to gossip.", "kind")
	m.received = m.counters("fbo_shares_received_total", "Shares received by gossip or by catching up, by the result of their validation.", "kind", "result")
	m.publishFailures = m.counter("fbo_share_publish_failures_total", "Shares of this node that gossip could not publish; peers get them by catching up.")
	m.rejected = m.counters("fbo_gossip_rejected_total", "Gossip messages that were not passed on to other peers.", "reason")
	m.undeliverable = m.counter("fbo_gossip_undeliverable_total", "Valid gossip messages that the node was too slow to take off its queue; their shares were taken in before.")
	m.duplicate = m.counter("fbo_gossip_duplicate_total", "Gossip messages that came again by another way.")
	m.fetches = m.counter("fbo_sync_fetches_total", "Attempts to catch up on shares with a peer.")
	m.fetchFailures = m.counter("fbo_sync_fetch_failures_total", "Attempts to catch up that failed.")
	m.direct.define(&m.collectors)
	m.journal = m.histogram("fbo_journal_append_duration_seconds", "Time to write records to the journal and sync them to the disk.", journalBuckets)
	m.suggestion = m.histogram("fbo_suggestion_duration_seconds", "Time from asking for a trial to getting it.", suggestionBuckets)
	m.evaluation = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "fbo_evaluation_duration_seconds", Help: "Time from getting a trial to its end: the report of its outcome or failure, or an early stop.", Buckets: evaluationBuckets,
	}, []string{"state"})
	m.add(m.evaluation)
	return m
}

// initialise creates every series with the value zero, so that rates and alerts count the first
// event.
func (m *taskMetrics) initialise(kinds []string) {
	for _, kind := range kinds {
		m.kinds[kind] = true
		m.sent.WithLabelValues(kind)
	}
	m.direct.initialise(kinds)
	for _, kind := range append(kinds, wire.UnknownKind) {
		for _, result := range agent.ShareResults() {
			m.received.WithLabelValues(kind, result.String())
		}
	}
	for _, reason := range rejectReasons {
		m.rejected.WithLabelValues(reason)
	}
	m.rejected.WithLabelValues(otherReason)
	for _, state := range []strategy.State{strategy.Done, strategy.Failed, strategy.StoppedEarly} {
		m.evaluation.WithLabelValues(string(state))
	}
}

// close unregisters the metrics with the label task. Counting after close is harmless.
func (m *taskMetrics) close() {
	if m == nil {
		return
	}
	if m.taskSeries != m.node.total {
		m.unregister()
	}
	m.node.mu.Lock()
	defer m.node.mu.Unlock()
	delete(m.node.tasks, m.topic)
	delete(m.node.started, m)
}

// start registers the metrics with the label task, or adds the session to the sums. The session's
// loop must begin next, because a scrape asks it for its state.
func (m *taskMetrics) start() error {
	if m == nil {
		return nil
	}
	if m.taskSeries != m.node.total {
		return m.register()
	}
	m.node.mu.Lock()
	defer m.node.mu.Unlock()
	m.node.started[m] = true
	return nil
}

func (m *taskMetrics) shareSent(kind string) {
	if m != nil {
		m.sent.WithLabelValues(kind).Inc()
	}
}

func (m *taskMetrics) ShareUnpublished() {
	if m != nil {
		m.publishFailures.Inc()
	}
}

func (m *taskMetrics) ShareReceived(kind string, result agent.ShareResult) {
	if m == nil {
		return
	}
	if !m.kinds[kind] {
		kind = wire.UnknownKind
	}
	m.received.WithLabelValues(kind, result.String()).Inc()
}

func (m *taskMetrics) Fetched(failed bool) {
	if m == nil {
		return
	}
	m.fetches.Inc()
	if failed {
		m.fetchFailures.Inc()
	}
}

func (m *taskMetrics) appended(took time.Duration) {
	if m != nil {
		m.journal.Observe(took.Seconds())
	}
}

func (m *taskMetrics) suggested(took time.Duration) {
	if m != nil {
		m.suggestion.Observe(took.Seconds())
	}
}

// event measures the duration of evaluations. A trial that began in an earlier process has no
// duration.
func (m *taskMetrics) event(e Event, now time.Time) {
	if m == nil {
		return
	}
	switch e.Type {
	case agent.TrialStarted:
		m.begun[e.Trial.ID] = now
	case agent.TrialFinished:
		if begun, ok := m.begun[e.Trial.ID]; ok {
			m.evaluation.WithLabelValues(string(e.Trial.State)).Observe(now.Sub(begun).Seconds())
			delete(m.begun, e.Trial.ID)
		}
	}
}

func (m *taskMetrics) grafted(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mesh[id] = true
}

func (m *taskMetrics) pruned(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mesh, id)
}

func (m *taskMetrics) meshSize() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.mesh)
}

// topicPeers returns the number of connected peers on the topic.
func (m *taskMetrics) topicPeers() int { return len(m.session.topic.OnTask()) }

// Names and meanings of the gauges of connections that sums have too.
const (
	topicPeersName, topicPeersHelp = "fbo_topic_peers", "Connected peers that take part in the task's gossip."
	meshPeersName, meshPeersHelp   = "fbo_mesh_peers", "Those of them to which whole messages are passed on."
)

// agentGauge is a number of an agent's state that sums have too.
type agentGauge struct {
	desc  *prometheus.Desc
	value func(agentNumbers) int
}

// agentGauges returns the gauges of an agent's state that sums have too.
func agentGauges() (gauges []agentGauge) {
	add := func(name, help string, value func(agentNumbers) int) {
		gauges = append(gauges, agentGauge{prometheus.NewDesc(name, help, nil, nil), value})
	}
	add("fbo_present_nodes", "Nodes that this node knows to take part in the task, itself included.", func(n agentNumbers) int { return n.present })
	add("fbo_stored_shares", "Shares that the node stores, its own included.", func(n agentNumbers) int { return n.stored })
	add("fbo_large_topics", "1 while the topic is large: nodes announce shares in place of gossiping them.", func(n agentNumbers) int {
		if n.large != nil {
			return 1
		}
		return 0
	})
	ofLarge := func(name, help string, value func(LargeStatus) int) {
		add(name, help, func(n agentNumbers) int {
			if n.large == nil {
				return 0
			}
			return value(*n.large)
		})
	}
	ofLarge("fbo_chosen_authors", "Authors whose announced shares this node fetches; 0 while the topic is small.", func(s LargeStatus) int { return len(s.Authors) })
	ofLarge("fbo_announced_shares", "Shares that these authors announce.", func(s LargeStatus) int { return s.Announced })
	ofLarge("fbo_announced_shares_stored", "Of these shares, those that the node stores.", func(s LargeStatus) int { return s.Stored })
	add("fbo_evaluations", "Evaluations of the task by this node with an outcome or stopped early, imported ones left out.", func(n agentNumbers) int { return n.progress.Evals })
	return gauges
}

// defineStates adds the gauges of one task.
func (m *taskMetrics) defineStates() {
	s := m.session
	m.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: topicPeersName, Help: topicPeersHelp}, func() float64 { return float64(m.topicPeers()) }))
	m.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: meshPeersName, Help: meshPeersHelp}, func() float64 { return float64(m.meshSize()) }))
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "fbo_task_info", Help: "Always 1; the labels have the full name and IDs.",
		ConstLabels: prometheus.Labels{"name": s.task.Name, "task_id": s.id, "peer_id": s.node.ID().String()},
	})
	info.Set(1)
	m.add(info)
	m.add(agentState{
		session: s,
		gauges:  agentGauges(),
		cost:    prometheus.NewDesc("fbo_cost", "Cost of the evaluations of the task by this node, in the unit that they report; running ones included.", nil, nil),
		limits:  prometheus.NewDesc("fbo_run_budget", "Limits of the present run, of evaluations and of cost; 0 without one.", []string{"of"}, nil),
		left:    prometheus.NewDesc("fbo_run_left_seconds", "Estimate of the time until the budget of the present run is spent; 0 while it is unknown.", nil, nil),
		items:   prometheus.NewDesc("fbo_status", "Numbers of the status items that the task's exchanges report.", []string{"item", "field"}, nil),
	})
}

// agentNumbers are the numbers of an agent's state.
type agentNumbers struct {
	present, stored int
	large           *LargeStatus
	progress        Progress
	items           []strategy.StatusItem
}

// agentNumbers returns the numbers with one call to the session's loop.
func (s *Session) agentNumbers(ctx context.Context) (numbers agentNumbers, err error) {
	err = s.do(ctx, func(now time.Time) {
		numbers = agentNumbers{
			present:  len(s.agent.Present(now).Present),
			stored:   len(s.agent.Digest()),
			large:    s.agent.LargeStatus(),
			progress: s.budget.Progress(s.agent.Trials(), now),
			items:    s.agent.Status(),
		}
	})
	return numbers, err
}

// agentState collects the gauges from the agent, with one call to the session's loop per scrape. If
// the session has ended, or the loop is busy for longer than scrapeTimeout, the scrape has no such
// gauges.
type agentState struct {
	session *Session
	gauges  []agentGauge

	items, cost, limits, left *prometheus.Desc
}

var _ prometheus.Collector = agentState{}

func (a agentState) Describe(to chan<- *prometheus.Desc) {
	for _, gauge := range a.gauges {
		to <- gauge.desc
	}
	to <- a.items
	to <- a.cost
	to <- a.limits
	to <- a.left
}

func (a agentState) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	numbers, err := a.session.agentNumbers(ctx)
	if err != nil {
		return
	}
	for _, gauge := range a.gauges {
		to <- prometheus.MustNewConstMetric(gauge.desc, prometheus.GaugeValue, float64(gauge.value(numbers)))
	}
	a.collectProgress(to, numbers.progress)
	seen := map[string]bool{} // a duplicate key would make the whole scrape fail
	for _, item := range numbers.items {
		if seen[item.Key] {
			continue
		}
		seen[item.Key] = true
		for field, value := range numbersOf(numbers.items, item.Key) {
			if metric, err := prometheus.NewConstMetric(a.items, prometheus.GaugeValue, value, item.Key, field); err == nil {
				to <- metric
			}
		}
	}
}

func (a agentState) collectProgress(to chan<- prometheus.Metric, p Progress) {
	gauge := func(of *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	}
	cost := 0.0
	if p.Cost != nil {
		cost = p.Cost.Spent
	}
	gauge(a.cost, cost)
	gauge(a.limits, float64(p.MaxEvals), "evaluations")
	gauge(a.limits, p.MaxCost, "cost")
	gauge(a.left, p.SecondsLeft)
}

// numbersOf returns the numbers in an item's value by field name. If the value itself is a number,
// its field is "value".
func numbersOf(items []strategy.StatusItem, key string) map[string]float64 {
	if value, ok := strategy.StatusValue[float64](items, key); ok {
		return map[string]float64{"value": value}
	}
	fields, _ := strategy.StatusValue[map[string]any](items, key)
	numbers := map[string]float64{}
	for field, value := range fields {
		if number, ok := value.(float64); ok {
			numbers[field] = number
		}
	}
	return numbers
}
