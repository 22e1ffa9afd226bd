package density

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// step drives an exchange as an agent does that works at once, on the view of
// later, and returns what was published.
func step(t testing.TB, s *latest.Latest, view, later strategy.View, in strategy.Input) []protocol.Density {
	t.Helper()
	var published []protocol.Density
	for range 10 {
		var next strategy.Input
		for _, out := range s.Step(view, in) {
			switch out := out.(type) {
			case strategy.Publish:
				if out.Ephemeral || out.Slot != 0 || out.TTL != protocol.MaxTTL {
					t.Errorf("published as %+v", out)
				}
				value, err := s.Decode(out.Payload)
				if err != nil {
					t.Fatal(err)
				}
				published = append(published, value.(protocol.Density))
			case strategy.Work:
				if next != nil {
					t.Fatal("two computations at once")
				}
				result, err := out.Run(t.Context(), later, random.SeedOf(1))
				next = strategy.WorkDone{Name: out.Name, Result: result, Err: err}
			default:
				t.Fatalf("unexpected output %T", out)
			}
		}
		if next == nil {
			return published
		}
		view, in = later, next
	}
	t.Fatal("the exchange works without end")
	return nil
}

func points(spec *task.Task, count int) [][]float64 {
	return designs(spec, count, random.SeedOf(1).Stream("designs", 0))
}

func TestOneShareForEachObservationAfterTheStart(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	s, x := newSharing(spec), points(spec, 6)
	for n := range len(x) + 1 {
		view := viewOf(t, spec, x[:n], bowl(spec, 0.3))
		in := strategy.Input(strategy.Start{})
		if n > 0 {
			in = strategy.TrialsEnded{}
		}
		published := step(t, s, view, view, in)
		if n < 3 && len(published) != 0 || n >= 3 && (len(published) != 1 || published[0].Observations != n) {
			t.Fatalf("after %d observations: %+v", n, published)
		}
		for _, in := range []strategy.Input{strategy.TrialsEnded{}, strategy.Received{}, strategy.Timer{}, strategy.Stop{}, strategy.Replayed{}} {
			if more := step(t, s, view, view, in); len(more) != 0 {
				t.Errorf("%T without a new observation: %+v", in, more)
			}
		}
	}
	// After a restart the exchange shares what the observations say now.
	view := viewOf(t, spec, x, bowl(spec, 0.3))
	if published := step(t, newSharing(spec), view, view, strategy.Start{}); len(published) != 1 {
		t.Errorf("after a restart: %+v", published)
	}
}

// Observations that arrive during the work are in it when it runs late, and
// otherwise have a share of their own.
func TestObservationsDuringTheWork(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	x := points(spec, 5)
	early, late := viewOf(t, spec, x[:3], bowl(spec, 0.3)), viewOf(t, spec, x, bowl(spec, 0.3))
	for _, c := range []struct {
		seen strategy.View
		want []int
	}{{early, []int{3, 5}}, {late, []int{5}}} {
		s := newSharing(spec)
		work := s.Step(early, strategy.Start{})[0].(strategy.Work)
		if again := s.Step(late, strategy.TrialsEnded{}); len(again) != 0 {
			t.Errorf("asks for %v while it computes", again)
		}
		result, err := work.Run(t.Context(), c.seen, random.SeedOf(1))
		var got []int
		for _, d := range step(t, s, late, late, strategy.WorkDone{Result: result, Err: err}) {
			got = append(got, d.Observations)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("the shares rest on %v observations, want %v", got, c.want)
		}
	}
}

func TestFailedWorkIsTriedWithTheNextObservation(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	x := points(spec, 5)
	view, later := viewOf(t, spec, x[:4], bowl(spec, 0.3)), viewOf(t, spec, x, bowl(spec, 0.3))
	s := newSharing(spec)
	s.Step(view, strategy.Start{})
	if outs := s.Step(view, strategy.WorkDone{Err: errors.New("no memory")}); len(outs) != 0 {
		t.Errorf("after a failure: %v", outs)
	}
	if published := step(t, s, later, later, strategy.TrialsEnded{}); len(published) != 1 {
		t.Errorf("with the next observation: %v", published)
	}
	view.Posterior = nil
	if published := step(t, newSharing(spec), view, view, strategy.Start{}); len(published) != 0 {
		t.Errorf("without a posterior: %v", published)
	}
}

