package experiment

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// decodeDesigns reads a share of a strategy that shares designs, and takes these out
// of it, as numbers in the unit interval.
func decodeDesigns(t *testing.T, own *task.Task, payload []byte) (points []float64, rest any) {
	t.Helper()
	var err error
	switch own.Strategy.Type {
	case "consensus":
		var share protocol.Candidate
		share, err = protocol.DecodeCandidate(payload, own.Space, own.Strategy.Settings.(consensus.Settings).Rounds)
		points, share.Point = share.Point.Coordinates, protocol.Point{}
		rest = share
	case "constrained-gp":
		var share protocol.NearOptimal
		share, err = protocol.DecodeNearOptimal(payload, own.Space)
		points, share.Point = share.Point.Coordinates, protocol.Point{}
		rest = share
	case "density":
		var share protocol.Density
		share, err = protocol.DecodeDensity(payload, own.Space)
		for i := range share.Components {
			c := &share.Components[i]
			points, c.Center = append(points, c.Center.Coordinates...), protocol.Point{}
		}
		rest = share
	}
	if err != nil {
		t.Fatal(err)
	}
	return points, rest
}

func TestForgedSharesHaveOtherDesignsAndNothingElseChanged(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Family = familyOf(t, "gp:d=1,others=forged") })
	for _, spec := range specsOf(t, "consensus,consensus:weights=leader,consensus:mode=asynchronous,"+
		"constrained-gp,constrained-gp:threshold=open,density,density:components=3") {
		own, err := p.template(spec)
		if err != nil {
			t.Fatal(err)
		}
		before, after := forgeries(t, p, spec, "")
		if len(before) == 0 {
			t.Fatalf("%s: nothing was forged", spec)
		}
		var previous []float64
		for i := range before {
			honest, wanted := decodeDesigns(t, own, before[i])
			forged, rest := decodeDesigns(t, own, after[i])
			if len(forged) == 0 || slices.Equal(honest, forged) || slices.Equal(forged, previous) {
				t.Errorf("%s: share %d is not forged anew: %v became %v after %v", spec, i, honest, forged, previous)
			}
			if !reflect.DeepEqual(rest, wanted) {
				t.Errorf("%s: %+v became %+v", spec, wanted, rest)
			}
			previous = forged
		}
	}
}

// With attack=corner every share has the same design, in which all numbers are largest, and
// the rest of it is the honest one's.
func TestForgersInTheCorner(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Family = familyOf(t, "gp:d=1,others=forged,attack=corner") })
	for _, spec := range specsOf(t, "consensus,constrained-gp,density") {
		own, err := p.template(spec)
		if err != nil {
			t.Fatal(err)
		}
		before, after := forgeries(t, p, spec, "")
		if len(before) == 0 {
			t.Fatalf("%s: nothing was forged", spec)
		}
		for i := range before {
			_, wanted := decodeDesigns(t, own, before[i])
			forged, rest := decodeDesigns(t, own, after[i])
			if !slices.Equal(forged, []float64{1}) || !reflect.DeepEqual(rest, wanted) {
				t.Errorf("%s: share %d says %v, %+v; want the corner and %+v", spec, i, forged, rest, wanted)
			}
		}
	}
}

// 500 points have the mean and deviation of uniform ones; the standard errors are
// 0.013 and 0.006, the seed is fixed, and the bounds are four of them. Every choice
// and every int has its share.
func TestForgedPointsAreUniform(t *testing.T) {
	definition, err := all.Strategies().Parse("forged", []byte(`
name: forged
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: n, type: int, low: 0, high: 3}
  - {name: kind, type: categorical, choices: [a, b, c]}
strategy: {type: density}`))
	if err != nil {
		t.Fatal(err)
	}
	f := newForger(definition, Plan{}.registrationOf(Spec{Name: "density"}), random.SeedOf(1), 0, strategy.Forgery{})
	honest, err := protocol.Density{Observations: 3, Components: []protocol.Component{
		{Weight: 1, Std: 0.2, Center: protocol.PointOf(definition.Space, definition.Space.Decode(make([]float64, definition.Space.Dim())))},
	}}.Encode(definition.Space)
	if err != nil {
		t.Fatal(err)
	}
	const count = 500
	sum, squares := 0.0, 0.0
	seen := map[string]int{}
	for range count {
		forged, err := protocol.DecodeDensity(f.forge(protocol.DensityKind, honest), definition.Space)
		if err != nil || f.err != nil {
			t.Fatal(err, f.err)
		}
		design := definition.Space.Decode(forged.Components[0].Center.Encoded(definition.Space))
		x := design.Float("x")
		sum, squares = sum+x, squares+x*x
		seen[design.Choice("kind")]++
		seen[strconv.Itoa(int(design.Int("n")))]++
	}
	mean := sum / count
	if deviation := math.Sqrt(squares/count - mean*mean); math.Abs(mean-0.5) > 0.052 || math.Abs(deviation-math.Sqrt(1.0/12)) > 0.024 {
		t.Errorf("mean %g, deviation %g", mean, deviation)
	}
	for _, choice := range []string{"a", "b", "c", "0", "1", "2", "3"} {
		if seen[choice] < 60 { // of 167 or 125 expected
			t.Errorf("%s occurs %d times in %d points", choice, seen[choice], count)
		}
	}
}
