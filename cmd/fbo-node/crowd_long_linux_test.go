//go:build linux && long

package main_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
)

// crowdTask has the default strategy and surrogate.
const crowdTask = `name: crowd
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
`

var crowdNodes = flag.Int("processes", crowdDefault, "number of nodes of TestLongProcessesInLargeTopic, at most 254")

const (
	crowdDefault = 60
	crowdOthers  = 2 * sharebundle.MaxAuthors // authors of presence messages without a process; alone enough for a large topic
	crowdAuthors = 32                         // that a node of a large topic chooses
	crowdNodeMB  = 80                         // of a node, its evaluation included
	startsAtOnce = 2                          // nodes that are starting at the same time
	gatedTrial   = 3                          // which ends when the topic is large; the next one lasts until the test ends
)

// Processes with an address each meet through a hub in a topic that is large, since each has also received
// the presence messages of 128 other authors. Without these the nodes of a topic just below the limit need
// more than two processors. Each node finishes an evaluation. None gossips the share that follows, and each
// receives the newest shares of all authors that it has chosen. The traffic is logged: docs/performance.md has
// it.
func TestLongProcessesInLargeTopic(t *testing.T) {
	available := fieldMB(t, "/proc/meminfo", "MemAvailable")
	if needed := float64(*crowdNodes * crowdNodeMB); available < needed {
		t.Skipf("%d processes need %.0f MB of memory, %.0f are available", *crowdNodes, needed, available)
	}
	t.Setenv("GOMAXPROCS", "1") // of each node
	c := startCrowd(t)
	c.until("in a large topic with all others", func(n *crowdNode) string {
		if s := c.status(n); s.LargeTopic == nil || len(s.Present) < *crowdNodes+crowdOthers {
			return fmt.Sprintf("large topic %+v, %d nodes present, hubs %+v", s.LargeTopic, len(s.Present), s.Hubs)
		}
		return ""
	})
	gossiped, counting := c.gossiped(), time.Now()
	before, began := c.bytesSent(), time.Now()
	c.finishTrial()
	c.untilDelivered()
	took, counted := time.Since(began), time.Since(counting) // both counts read the nodes in the same order
	perNode := (c.bytesSent() - before) / float64(*crowdNodes) / counted.Minutes()
	t.Logf("all chosen shares were delivered %.0f s after the outcomes; a node sent %.0f bytes a minute meanwhile", took.Seconds(), perNode)
	if now := c.gossiped(); now != gossiped {
		t.Errorf("the nodes of a large topic have gossiped %.0f shares, want none", now-gossiped)
	}
	text := must(t, "status", "--data-dir", c.nodes[0].dir)
	if want := fmt.Sprintf("\nlarge     fetches the announced shares of %d other nodes, stores ", crowdAuthors); !strings.Contains(text, want) {
		t.Errorf("the status is\n%s\nwant in it %q", text, want)
	}
}

// crowdOf are processes on one task.
type crowdOf struct {
	t     *testing.T
	gate  string // a named pipe; evaluations wait until it is opened for writing
	nodes []*crowdNode
}

type crowdNode struct {
	*process
	dir string
	id  peer.ID
}

// startCrowd starts a hub and nodes that know only the hub, and waits for their gated trials.
func startCrowd(t *testing.T) *crowdOf {
	t.Helper()
	program, dir, file := released(t), shortTempDir(t), writeFile(t, "crowd.yaml", crowdTask)
	c := &crowdOf{t: t, gate: filepath.Join(dir, "gate")}
	if err := syscall.Mkfifo(c.gate, 0o600); err != nil {
		t.Fatal(err)
	}
	hub := startReleased(t, program, "hub", "--json", "--data-dir", filepath.Join(dir, "hub"), "--listen", "/ip4/127.0.0.1/tcp/0")
	address := hub.await(t, "its start", isEvent("hub_started")).Addresses[0]
	objective := fmt.Sprintf(`case $FBO_TRIAL in %d) cat %s;; %d) exec sleep 3600;; esac; echo $FBO_PARAM_X`, gatedTrial, c.gate, gatedTrial+1)
	others, began := presenceBundles(t), time.Now()
	for i := range *crowdNodes + startsAtOnce {
		if i >= startsAtOnce {
			n := c.nodes[i-startsAtOnce]
			id, err := peer.Decode(n.await(t, "its start", isEvent("node_started")).PeerID)
			if err != nil {
				t.Fatal(err)
			}
			n.id = id
			for _, bundle := range others {
				mustRequest(t, 200, socketClient(n.dir), "POST", "/v1/tasks/crowd/shares", object{"bundle": bundle})
			}
			n.await(t, "the gated trial", func(e event) bool { return e.Event == "trial_started" && e.Trial.ID == gatedTrial })
		}
		if i < *crowdNodes {
			n, ip := &crowdNode{dir: filepath.Join(dir, fmt.Sprint(i))}, fmt.Sprintf("127.0.1.%d", 1+i)
			n.process = startReleased(t, program, "run", file, "--json", "--mdns=false", "--data-dir", n.dir, "--hub", address,
				"--listen", "/ip4/"+ip+"/tcp/0", "--metrics", ip+":0", "--wait-for-peers", "0", "--", "sh", "-c", objective)
			c.nodes = append(c.nodes, n)
		}
	}
	memory := 0.0
	for _, n := range c.nodes {
		memory += residentMB(t, n.command.Process.Pid)
	}
	t.Logf("%d nodes started within %.0f s; a node had %.0f MB resident", *crowdNodes, time.Since(began).Seconds(), memory/float64(*crowdNodes))
	return c
}

