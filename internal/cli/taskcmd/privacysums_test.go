package taskcmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// summingTask is a task with private sums; nobody has the keys of its nodes.
// strategyKeys and privacyKeys begin with a comma.
func summingTask(t *testing.T, nodes, features int, strategyKeys, privacyKeys string) *task.Task {
	t.Helper()
	names := make([]string, nodes)
	for i := range names {
		public := sha256.Sum256(fmt.Append(nil, i))
		key, err := crypto.UnmarshalEd25519PublicKey(public[:])
		if err != nil {
			t.Fatal(err)
		}
		id, err := peer.IDFromPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		names[i] = id.String()
	}
	parsed, err := all.Strategies().Parse("task.yaml", fmt.Appendf(nil, `
name: summed
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: %d}
strategy: {type: fts-de%s}
privacy: {mechanism: aggregate, epsilon: 8%s, roster: [%s]}
`, features, strategyKeys, privacyKeys, strings.Join(names, ", ")))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func sumReportOf(t *testing.T, of *task.Task) PrivacyReport {
	t.Helper()
	r, err := planOf(of)
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// The noise that the report tells is that of what nodes in fact add. Of 1280 numbers
// or more the measured deviation is within 10 % but for once in 10^6.
func TestToldNoiseIsWhatIsAdded(t *testing.T) {
	const sums = 10
	for _, c := range []struct {
		nodes, features int
		strategyKeys    string
	}{{4, 128, ""}, {12, 128, ""}, {8, 64, ", cells: 4"}} {
		of := summingTask(t, c.nodes, c.features, c.strategyKeys, "")
		report := sumReportOf(t, of)
		cells := report.Sums.Cells
		square := 0.0
		entropy := rand.NewChaCha8([32]byte{byte(c.nodes)})
		for range sums {
			sum := make([]int64, report.Dimension)
			for range c.nodes {
				ledger, err := ledger.NewLedger(of, entropy)
				if err != nil {
					t.Fatal(err)
				}
				units, _, _, err := ledger.Contribute(make([]float64, report.Dimension))
				if err != nil {
					t.Fatal(err)
				}
				for i, u := range units {
					sum[i] += u
				}
			}
			terms, err := ledger.NewTerms(of)
			if err != nil {
				t.Fatal(err)
			}
			// In the first sums a cell's part is divided by how many nodes tell of it.
			for _, w := range terms.Weights(sum)[:c.features] {
				square += math.Pow(w/(float64(c.nodes)/float64(cells)), 2)
			}
		}
		deviation := math.Sqrt(square / sums / float64(c.features))
		if ratio := deviation / report.Sums.All.Noise; math.Abs(ratio-1) > 0.1 {
			t.Errorf("%+v: deviation %g, told is %g", c, deviation, report.Sums.All.Noise)
		}
		// What each cell can hold of the signal is its part of the norm.
		signal := report.Clip / math.Sqrt(float64(cells)) / (report.Sums.All.Noise * math.Sqrt(float64(c.features)))
		if math.Abs(signal/report.Sums.All.Signal-1) > 1e-9 {
			t.Errorf("%+v: signal %g, told is %g", c, signal, report.Sums.All.Signal)
		}
	}
}

// TestHintedNumberOfNodesSuffices checks that the number of nodes in the hint is the minimum
// that suffices.
func TestHintedNumberOfNodesSuffices(t *testing.T) {
	for _, c := range []struct {
		nodes, contributors, colluding, features int
		strategyKeys                             string
	}{
		{4, 3, 1, 64, ""},
		{10, 5, 2, 256, ""},
		{8, 6, 1, 32, ", cells: 4"},
		{8, 6, 1, 32, ", cells: 4, share_every: 6"},
		{20, 20, 6, 64, ", weights: schedule"},
	} {
		with := func(nodes, contributors int) *sumReport {
			keys := fmt.Sprintf(", min_contributors: %d, max_colluding: %d", contributors, c.colluding)
			return sumReportOf(t, summingTask(t, nodes, c.features, c.strategyKeys, keys)).Sums
		}
		disclosed := with(c.nodes, c.contributors)
		ratio := func(nodes int) float64 { return with(nodes, disclosed.least(nodes)).SignalToNoiseUsed }
		if disclosed.SignalToNoiseUsed >= 1 || disclosed.enough <= c.nodes {
			t.Fatalf("%+v: signal-to-noise ratio %g, %d nodes suffice; expected a ratio below 1 and more nodes", c, disclosed.SignalToNoiseUsed, disclosed.enough)
		}
		// The noise is calibrated to a part in a million.
		if few, enough := ratio(disclosed.enough-1), ratio(disclosed.enough); few >= 1+1e-5 || enough < 1-1e-5 {
			t.Errorf("%+v: %d nodes should suffice, but their ratio is %g, with one node fewer %g", c, disclosed.enough, enough, few)
		}
	}
}

func TestWhatIsSaidOfSums(t *testing.T) {
	for _, c := range []struct {
		name            string
		nodes, features int
		strategyKeys    string
		privacyKeys     string
		want, not       []string
	}{
		{
			name: "few nodes", nodes: 4, features: 16, privacyKeys: ", releases: 4",
			want: []string{
				"privacy     aggregate mechanism\nguarantee: (ε = 8, δ = 1e-05)-differential privacy of each node's observations as a whole, over its 4 contributions to sums",
				"against all that receive the sums, and against any one node with all that it knows",
				"distinguish its contributions from those of any other node",
				"only the 4 nodes on the roster can take part; a sum is of 3 at least.",
				"a committee of 4, drawn anew for every round: no member of it sees\nanything of it, as long as SHA-256 hides what it is given",
				"3 of the 4 must be up in a round, so that 1 may be down",
				"deviation 3.4 to each of its 16 numbers (1 cell times 16 features), clipped to norm 2 before",
				"all 4 nodes holds at most 0.29 times", "the least 3 at most 0.26 times",
				"average of all sums so far, which after 4 of all nodes holds at most 0.57 times",
				"warning: the noise exceeds the signal. Sums", "With 7 nodes on the roster, 6 of them in every sum",
				"not protected: that a node takes part", "if more than 1 node collude",
			},
			not: []string{"all that receive its shares", "first sum", "12D3", "cells are more"},
		},
		{
			name: "enough nodes", nodes: 40, features: 16, privacyKeys: ", releases: 6",
			want: []string{
				"up to 2 nodes that pool all they know", "a sum is of 30 at least", "no 2 members of it together see",
				"5 of the 7 must be up in a round, so that 2 may be down", "all 40 nodes holds at most 2.8 times",
			},
			not: []string{"warning"},
		},
		{
			name: "cells", nodes: 40, features: 32, strategyKeys: ", cells: 4", privacyKeys: ", releases: 4",
			want: []string{
				"128 numbers (4 cells times 32 features), clipped to norm 2.828 before",
				"at most 0.31 times as much signal as noise, that of the least 30 at most 0.27 times\n" +
					"in the first sum, in which nodes report only their own cells, and 0.31 times in the last, or 0.27.\nNodes follow",
				"after 4 of all nodes holds at most 0.6 times", "warning: the noise exceeds the signal.",
			},
			not: []string{"cells are more"},
		},
		{
			// From 40 observations on all nodes tell of all cells, four times as much.
			name: "cells that come together", nodes: 40, features: 32, strategyKeys: ", cells: 4, share_every: 20, weights: schedule", privacyKeys: ", releases: 4",
			want: []string{"report only their own cells, and 1.2 times in the last, or 1.1\nwarning: the noise exceeds the signal."},
			not:  []string{"so far"},
		},
		{
			name: "more cells than nodes", nodes: 4, features: 16, strategyKeys: ", cells: 8", privacyKeys: "",
			want: []string{"warning: 8 cells are more than the nodes that a sum may be of"},
		},
		{
			name: "no node may be absent", nodes: 3, features: 16, strategyKeys: ", weights: schedule", privacyKeys: ", releases: 1, adjacency: zero-out, max_colluding: 2",
			want: []string{"a sum is of all of them, so that none may be absent", "All of it must be up in a round", "over its 1 contribution to sums", "from no observations", "no 2 members"},
			not:  []string{"the least", "so far"},
		},
		{
			name: "never enough", nodes: 3, features: 4096, strategyKeys: ", weights: schedule", privacyKeys: ", releases: 1000, delta: 1e-12",
			want: []string{"Even with 1024 nodes"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			definition := summingTask(t, c.nodes, c.features, c.strategyKeys, c.privacyKeys)
			r := sumReportOf(t, definition)
			var out bytes.Buffer
			describePrivacy(&out, definition, &r)
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, out.String())
				}
			}
			for _, not := range c.not {
				if strings.Contains(out.String(), not) {
					t.Errorf("%q is said in\n%s", not, out.String())
				}
			}
			for _, line := range strings.Split(out.String(), "\n") {
				if n := len([]rune(line)); n > 130 {
					t.Errorf("a line of %d characters: %s", n, line)
				}
			}
		})
	}
}

func TestPrivacyJSONOfSums(t *testing.T) {
	r := sumReportOf(t, summingTask(t, 20, 64, ", cells: 2", ", releases: 3"))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Mechanism string    `json:"mechanism"`
		Dimension int       `json:"dimension"`
		Planned   int       `json:"planned"`
		After     []float64 `json:"epsilon_after"`
		Aggregate map[string]any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Mechanism != "aggregate" || got.Dimension != 128 || got.Planned != 3 || len(got.After) != 3 || got.After[2] > 8 || got.After[2] < 7.99 {
		t.Errorf("%s", text)
	}
	for key, want := range map[string]float64{"roster": 20, "min_contributors": 15, "committee": 7, "quorum": 5, "max_colluding": 2, "cells": 2} {
		if got.Aggregate[key] != want {
			t.Errorf("%s is %v, want %v", key, got.Aggregate[key], want)
		}
	}
	if strings.Contains(string(text), "12D3") {
		t.Errorf("the roster itself is of no use here: %s", text)
	}
}
