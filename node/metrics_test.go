package node_test

import (
	"context"
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// measured is a node on real sockets with its metrics in the registry.
func measured(t *testing.T, registry *prometheus.Registry, peers ...string) *node.Node {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Peers: peers, Metrics: registry}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return n
}

// sample is a series: its labels and its value, or the count of a histogram.
type sample struct {
	labels map[string]string
	value  float64
}

// gather returns the samples of every metric.
func gather(t *testing.T, registry *prometheus.Registry) map[string][]sample {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]sample{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			s := sample{labels: map[string]string{}}
			for _, pair := range metric.GetLabel() {
				s.labels[pair.GetName()] = pair.GetValue()
			}
			switch {
			case metric.GetCounter() != nil:
				s.value = metric.GetCounter().GetValue()
			case metric.GetGauge() != nil:
				s.value = metric.GetGauge().GetValue()
			case metric.GetHistogram() != nil:
				s.value = float64(metric.GetHistogram().GetSampleCount())
			}
			samples[family.GetName()] = append(samples[family.GetName()], s)
		}
	}
	return samples
}

// value sums the series of a metric whose labels, given as name, value, …, fit.
func value(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	total, found := 0.0, false
	for _, s := range gather(t, registry)[name] {
		fits := true
		for i := 0; i < len(labels); i += 2 {
			fits = fits && s.labels[labels[i]] == labels[i+1]
		}
		if fits {
			total, found = total+s.value, true
		}
	}
	if !found {
		t.Fatalf("no series %s of %q", name, labels)
	}
	return total
}

