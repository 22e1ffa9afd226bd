package family

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
)

// gpMembers draws the functions of two members over many federations, without
// their optima.
func gpMembers(t *testing.T, e, distance float64, spec rff.Spec, federations int) [][2]function {
	t.Helper()
	space, err := unitSpace(len(spec.Lengthscales))
	if err != nil {
		t.Fatal(err)
	}
	g := gp{space: space, spec: spec, e: e, distance: distance}
	var all [][2]function
	for i := range federations {
		s, err := g.source(random.SeedOf(uint64(i)), 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]function{s.member(0, 0), s.member(0, 1)})
	}
	return all
}

// Moments of two members' values, averaged over 60 federations and 100 places, are
// those of the process. At this lengthscale an average over places is worth about
// 28 independent ones, so that the standard error is at most 1.42/sqrt(60·28) =
// 0.035; the bounds are 4.5 of it. They tell 1 - e², 0.64, from 1 - e.
func TestGPHasItsKernelAndSimilarity(t *testing.T) {
	kernels := map[string]func(r float64) float64{
		rff.SE:       func(r float64) float64 { return math.Exp(-r * r / 2) },
		rff.Matern52: func(r float64) float64 { s := math.Sqrt(5) * r; return (1 + s + s*s/3) * math.Exp(-s) },
	}
	const federations, places, lengthscale = 60, 100, 0.02
	for kernel, k := range kernels {
		spec := rff.Spec{Kernel: kernel, Features: fewFeatures, Lengthscales: []float64{lengthscale}}
		for _, e := range []float64{0, 0.6, 1} {
			var same, apart, across float64
			for _, pair := range gpMembers(t, e, math.NaN(), spec, federations) {
				for i := range places {
					x, y := []float64{float64(i) / places}, []float64{float64(i)/places + lengthscale}
					value := pair[0].value(x)
					same += value * value / (federations * places)
					apart += value * pair[0].value(y) / (federations * places)
					across += value * pair[1].value(x) / (federations * places)
				}
			}
			for _, moment := range []struct {
				name      string
				got, want float64
			}{{"variance", same, 1}, {"covariance", apart, k(1)}, {"between members", across, 1 - e*e}} {
				if math.Abs(moment.got-moment.want) > 4.5*0.035 {
					t.Errorf("%s, e=%g: %s %.3f, want %.3f", kernel, e, moment.name, moment.got, moment.want)
				}
			}
		}
	}
}

// The median correlation of two members over the space falls as e grows, from
// exactly 1.
func TestMembersAreLessAlikeWithLargerE(t *testing.T) {
	before := 1.1
	spec := rff.Spec{Kernel: rff.SE, Features: fewFeatures, Lengthscales: []float64{0.05}}
	for _, e := range []float64{0, 0.05, 0.2, 0.5, 0.8, 1} {
		var all []float64
		for _, pair := range gpMembers(t, e, math.NaN(), spec, 25) {
			var a, b []float64
			for i := range 100 {
				a, b = append(a, pair[0].value([]float64{float64(i) / 99})), append(b, pair[1].value([]float64{float64(i) / 99}))
			}
			if e == 0 && !slices.Equal(a, b) {
				t.Error("e=0: members differ")
			}
			all = append(all, correlation(a, b))
		}
		if now := median(all); now < before {
			before = now
		} else {
			t.Errorf("e=%g: median correlation %.4f, before %.4f", e, now, before)
		}
	}
	if before > 0.3 {
		t.Errorf("e=1: median correlation %.2f", before)
	}
}

func TestDistanceIsKept(t *testing.T) {
	spec := rff.Spec{Kernel: rff.SE, Features: fewFeatures, Lengthscales: []float64{0.3, 0.3}}
	for _, distance := range []float64{0, 0.02, 1.2} {
		// With distance 0 the same members have the common function alone.
		centres := gpMembers(t, 0, 0, spec, 5)
		for i, pair := range gpMembers(t, 0, distance, spec, 5) {
			var most float64
			for u := range chunks(dense(densePoints, 2), 2) {
				most = max(most, math.Abs(pair[0].value(u)-centres[i][0].value(u)))
			}
			if math.Abs(most-distance) > 1e-9 {
				t.Errorf("federation %d: distance %g, want %g", i, most, distance)
			}
		}
	}
}

