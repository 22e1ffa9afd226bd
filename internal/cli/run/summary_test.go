package run

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// trialOf is a trial with an outcome; a failed one has the state failed.
func trialOf(id uint64, source strategy.Source, value float64) strategy.Trial {
	return strategy.Trial{ID: id, Why: why(source), State: strategy.Done, Outcome: &strategy.Outcome{Value: value}}
}

func unfinished(id uint64, source strategy.Source, state strategy.State) strategy.Trial {
	return strategy.Trial{ID: id, Why: why(source), State: state}
}

// why is a reason with this source, and for "peer" with a peer.
func why(source strategy.Source) strategy.Why {
	w := strategy.Why{Source: source}
	if source == "peer" {
		w.Peer = "somebody"
	}
	return w
}

func TestSummaryCountsTrialsBySource(t *testing.T) {
	parsed := clitest.MixedTask(t) // bigger is better
	trials := []strategy.Trial{
		trialOf(1, strategy.Imported, 3),
		trialOf(2, strategy.Initial, 1),
		unfinished(3, strategy.Initial, strategy.Failed),
		trialOf(4, "peer", 4), // a new best
		trialOf(5, strategy.Own, 9),
		trialOf(6, "peer", 9), // as good is not better
		unfinished(7, "peer", strategy.Failed),
		trialOf(8, "random", 2),
		unfinished(9, "peer", strategy.Running),
		unfinished(10, strategy.Own, strategy.Waiting),
		trialOf(11, strategy.Enqueued, 1), // the user's own
		unfinished(12, strategy.Own, strategy.StoppedEarly),
	}
	got := summarise(parsed, trials)
	want := summary{Event: "summary", Task: parsed.ID().String(), Evaluations: 9, Failed: 2, StoppedEarly: 1, Imported: 1,
		ModelBasedTrials: 6, PeerInformedTrials: 3}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestNothingFeasibleInTexts(t *testing.T) {
	spec, trials := clitest.Infeasible(t)
	if got := (summary{Evaluations: 2, Failed: 1, LeastViolation: render.LeastViolation(spec, trials)}).text(spec); got != "no result: 2 evaluations (1 failed); "+clitest.NothingFeasible {
		t.Errorf("summary %q", got)
	}
	if got := resumedOf(spec, trials).text(spec, options{}); !strings.HasSuffix(got, "\n"+clitest.NothingFeasible) {
		t.Errorf("continued %q", got)
	}
}

func TestSummaryText(t *testing.T) {
	best := trialOf(3, "peer", 0.5)
	best.Design = designOf(t, clitest.MixedTask(t))
	own := best
	own.Why = why(strategy.Own)
	for _, c := range []struct {
		summary summary
		want    string
		not     string
	}{
		{summary{}, "no result: no evaluation has ended yet", "failed"},
		{summary{Evaluations: 1, Failed: 1}, "no result: 1 evaluation, failed", "all"},
		{summary{Evaluations: 2, Failed: 2}, "no result: 2 evaluations, all failed", ""},
		{summary{Best: &own, Evaluations: 1}, "best 0.5 in 1 evaluation (0 failed): trial 3, ", "peers:"},
		{
			summary{Best: &own, Evaluations: 9, Recommended: &agent.Recommendation{Design: own.Design, Predicted: new(0.75), Noisy: true, Reason: "the noise of outcomes is larger than the differences between designs, so the best observed value is mostly luck"}},
			"recommended: " + own.Design.String() + ", predicted 0.75. The noise of outcomes is larger than the differences between designs, so the best observed value is mostly luck:\nbest 0.5 in 9 evaluations (0 failed): trial 3, ", "",
		},
		{summary{Best: &own, Evaluations: 4, ModelBasedTrials: 1}, "peers: 0 of 1 design after the random start used peers' shares\n", ""},
		{summary{Best: &own, Evaluations: 9, ModelBasedTrials: 6, PeerInformedTrials: 2}, "peers: 2 of 6 designs after the random start used peers' shares\n", ""},
		{summary{Best: &own, SharesSent: 1, BytesSent: 20480}, "this run published 1 share and received 0; 20 KiB sent on the network in all", "privacy"},
		{summary{Best: &own, DirectMessagesSent: 3, DirectMessagesReceived: 1}, "this run sent 3 messages to single peers and received 1; 0 bytes", "share"},
		{summary{Best: &own, SharesReceived: 2, DirectMessagesReceived: 1}, "this run published 0 shares and received 2, and sent 0 messages to single peers and received 1; 0 bytes", ""},
		{summary{Best: &own, Evaluations: 4, ModelBasedTrials: 2, SharesReceived: 3}, "peers: 0 of 2 designs after the random start used peers' shares\n", "model"},
		{summary{Best: &own, Items: []strategy.StatusItem{strategy.PrivacyItem(ledger.State{Planned: 6, Released: 2}), {Label: "sums", Text: "3 known"}}}, "0 bytes sent on the network in all\nprivacy: 2 of 6 releases spent\nsums: 3 known", ""},
		{summary{Best: &own, Items: []strategy.StatusItem{{Label: "counts", Rows: [][]string{{"node", "count"}, {"a", "3"}}}}}, "in all\ncounts  count\na       3", "node"},
		{summary{Best: &own, Items: []strategy.StatusItem{strategy.PeerEffect{Verdict: strategy.PeersImproved, Results: 9, Mean: .5, StandardError: .1}.Item()}}, "\neffect: peers' shares improved the predictions of this node (log density +0.5 ± 0.1 per result, 9 results)\n`fbo-node simulate` compares regret", ""},
		{summary{Best: &own, Items: []strategy.StatusItem{strategy.PeerEffect{Verdict: strategy.PeersTooFew, Results: 2}.Item()}}, "too few results yet (2 of 5)", "simulate"},
	} {
		got := c.summary.text(clitest.MixedTask(t))
		if !strings.Contains(got, c.want) || (c.not != "" && strings.Contains(got, c.not)) {
			t.Errorf("got %q, want %q and not %q", got, c.want, c.not)
		}
	}
}

// Where the surrogate learns from peers, designs rest on what they say although none is theirs.
func TestSummaryOfALearningSurrogate(t *testing.T) {
	for _, surrogate := range []string{"type: shared-latent", "hyperparameters: shared"} {
		parsed, err := all.Strategies().Parse("test.yaml", []byte("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nsurrogate: {"+surrogate+"}\nstrategy: {type: alone}\n"))
		if err != nil {
			t.Fatal(err)
		}
		for received, want := range map[int]bool{0: false, 2: true} {
			text := summary{ModelBasedTrials: 4, SharesReceived: received}.help(parsed)
			if strings.Contains(text, "learns from peers' shares") != want {
				t.Errorf("%s, %d shares: %s", surrogate, received, text)
			}
		}
	}
}

func designOf(t *testing.T, of *task.Task) task.Design {
	t.Helper()
	design, err := of.Space.UnmarshalDesign([]byte(`{"lr": 0.1, "units": 3, "kind": "sgd"}`))
	if err != nil {
		t.Fatal(err)
	}
	return design
}

func TestByteText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 10239: "10239 bytes", 10240: "10 KiB", 10<<20 - 1: "10239 KiB", 10 << 20: "10 MiB"} {
		if got := byteText(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// The end of a run promises no share that there is not.
func TestSummaryMentionsOnlySharesThatExist(t *testing.T) {
	parsed, err := all.Strategies().Parse("test.yaml", []byte("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		connected int
		shared    bool
		want      string
	}{
		{1, false, "has shared nothing yet"},
		{0, false, "has shared nothing yet"},
		{1, true, "are stored by 1 connected node"},
		{0, true, "No peers are connected"},
	} {
		if got := whatBecomes(parsed, c.connected, c.shared); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestHeldText(t *testing.T) {
	for k, want := range map[node.StoredShares]string{
		{}:                          "nothing is stored yet",
		{Authors: 2, PeerShares: 3}: "3 shares of 2 nodes stored for nodes that join later",
		{OwnShares: 1}:              "1 share of this node stored for nodes that join later",
		{Authors: 1, PeerShares: 1, OwnShares: 2}: "1 share of 1 other node stored for nodes that join later, and 2 shares of this node",
	} {
		if got := storedText(k); got != want {
			t.Errorf("%+v: %q, want %q", k, got, want)
		}
	}
}