// With one component a share is a normal of the task's spread around the
// maximiser of the posterior mean, which after 25 observations of a bowl is close
// to where it has its minimum.
func TestShareOfOneComponentIsCentredAtTheOptimum(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		spec := newTask(t, plane, model, ", spread: 0.125")
		view := viewOf(t, spec, points(spec, 25), bowl(spec, 0.3))
		d := mustBelieve(t, spec, view, random.SeedOf(1))
		if len(d.Components) != 1 || d.Components[0].Std != 0.125 || d.Components[0].Weight != 1 || d.Observations != 25 {
			t.Fatalf("%s: %+v", model, d)
		}
		for _, v := range d.Components[0].Center.Coordinates {
			if math.Abs(v-0.3) > 0.1 {
				t.Errorf("%s: the centre is %v", model, d.Components[0].Center)
			}
		}
		centre := d.Components[0].Center.Encoded(spec.Space)
		at, _ := view.Posterior.Predict(centre)
		for _, x := range designs(spec, 500, random.SeedOf(2).Stream("designs", 0)) {
			if mean, _ := view.Posterior.Predict(x); mean > at+1e-6 {
				t.Errorf("%s: mean %g at the centre, %g at %v", model, at, mean, x)
			}
		}
	}
}

// twins has two equal minima, and so has the posterior mean when the observations
// are as symmetric: of 32 samples each minimum gets some.
func twins(t testing.TB, spec *task.Task) strategy.View {
	t.Helper()
	var x [][]float64
	for _, half := range points(spec, 20) {
		other := slices.Clone(half)
		other[0], other[1] = 1-half[0], 1-half[1]
		x = append(x, half, other)
	}
	return viewOf(t, spec, x, func(x []float64) float64 {
		hill := func(at float64) float64 { return math.Exp(-((x[0]-at)*(x[0]-at) + (x[1]-at)*(x[1]-at)) / 0.05) }
		return -hill(0.25) - hill(0.75)
	})
}

// With more components a share has its mass at both minima: at each e times as
// much as between them, and more than the uniform density.
func TestComponentsAtBothMinima(t *testing.T) {
	spec := newTask(t, plane, "exact", ", components: 4")
	m := mixtureOf(spec, mustBelieve(t, spec, twins(t, spec), random.SeedOf(1)))
	low, high := logOf(m, placeOf(spec, 0.25, 0.25)), logOf(m, placeOf(spec, 0.75, 0.75))
	between := math.Max(logOf(m, placeOf(spec, 0.25, 0.75)), logOf(m, placeOf(spec, 0.75, 0.25)))
	if least := math.Min(low, high); least < 0 || least < between+1 {
		t.Errorf("ln π is %.2f and %.2f at the minima, and up to %.2f between", low, high, between)
	}
}

func TestBelievedIsReproducible(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, parameters := range []string{plane, mixed} {
			for _, most := range []int{1, 4} {
				spec := newTask(t, parameters, model, fmt.Sprintf(", components: %d", most))
				view := viewOf(t, spec, points(spec, 5), bowl(spec, 0.3))
				d := mustBelieve(t, spec, view, random.SeedOf(1))
				if again := mustBelieve(t, spec, view, random.SeedOf(1)); !reflect.DeepEqual(d, again) {
					t.Errorf("%s: twice the same view and seed give\n%+v\n%+v", model, d, again)
				}
				if n := len(d.Components); n < 1 || n > most {
					t.Errorf("%s: %d components", model, n)
				}
			}
		}
	}
}

// placeOf has these first two numbers; what there is beside is in the middle.
func placeOf(spec *task.Task, x, y float64) []float64 {
	encoded := make([]float64, spec.Space.Dim())
	for i := range encoded {
		encoded[i] = 0.5
	}
	encoded[0], encoded[1] = x, y
	spec.Space.Snap(encoded)
	return encoded
}

func TestDecodeRejects(t *testing.T) {
	one, many := newTask(t, mixed, "exact", ""), newTask(t, mixed, "exact", ", components: 16")
	d := around(one, 0.2, placeOf(one, 0.5, 0.5))
	d.Components = append(d.Components, d.Components[0])
	d.Components[0].Weight, d.Components[1].Weight = 0.5, 0.5
	payload, err := d.Encode(one.Space)
	if err != nil {
		t.Fatal(err)
	}
	if value, err := newSharing(many).Decode(payload); err != nil || len(value.(protocol.Density).Components) != 2 {
		t.Errorf("two components on a task of 16: %+v, %v", value, err)
	}
	if _, err := newSharing(one).Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("two components on a task of one: %v", err)
	}
	if _, err := newSharing(many).Decode(payload[:len(payload)/2]); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("half a payload: %v", err)
	}
	if _, err := newSharing(newTask(t, plane, "exact", ", components: 16")).Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a payload of another space: %v", err)
	}
}

func BenchmarkBelieved(b *testing.B) {
	for _, model := range []string{"exact", "rff"} {
		for _, keys := range []string{"", ", components: 4"} {
			spec := newTask(b, mixed, model, keys)
			view := viewOf(b, spec, points(spec, 50), bowl(spec, 0.3))
			b.Run(model+keys, func(b *testing.B) {
				for b.Loop() {
					mustBelieve(b, spec, view, random.SeedOf(1))
				}
			})
		}
	}
}

func mustBelieve(t testing.TB, spec *task.Task, view strategy.View, seed random.Seed) protocol.Density {
	t.Helper()
	d, err := sampleOptimum(t.Context(), spec, view, seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