// heavier searches from many more starts, and returns by how much it beats the
// stated optimum of a member.
func heavier(g gp, s source, k, searches int) float64 {
	member := s.member(0, k)
	search := acquisition.Maximizer{Space: g.space, Candidates: 16 * searches, Searches: searches}
	_, best, _ := search.Maximize(context.Background(), Differentiable(member.value), nil, random.SeedOf(99).Stream("heavier", uint64(k)))
	return best - member.optimum()
}

var optimumSpecs = []string{"gp:d=1", "gp:kernel=matern52", "gp:d=6", "gp:d=6,kernel=matern52"}

// A search with many times as many starts finds nothing that is better by more
// than 1e-6. BenchmarkGPOptimum does this for more functions.
func TestGPOptimaAreOptimal(t *testing.T) {
	for _, spec := range optimumSpecs {
		g, s := sourceOf(t, spec, 11)
		for k := range 2 {
			gain := heavier(g, s, k, 512)
			if gain > 1e-6 {
				t.Errorf("%s: member %d: the stated optimum is beaten by %g", spec, k, gain)
			}
			if g.space.Len() < 3 && gain < -1e-6 {
				t.Errorf("%s: member %d: the stated optimum is higher than any value by %g", spec, k, -gain)
			}
		}
	}
}

// sourceOf returns the source of a federation of independent members.
func sourceOf(t testing.TB, spec string, seed uint64) (gp, source) {
	t.Helper()
	values := Values{keys: gpKind().Keys, given: map[string]string{}}
	_, settings, _ := strings.Cut(spec, ":")
	for setting := range strings.SplitSeq(settings, ",") {
		if err := values.set(setting); err != nil {
			t.Fatal(err)
		}
	}
	space, err := unitSpace(values.Whole("d"))
	if err != nil {
		t.Fatal(err)
	}
	g := gp{space: space, spec: gpFeatures(values), e: 1, distance: math.NaN()}
	s, err := g.source(random.SeedOf(seed), 0)
	if err != nil {
		t.Fatal(err)
	}
	return g, s
}

// BenchmarkGPOptimum is the cost of an optimum on one processor; "missed" is the
// share of functions where a search with 4096 starts finds one that is better by
// more than 1e-6. Each function has features of its own.
func BenchmarkGPOptimum(b *testing.B) {
	for _, spec := range optimumSpecs {
		b.Run(spec, func(b *testing.B) {
			missed, n := 0.0, uint64(0)
			for b.Loop() {
				g, s := sourceOf(b, spec, n)
				n++
				member := s.member(0, 0)
				member.optimum()
				b.StopTimer()
				if heavier(g, s, 0, 4096) > 1e-6 {
					missed++
				}
				b.StartTimer()
			}
			b.ReportMetric(missed/float64(n), "missed")
		})
	}
}

// BenchmarkDraw draws federations of ten.
func BenchmarkDraw(b *testing.B) {
	for _, spec := range []string{"gp:d=1", "gp", "gp:d=6", "gp:d=6,newcomer=true", "gp:d=6,d_n=1,newcomer=true", "hartmann6", "levy:shift=0.5,clusters=10"} {
		b.Run(spec, func(b *testing.B) {
			seed := uint64(0)
			for b.Loop() {
				mustDraw(b, spec, seed, 10)
				seed++
			}
		})
	}
}

// BenchmarkValue evaluates one design.
func BenchmarkValue(b *testing.B) {
	for _, spec := range []string{"gp", "gp:d=6", "hartmann6:rotate=15,warp=0.1"} {
		b.Run(spec, func(b *testing.B) {
			f := mustDraw(b, spec, 1, 1)
			at := designs(f.Space, 1, 1)[0]
			for b.Loop() {
				f.Members[0].Objective.Value(at)
			}
		})
	}
}
