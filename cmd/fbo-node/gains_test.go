package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

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

func TestGainLines(t *testing.T) {
	self := partyOf(t, "12D3KooWKykovPgZ8oYpymctQjbcaLxAjJDzXhoUcHjvpWpmWRGK")
	other := partyOf(t, "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN")
	gains := []strategy.Gain{
		{Party: other},
		{Party: self, Evaluations: 12, Sum: 30.25, Best: 4.125, Against: 1.5, Alone: &strategy.Estimate{Evaluations: 10, Sum: 20.5, Best: 4, Got: 25}},
	}
	want := []string{
		"gains evaluations best sum better than average by",
		"…4kx6nXTN 0 - 0 +0",
		"…pWpmWRGK (this node) 12 4.125 30.25 +1.5",
		"alone this node would have got a sum of about 20.5, best 4, in its first 10 evaluations (an estimate from the model); its sum of as many is 25",
	}
	got := gainLines(gains, self)
	squeeze := func(lines []string) (all []string) {
		for _, line := range lines {
			all = append(all, strings.Join(strings.Fields(line), " "))
		}
		return all
	}
	if !slices.Equal(squeeze(got), squeeze(want)) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if lines := gainLines(nil, self); len(lines) > 0 {
		t.Errorf("of no gains there are lines %q", lines)
	}
	// What others are estimated to have got is theirs to say.
	gains[0].Alone, gains[1].Alone = gains[1].Alone, nil
	if text := strings.Join(gainLines(gains, self), "\n"); strings.Contains(text, "alone") {
		t.Errorf("an estimate about another node is shown:\n%s", text)
	}

	parsed := mixedSpace(t)
	var with, without strings.Builder
	writeStatus(&with, taskHistory{task: parsed, running: &node.Status{PeerID: self, Gains: gains}})
	writeStatus(&without, taskHistory{task: parsed, running: &node.Status{PeerID: self}})
	if !strings.Contains(with.String(), "\n…"+strategy.ShortID(self)+" (this node)") || strings.Contains(without.String(), "gains") {
		t.Errorf("status with gains\n%s\nand without\n%s", with.String(), without.String())
	}
}
