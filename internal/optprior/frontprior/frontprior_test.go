package frontprior_test

import (
	"testing"

	"github.com/fbo-node/fbo/internal/optprior/frontprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
)

// TestFrontWithoutOutcomes: a newcomer evaluates near the place of its peer's front, instead of a starting
// design. Without peers it does what alone does.
func TestFrontWithoutOutcomes(t *testing.T) {
	of, err := all.Strategies().Parse("test", []byte("name: fronts\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
		"parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := frontprior.New(of, frontprior.Evidence("peers", 1))
	view := strategy.View{Task: of}
	got, err := s.Suggest(t.Context(), view, 1, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	want, err := alone.NewEngine(of).Suggest(t.Context(), view, 1, random.SeedOf(1))
	if err != nil || got.Design.Key() != want.Design.Key() {
		t.Errorf("without peers %v, expected %v (%v)", got.Design, want.Design, err)
	}
	place := of.Space.Decode([]float64{0.2, 0.9})
	view.Shares = []*strategy.Share{{Share: protocol.Share{Key: protocol.Key{Author: "peer", Kind: protocol.DensityKind}}, Value: protocol.Density{
		Observations: 20, Components: []protocol.Component{{Weight: 1, Std: 0.2, Center: protocol.PointOf(of.Space, place)}},
	}}}
	got, err = s.Suggest(t.Context(), view, 1, random.SeedOf(1))
	if err != nil || got.Why.PeerCount != 1 {
		t.Fatalf("%v by %v (%v), expected one peer", got.Design, got.Why, err)
	}
	if x, y := got.Design.Value("x").Float(), got.Design.Value("y").Float(); x < 0.1 || x > 0.3 || y < 0.8 {
		t.Errorf("%v, expected a design near %v", got.Design, place)
	}
}