// TestMetricsMove: two nodes in one registry, and what they did is in the
// metrics of the one that did it.
func TestMetricsMove(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	a := measured(t, registry)
	b := measured(t, registry, a.Addresses()[0])
	sessions := []*node.Session{join(t, a, bowl, 1), join(t, b, bowl, 2)}
	eventually(t, "both see both", func() bool {
		return len(statusOf(t, sessions[0]).Present) == 2 && len(statusOf(t, sessions[1]).Present) == 2
	})
	evaluate(t, sessions[0], 6)
	trial := ask(t, sessions[1])
	if err := sessions[1].Fail(t.Context(), trial.ID, "no luck"); err != nil {
		t.Fatal(err)
	}
	trial = ask(t, sessions[1])
	if _, err := sessions[1].Report(t.Context(), trial.ID, node.Step{Step: 1, Value: 0.5}); err != nil {
		t.Fatal(err)
	}
	if err := sessions[1].EndStopped(t.Context(), trial.ID, "diverged"); err != nil {
		t.Fatal(err)
	}
	ofA, ofB := strategy.ShortID(a.ID()), strategy.ShortID(b.ID())
	id := sessions[0].Task().ID().String()
	for _, node := range []string{ofA, ofB} {
		eventually(t, "all gauges at their values", func() bool {
			return value(t, registry, "fbo_connected_peers", "node", node) == 1 &&
				value(t, registry, "fbo_topic_peers", "node", node) == 1 &&
				value(t, registry, "fbo_mesh_peers", "node", node) == 1 &&
				value(t, registry, "fbo_present_nodes", "node", node) == 2 &&
				value(t, registry, "fbo_stored_shares", "node", node) >= 3 // two of presence, A's weights
		})
	}
	sent := float64(statusOf(t, sessions[0]).SharesSent)
	eventually(t, "what A sent is received by B", func() bool {
		return value(t, registry, "fbo_shares_received_total", "node", ofB, "kind", "weights", "result", "accepted") > 0
	})
	for _, c := range []struct {
		got, want float64
		what      string
	}{
		{value(t, registry, "fbo_shares_sent_total", "node", ofA, "kind", "weights"), sent, "weights sent by A"},
		{value(t, registry, "fbo_shares_sent_total", "node", ofB, "kind", "weights"), 0, "weights sent by B"},
		{value(t, registry, "fbo_suggestion_duration_seconds", "node", ofA), 6, "suggestions to A"},
		{value(t, registry, "fbo_suggestion_duration_seconds", "node", ofB), 2, "suggestions to B"},
		{value(t, registry, "fbo_evaluation_duration_seconds", "node", ofA, "state", "done"), 6, "evaluations by A"},
		{value(t, registry, "fbo_evaluation_duration_seconds", "node", ofB, "state", "done"), 0, "evaluations by B"},
		{value(t, registry, "fbo_evaluation_duration_seconds", "node", ofB, "state", "failed"), 1, "failures of B"},
		{value(t, registry, "fbo_evaluation_duration_seconds", "node", ofB, "state", "stopped"), 1, "stopped evaluations of B"},
		{value(t, registry, "fbo_task_info", "task_id", id, "peer_id", a.ID().String(), "task", id[len(id)-8:]), 1, "info"},
		{value(t, registry, "fbo_gossip_rejected_total", "reason", "invalid"), 0, "invalid messages"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	for _, name := range []string{"fbo_sent_bytes_total", "fbo_received_bytes_total"} {
		if got := value(t, registry, name, "node", ofA); got < 1000 {
			t.Errorf("%s: %g", name, got)
		}
	}
	if appends := value(t, registry, "fbo_journal_append_duration_seconds", "node", ofA); appends < 12 {
		t.Errorf("%g appends for six trials, each of which is started and ended", appends)
	}
	eventually(t, "a fetch", func() bool { return value(t, registry, "fbo_sync_fetches_total", "node", ofA) > 0 })
}

// TestMetricsEndWithWhatTheyMeasure: a registry can be used by one node after
// the other, and by a task that is joined again.
func TestMetricsEndWithWhatTheyMeasure(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Metrics: registry}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for range 2 {
		s := join(t, n, bowl, 1)
		if got := gather(t, registry); len(got["fbo_task_info"]) != 1 || len(got["fbo_present_nodes"]) != 1 {
			t.Errorf("metrics of a joined task: %v", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for name, samples := range gather(t, registry) {
			for _, s := range samples {
				if s.labels["task"] != "" {
					t.Errorf("%s %v is left of a task that was left", name, s.labels)
				}
			}
		}
	}
	twin := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Metrics: registry}
	key, err := os.ReadFile(n.Dir + "/" + store.IdentityFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(twin.Dir+"/"+store.IdentityFile, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := twin.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Node.Metrics: ") {
		t.Errorf("a second node of one identity in one registry: %v", err)
	}
	if got := gather(t, registry); len(got["fbo_connected_peers"]) != 1 {
		t.Errorf("the failed start has changed the metrics of the first node: %v", got)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if left := gather(t, registry); len(left) != 0 {
		t.Errorf("left of a closed node: %v", left)
	}
	if err := twin.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer twin.Close()
	if got := gather(t, registry); len(got["fbo_connected_peers"]) != 1 {
		t.Errorf("metrics of the second node: %v", got)
	}
}

// TestGarbageIsCounted: a stranger on the topic sends what is no share.
func TestGarbageIsCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := measured(t, registry)
	s := join(t, n, bowl, 1)
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.Identity(key), libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gossip, err := pubsub.NewGossipSub(ctx, h, pubsub.WithFloodPublish(true))
	if err != nil {
		t.Fatal(err)
	}
	topic, err := gossip.Join("/fbo/task/1/" + s.Task().ID().String())
	if err != nil {
		t.Fatal(err)
	}
	address, err := peer.AddrInfoFromString(n.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Connect(ctx, *address); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stranger sees the node", func() bool { return len(topic.ListPeers()) == 1 })
	const many = 3 // after that the stranger is not heard any more
	for i := range many {
		if err := topic.Publish(ctx, []byte{1, 2, 3, byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all garbage counted", func() bool {
		return value(t, registry, "fbo_gossip_rejected_total", "reason", "invalid") == many &&
			value(t, registry, "fbo_shares_received_total", "kind", "unknown", "result", "malformed") == many
	})
	if accepted := value(t, registry, "fbo_shares_received_total", "result", "accepted"); accepted != 0 {
		t.Errorf("%g shares accepted", accepted)
	}
}

// TestTableOfMetrics holds docs/metrics.md against the registry: names, types,
// labels and meanings.
func TestTableOfMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	join(t, measured(t, registry), promisedBowl, 1) // with a status item
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var registered []string
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		registered = append(registered, row(family.GetName(), strings.ToLower(family.GetType().String()), labels, family.GetHelp()))
	}
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `fbo_http_") {
			continue // of the daemon, not of a node
		}
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `fbo_") && len(cells) == 6 {
			documented = append(documented, row(strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2]), strings.Split(strings.TrimSpace(cells[3]), ", "), strings.TrimSpace(cells[4])))
		}
	}
	for _, entry := range registered {
		if !slices.Contains(documented, entry) {
			t.Errorf("not in the table: %s", entry)
		}
	}
	for _, entry := range documented {
		if !slices.Contains(registered, entry) {
			t.Errorf("in the table and not registered: %s", entry)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("against the conventions: %v, %v", problems, err)
	}
}

