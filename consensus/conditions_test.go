package consensus

import (
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// A candidate has no vote on a parameter that is inactive in it, with any kind of average.
func TestInactiveParametersHaveNoVote(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "m", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "x", Kind: task.Float, High: 1},
		{Name: "y", Kind: task.Float, High: 1, When: []task.Condition{task.Equals("m", task.ChoiceValue("a"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	point := func(values ...task.Value) protocol.Point {
		d, err := space.NewDesign(values...)
		if err != nil {
			t.Fatal(err)
		}
		return protocol.PointOf(space, d)
	}
	a, b := task.ChoiceValue("a"), task.ChoiceValue("b")
	c := averager{self: "1", present: []peer.ID{"1", "2", "3"}, t: 0, settings: Settings{Weights: weightsUniform, Rounds: 10}}
	c.own = protocol.Candidate{Point: point(a, task.FloatValue(0.25), task.FloatValue(0.875))}
	c.candidates = []PeerCandidate{
		{Peer: "2", Candidate: protocol.Candidate{Point: point(a, task.FloatValue(0.25), task.FloatValue(0.875))}},
		{Peer: "3", Candidate: protocol.Candidate{Point: point(b, task.FloatValue(0.25), task.Value{})}},
	}
	for _, average := range []string{averageMean, averageMedian, averageTrimmed} {
		c.settings.Average = average
		d := space.Decode(c.average(space))
		if d.Choice("m") != "a" || math.Abs(d.Float("x")-0.25) > 1e-9 || math.Abs(d.Float("y")-0.875) > 1e-9 {
			t.Errorf("%s: %v, expected the y of the two candidates that have it", average, d)
		}
	}
}
