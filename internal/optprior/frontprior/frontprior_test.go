package frontprior_test

import (
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

func parse(keys string) (*task.Task, error) {
	return all.Strategies().Parse("test", []byte("name: fronts\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
		"parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]\nstrategy: {"+keys+"}\n"))
}

// TestWithoutOutcomes: a newcomer evaluates near the place of its peer's front, instead of a starting
// design. Without peers, or if they have no weight, it does what alone does.
func TestWithoutOutcomes(t *testing.T) {
	for keys, informs := range map[string]bool{
		"type: peer-prior":                true,
		"type: density":                   true,
		"type: density, pooling: product": true,
		"type: density, pooling: mean":    true,
		"type: density, share: coarse":    true,
		"type: density, beta: 0":          false,
	} {
		of, err := parse(keys)
		if err != nil {
			t.Fatal(err)
		}
		r, err := all.Strategies().Of(of)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.NewStrategy(of)
		if err != nil {
			t.Fatal(err)
		}
		view := strategy.View{Task: of}
		own, err := alone.NewEngine(of).Suggest(t.Context(), view, 1, random.SeedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Suggest(t.Context(), view, 1, random.SeedOf(1))
		if err != nil || got.Design.Key() != own.Design.Key() {
			t.Errorf("%s: without peers %v, expected %v (%v)", keys, got.Design, own.Design, err)
		}
		place := of.Space.Decode([]float64{0.2, 0.9})
		view.Shares = []*strategy.Share{{Share: protocol.Share{Key: protocol.Key{Author: "peer", Kind: protocol.DensityKind}}, Value: protocol.Density{
			Observations: 20, Components: []protocol.Component{{Weight: 1, Std: 0.2, Center: protocol.PointOf(of.Space, place)}},
		}}}
		got, err = s.Suggest(t.Context(), view, 1, random.SeedOf(1))
		switch x, y := got.Design.Value("x").Float(), got.Design.Value("y").Float(); {
		case err != nil:
			t.Errorf("%s: %v", keys, err)
		case !informs && got.Design.Key() != own.Design.Key():
			t.Errorf("%s: %v, expected %v", keys, got.Design, own.Design)
		case informs && (got.Why.PeerCount != 1 || x < 0.1 || x > 0.3 || y < 0.8):
			t.Errorf("%s: %v by %v, expected a design near %v by one peer", keys, got.Design, got.Why, place)
		}
	}
}

// TestKeysOfSeveral: shares, and the keys of density, that take several objectives. The canonical form can
// be read again.
func TestKeysOfSeveral(t *testing.T) {
	for keys, want := range map[string]bool{
		"type: peer-prior, share: coarse":              true,
		"type: peer-prior, share: exact":               false,
		"type: peer-prior, share: results":             false,
		"type: density, spread: 0.3, share_every: 2":   true,
		"type: density, share: coarse":                 true,
		"type: density, share: feasibility":            false,
		"type: density, components: 2":                 false,
		"type: density, components: 1":                 false,
		"type: density, pooling: product, share: best": true,
	} {
		of, err := parse(keys)
		if (err == nil) != want {
			t.Errorf("%s: %v, expected accepted %v", keys, err, want)
		}
		if err != nil {
			continue
		}
		if again, err := all.Strategies().ParseCanonical("again", of.Canonical()); err != nil || again.ID() != of.ID() {
			t.Errorf("%s: the canonical form %s gives the error %v or another ID", keys, of.Canonical(), err)
		}
	}
}