// presenceBundles returns bundles with the presence messages of other authors, which announce no shares.
func presenceBundles(t *testing.T) (files [][]byte) {
	t.Helper()
	parsed, err := all.Strategies().Parse("crowd", []byte(crowdTask))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := protocol.Presence{}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var items []sharebundle.Item
	for i := range crowdOthers {
		share, err := protocol.Seal(protocol.Share{
			Task: parsed.ID(), Key: protocol.Key{Kind: presence.Kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}, TTL: time.Hour, Payload: payload,
		}, fbotest.Key(t, i))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, sharebundle.Item{Share: share})
	}
	for part := range slices.Chunk(items, sharebundle.MaxAuthors) {
		file, err := sharebundle.Encode(sharebundle.Bundle{Task: parsed.ID(), Made: time.Now(), Items: part}, fbotest.Key(t, crowdOthers), nil)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// finishTrial ends the gated trial of all nodes, and waits for the shares that follow.
func (c *crowdOf) finishTrial() {
	c.t.Helper()
	gate, err := os.OpenFile(c.gate, os.O_WRONLY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	gate.Close()
	for _, n := range c.nodes {
		n.await(c.t, "the end of the gated trial", func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == gatedTrial })
		n.await(c.t, "the next trial", func(e event) bool { return e.Event == "trial_started" && e.Trial.ID == gatedTrial+1 })
		n.await(c.t, "its first share", func(e event) bool { return e.Event == "share_sent" && e.Kind != presence.Kind })
	}
}

// shareKey identifies what a newer share replaces.
type shareKey struct{ peer, kind string }

// newest returns the newest stamps of shares in events of a type, without presence messages.
func (n *crowdNode) newest(kind, self string) map[shareKey]protocol.Stamp {
	newest := map[shareKey]protocol.Stamp{}
	for _, e := range n.of(kind) {
		key := shareKey{e.Peer, e.Kind}
		if key.peer == "" {
			key.peer = self
		}
		if e.Kind != presence.Kind && e.Stamp.Compare(newest[key]) > 0 {
			newest[key] = e.Stamp
		}
	}
	return newest
}

// untilDelivered waits until each node has the newest shares of all authors that it has chosen.
func (c *crowdOf) untilDelivered() {
	c.t.Helper()
	sent := map[peer.ID]map[shareKey]protocol.Stamp{}
	for _, n := range c.nodes {
		sent[n.id] = n.newest("share_sent", n.id.String())
	}
	c.until("served with the shares of all chosen authors", func(n *crowdNode) string {
		s := c.status(n)
		if s.LargeTopic == nil || len(s.LargeTopic.Authors) != crowdAuthors {
			return fmt.Sprintf("%d present, large topic %+v", len(s.Present), s.LargeTopic)
		}
		received, missing := n.newest("share_received", ""), 0
		for _, author := range s.LargeTopic.Authors {
			for key, stamp := range sent[author] {
				if received[key].Compare(stamp) < 0 {
					missing++
				}
			}
		}
		if missing > 0 {
			return fmt.Sprintf("%d newest shares of %d authors are missing, %d of %d announced ones are stored", missing, crowdAuthors, s.LargeTopic.Stored, s.LargeTopic.Announced)
		}
		return ""
	})
}

// until waits until lacks, which reports what a node lacks, has been empty for each node.
func (c *crowdOf) until(what string, lacks func(*crowdNode) string) {
	c.t.Helper()
	lacking := map[*crowdNode]string{}
	for _, n := range c.nodes {
		lacking[n] = "unknown"
	}
	for began := time.Now(); len(lacking) > 0; time.Sleep(5 * time.Second) {
		if time.Since(began) > patienceOfTests*time.Duration(len(c.nodes))/crowdDefault { // all share the processors
			c.t.Fatalf("%d of %d nodes are not %s:\n%s", len(lacking), len(c.nodes), what, strings.Join(slices.Sorted(maps.Values(lacking)), "\n"))
		}
		for n := range lacking {
			if lacking[n] = lacks(n); lacking[n] == "" {
				delete(lacking, n)
			}
		}
		c.t.Logf("%.0f s: %d of %d nodes are not %s", time.Since(began).Seconds(), len(lacking), len(c.nodes), what)
	}
}

func (c *crowdOf) status(n *crowdNode) (s node.Status) {
	c.t.Helper()
	if ok, err := control.Ask(c.t.Context(), n.dir, "/v1/tasks/crowd/status", &s); !ok || err != nil {
		c.t.Fatalf("the status of node %s: %v, %v", n.id, ok, err)
	}
	return s
}

// gossiped returns the number of shares that all nodes have gossiped, without presence messages.
func (c *crowdOf) gossiped() float64 {
	return c.sum(func(m metric) bool {
		return m.name == "fbo_shares_sent_total" && !strings.Contains(m.labels, `kind="`+presence.Kind+`"`)
	})
}

func (c *crowdOf) bytesSent() float64 {
	return c.sum(func(m metric) bool { return m.name == "fbo_sent_bytes_total" })
}

// sum returns the sum of series over all nodes.
func (c *crowdOf) sum(matches func(metric) bool) (sum float64) {
	c.t.Helper()
	for _, n := range c.nodes {
		series := n.metrics(c.t)
		if !slices.ContainsFunc(series, matches) {
			c.t.Fatalf("the metrics of node %s lack a series", n.id)
		}
		for _, m := range series {
			if matches(m) {
				sum += m.value
			}
		}
	}
	return sum
}
