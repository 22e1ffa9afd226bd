package density

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

func severalFile(keys string) []byte {
	return fmt.Appendf(nil, `name: several
objectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]
parameters: [%s]
strategy: {type: density, initial_designs: 2%s}
`, plane, keys)
}

// TestSharesOfAFront: with several objectives a share has normals of equal weight around designs of the
// Pareto front, at most four, and receivers accept no more.
func TestSharesOfAFront(t *testing.T) {
	spec, err := strategy.Set{Register()}.Parse("", severalFile(""))
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: spec, Observations: 7}
	for i := range 7 {
		v := float64(i)
		b := 6 - v
		if i == 3 {
			b = 9 // dominated by the next one's neighbours
		}
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: spec.Space.Decode([]float64{v / 7, 0.5}), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: v, Metrics: map[string]float64{"b": b}},
		})
	}
	e := newSharing(spec)
	outs := e.Step(view, strategy.Start{})
	result, err := outs[0].(strategy.Work).Run(t.Context(), view, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	payload := e.Step(view, strategy.WorkDone{Result: result})[0].(strategy.Publish).Payload
	value, err := e.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	d := value.(protocol.Density)
	if len(d.Components) != 4 || d.Observations != 7 {
		t.Fatalf("%d components of %d observations, expected 4 of 7", len(d.Components), d.Observations)
	}
	for _, c := range d.Components {
		x := c.Center.Encoded(spec.Space)
		if c.Weight != 0.25 || c.Std != float64(float32(defaultSpread)) || distanceTo(x[0], 3.0/7) < 0.01 {
			t.Errorf("component %+v, expected weight .25, spread %g and a design of the front", c, defaultSpread)
		}
	}
	d.Components = append(d.Components, d.Components[0])
	for i := range d.Components {
		d.Components[i].Weight = 0.2
	}
	if payload, err = d.Encode(spec.Space); err == nil {
		_, err = e.Decode(payload)
	}
	if err == nil || !strings.Contains(err.Error(), "5 components, the task allows 4") {
		t.Errorf("five components: %v", err)
	}
}

func distanceTo(a, b float64) float64 { return max(a-b, b-a) }

func TestKeysWithSeveralObjectives(t *testing.T) {
	for keys, want := range map[string]string{
		"":                     "",
		", share: coarse":      "",
		", pooling: product":   "",
		", spread: 0.1":        "",
		", components: 4":      "components applies only with one objective",
		", share: feasibility": "share feasibility",
	} {
		spec, err := strategy.Set{Register()}.Parse("", severalFile(keys))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || want != "" && !strings.Contains(got, want) {
			t.Errorf("%q: %v, expected %q", keys, err, want)
			continue
		}
		if err != nil {
			continue
		}
		again, err := strategy.Set{Register()}.Parse("", spec.Canonical())
		if err != nil || again.ID() != spec.ID() {
			t.Errorf("%q: the canonical form has another ID (%v)", keys, err)
		}
		if beta := settingsOf(spec).Beta; beta != frontBeta {
			t.Errorf("%q: beta %g, expected %d", keys, beta, frontBeta)
		}
		f := frontSettings(settingsOf(spec))
		if learned := keys != ", pooling: product"; f.Learned != learned || (f.Rules == pooling.Only(pooling.Product)) == learned {
			t.Errorf("%q: %+v", keys, f)
		}
	}
}