func row(name, kind string, labels []string, meaning string) string {
	slices.Sort(labels)
	return strings.Join([]string{name, kind, strings.Join(labels, ","), meaning}, " | ")
}

// TestScrapeOfABusyOrEndedSession: gauges that cannot be had are left out, and
// nothing hangs.
func TestScrapeOfABusyOrEndedSession(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := measured(t, registry)
	block, entered := make(chan struct{}), make(chan struct{})
	s, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{OnEvent: func(e node.Event) {
		if e.Trial != nil {
			close(entered)
			<-block
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := s.Ask(context.WithoutCancel(t.Context()))
		asked <- err
	}()
	<-entered
	begun := time.Now()
	got := gather(t, registry)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a scrape took %v", took)
	}
	if len(got["fbo_present_nodes"]) != 0 || len(got["fbo_topic_peers"]) != 1 {
		t.Errorf("of a busy session: %v", got)
	}
	close(block)
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
}

// TestSumMetrics: without the label task the series are sums over all tasks, and their number does
// not grow with the tasks.
func TestSumMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), Metrics: registry, SumMetrics: true}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	series := func() (count int) {
		for _, samples := range gather(t, registry) {
			count += len(samples)
		}
		return count
	}
	first := join(t, n, bowl, 1)
	one := series()
	second := join(t, n, strings.Replace(bowl, "name: bowl", "name: other", 1), 1)
	if two := series(); two != one {
		t.Errorf("%d series with one task, %d with two", one, two)
	}
	evaluate(t, first, 2)
	evaluate(t, second, 3)
	for name, want := range map[string]float64{"fbo_tasks": 2, "fbo_evaluations": 5, "fbo_present_nodes": 2, "fbo_evaluation_duration_seconds": 5, "fbo_topic_peers": 0} {
		for _, s := range gather(t, registry)[name] {
			if _, labelled := s.labels["task"]; labelled {
				t.Errorf("%s has the labels %v", name, s.labels)
			}
		}
		if got := value(t, registry, name); got != want {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if tasks, ended := value(t, registry, "fbo_tasks"), value(t, registry, "fbo_evaluation_duration_seconds"); tasks != 1 || ended != 5 {
		t.Errorf("after one task was left: %g tasks, %g evaluations", tasks, ended)
	}
}

// The numbers of status items are metrics.
func TestMetricsOfStatusItems(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	join(t, measured(t, registry), promisedBowl, 1)
	for field, want := range map[string]float64{"planned": 40, "released": 0} {
		if got := value(t, registry, "fbo_status", "item", "privacy", "field", field); got != want {
			t.Errorf("%s: %g, want %g", field, got, want)
		}
	}
}
