package protocol

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/task"
)

// What docs/wire.md says of a task with six floats.
func TestSizeOfSharedDesigns(t *testing.T) {
	parameters := make([]task.Parameter, 6)
	for i := range parameters {
		parameters[i] = task.Parameter{Name: fmt.Sprintf("p%d", i), Kind: task.Float, Low: 0, High: 1}
	}
	space := spaceOf(t, parameters...)
	point := PointOf(space, space.Decode([]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}))
	value := math.Pi
	mixture := func(count int) Density {
		d := Density{Observations: 50}
		for range count {
			d.Components = append(d.Components, Component{1 / float64(count), 0.2, point})
		}
		return d
	}
	labels := func(count int) Feasibility {
		f := Feasibility{Observations: 64}
		for i := range count {
			f.Labels = append(f.Labels, Label{point, i%2 == 0})
		}
		return f
	}
	results := func(count int) func() ([]byte, error) {
		r := Results{Observations: 200}
		for range count {
			r.Results = append(r.Results, Result{Point: point, Value: value})
		}
		return func() ([]byte, error) { return r.Encode(space, nil) }
	}
	batch := func(parties int) Batch {
		b := Batch{
			Round: 50, Turn: 1, Counts: slices.Repeat([]int{52}, parties), Heads: make([]byte, parties*HeadBytes),
			Lengthscales: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, Noise: 0.01,
		}
		for party := range parties {
			b.Assigned = append(b.Assigned, Assigned{party, point})
		}
		return b
	}
	latent := func(observations int) func() ([]byte, error) {
		said := Latent{Observations: observations, Lengthscales: slices.Repeat([]float64{1}, space.Len()), Outputs: make([]float64, observations)}
		for range observations {
			said.Rows = append(said.Rows, make([]float64, 30))
		}
		return func() ([]byte, error) { return said.Encode(30) }
	}
	party := idsOf(t, 1)[0]
	for _, c := range []struct {
		name, kind     string
		slot           uint64
		encode         func() ([]byte, error)
		payload, share int // bytes
	}{
		{"candidate", "candidate", 50, func() ([]byte, error) { return Candidate{Round: 50, Point: point, VisiblePeers: 9}.Encode(space, 50) }, 32, 216},
		{"candidate with response", "candidate", 50, func() ([]byte, error) {
			return Candidate{Round: 50, Point: point, Response: &value, VisiblePeers: 9}.Encode(space, 50)
		}, 41, 225},
		{"design", "design", 0, func() ([]byte, error) { return NearOptimal{Observations: 50, Point: point}.Encode(space) }, 30, 209},
		{"design of a private release", "design", 0, func() ([]byte, error) {
			return NearOptimal{Observations: 50, Point: point, Release: 1}.Encode(space)
		}, 32, 211},
		{"density of a private release", "density", 0, func() ([]byte, error) {
			d := mixture(1)
			d.Release = 1
			return d.Encode(space)
		}, 44, 224},
		{"design with bound", "design", 0, func() ([]byte, error) {
			return NearOptimal{Observations: 50, Point: point, Bound: &value}.Encode(space)
		}, 39, 218},
		{"density of 1 component", "density", 0, func() ([]byte, error) { return mixture(1).Encode(space) }, 42, 222},
		{"density of 16 components", "density", 0, func() ([]byte, error) { return mixture(16).Encode(space) }, 642, 824},
		{"feasibility of 1 label", "feasibility", 0, func() ([]byte, error) { return labels(1).Encode(space) }, 34, 218},
		{"feasibility of 64 labels", "feasibility", 0, func() ([]byte, error) { return labels(64).Encode(space) }, 1986, 2172},
		{"latent, 12 observations", "latent", 0, latent(12), 1257, 1438},
		{"latent, 30 observations", "latent", 0, latent(30), 2013, 2194},
		{"results of 1 evaluation", "results", 0, results(1), 42, 222},
		{"results of 20 evaluations", "results", 0, results(20), 783, 965},
		{"results of 200 evaluations", "results", 0, results(200), 7803, 7985},
		{"hyperparameters", "hyperparameters", 0, func() ([]byte, error) {
			return Hyperparameters{Means: make([]float64, 7), Precisions: make([]float64, 7)}.Encode()
		}, 60, 249},
		{"curves of 4 rungs", "curves", 0, func() ([]byte, error) {
			rung := CurveRung{Count: 50, Values: Quartiles{.25, .5, .75}, Complete: 20, Changes: Quartiles{-.75, -.5, -.25}}
			return Curves{Rungs: []CurveRung{rung, rung, rung, rung}}.Encode()
		}, 232, 413},
		{"evaluation", "evaluation", 52, func() ([]byte, error) {
			return Evaluation{Number: 52, Round: 50, Point: point, Value: &value}.Encode(space)
		}, 41, 226},
		{"assignment", "assignment", 50, func() ([]byte, error) {
			return Assignment{Round: 50, Party: party, Point: point, Parties: 8, RewardDifference: 0.5}.Encode(space)
		}, 81, 267},
		{"batch of 3 parties", "batch", 50, func() ([]byte, error) { return batch(3).Encode(space) }, 212, 394},
		{"batch of 8 parties", "batch", 50, func() ([]byte, error) { return batch(8).Encode(space) }, 458, 640},
		{"batch of 50 parties", "batch", 50, func() ([]byte, error) { return batch(50).Encode(space) }, 2516, 2698},
	} {
		payload, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		s := exampleShare(t)
		s.Kind, s.Payload, s.Slot, s.TTL, s.Stamp = c.kind, payload, c.slot, 24*time.Hour, Stamp{1000, 1000}
		share := len(seal(t, s, fbotest.Key(t, 1)).Envelope)
		t.Logf("%s: a payload of %d bytes, a share of %d", c.name, len(payload), share)
		if len(payload) != c.payload || share != c.share {
			t.Errorf("%s: want %d and %d bytes", c.name, c.payload, c.share)
		}
	}
}

// What docs/wire.md says of the steps of a comparison, with six floats.
func TestSizeOfComparisons(t *testing.T) {
	parameters := make([]task.Parameter, 6)
	for i := range parameters {
		parameters[i] = task.Parameter{Name: fmt.Sprintf("p%d", i), Kind: task.Float, Low: 0, High: 1}
	}
	space := spaceOf(t, parameters...)
	design := NearOptimal{Observations: 50, Point: PointOf(space, space.Decode([]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}))}
	for _, c := range []struct {
		name string
		step Comparison
		want int
	}{
		{"offer", Comparison{Offer: make([]byte, OfferBytes)}, 2069},
		{"answer", Comparison{Answer: make([]byte, AnswerBytes)}, 4117},
		{"refusal", Comparison{Refusal: RefusedOften}, 20},
		{"verdict", Comparison{Verdict: &Verdict{}}, 20},
		{"verdict with a design", Comparison{Verdict: &Verdict{&design}}, 52},
	} {
		if data, err := c.step.Encode(space); err != nil || len(data) != c.want {
			t.Errorf("%s: %d bytes, want %d; %v", c.name, len(data), c.want, err)
		}
	}
}
