package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

func partyOf(t *testing.T, text string) peer.ID {
	t.Helper()
	id, err := peer.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRewardLines(t *testing.T) {
	self := partyOf(t, "12D3KooWKykovPgZ8oYpymctQjbcaLxAjJDzXhoUcHjvpWpmWRGK")
	other := partyOf(t, "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN")
	rewards := []strategy.Reward{
		{Party: other},
		{Party: self, Evaluations: 12, Sum: 30.25, Best: 4.125, RelativeToMean: 1.5, Alone: &strategy.Estimate{Evaluations: 10, Sum: 20.5, Best: 4, ActualSum: 25}},
	}
	want := []string{
		"rewards evaluations best sum better than average by",
		"…4kx6nXTN 0 - 0 +0",
		"…pWpmWRGK (this node) 12 4.125 30.25 +1.5",
		"alone this node would have got a sum of about 20.5, best 4, in its first 10 evaluations (an estimate from the model); its sum of as many is 25",
	}
	got := rewardLines(rewards, self)
	squeeze := func(lines []string) (all []string) {
		for _, line := range lines {
			all = append(all, strings.Join(strings.Fields(line), " "))
		}
		return all
	}
	if !slices.Equal(squeeze(got), squeeze(want)) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if lines := rewardLines(nil, self); len(lines) > 0 {
		t.Errorf("of no rewards there are lines %q", lines)
	}
	// What others are estimated to have got is theirs to say.
	rewards[0].Alone, rewards[1].Alone = rewards[1].Alone, nil
	if text := strings.Join(rewardLines(rewards, self), "\n"); strings.Contains(text, "alone") {
		t.Errorf("an estimate about another node is shown:\n%s", text)
	}

	parsed := clitest.MixedTask(t)
	var with, without strings.Builder
	writeStatus(&with, taskHistory{task: parsed, running: &node.Status{PeerID: self, Rewards: rewards}})
	writeStatus(&without, taskHistory{task: parsed, running: &node.Status{PeerID: self}})
	if !strings.Contains(with.String(), "\n…"+strategy.ShortID(self)+" (this node)") || strings.Contains(without.String(), "rewards") {
		t.Errorf("status with rewards\n%s\nand without\n%s", with.String(), without.String())
	}
}
