package synthetic

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

var study = flag.Bool("study", false, "measure how hard the hyperparameters of this problem are to find (minutes)")

// box maps the unit cube to the hyperparameters that the demo tunes.
func box(u []float64) Hyperparameters {
	log := func(u, low, high float64) float64 { return low * math.Pow(high/low, u) }
	return Hyperparameters{
		LearningRate: log(u[0], 1e-4, 1),
		L2:           log(u[1], 1e-6, 1),
		Momentum:     0.9 * u[2],
		BatchSize:    int(math.Round(log(u[3], 4, 128))),
		Epochs:       20,
		Optimizer:    []string{"sgd", "nesterov", "adam"}[min(2, int(3*u[4]))],
	}
}

// TestStudy prints, for four nodes of Synthetic(1, 1), the distribution of the
// validation loss over random settings, how far the best of some random settings
// stays behind a long search, what the optimum of one node is worth on another,
// and the rank correlation of the loss between nodes. Seed 1; run it with
//
//	go test ./examples/synthetic -run Study -study -v
func TestStudy(t *testing.T) {
	if !*study {
		t.Skip("only with -study")
	}
	const nodes, random = 4, 400
	rng := rand.New(rand.NewPCG(1, 1))
	points := make([][]float64, random)
	for i := range points {
		points[i] = []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
	}
	var data []*Data
	var all, optima [][]float64
	for node := range nodes {
		d := mustGenerate(t, Config{Seed: 1, Node: node, Alpha: 1, Beta: 1})
		losses := lossesAt(t, d, points, 1)
		optimum, best := refine(t, d, points, losses, rng)
		sorted := slices.Sorted(slices.Values(losses))
		t.Logf("node %d: best found %.3f at %+v", node, best, box(optimum))
		t.Logf("node %d: quantiles 1%% %.3f, 10%% %.3f, 50%% %.3f, 90%% %.3f, max %.2f", node,
			sorted[random/100], sorted[random/10], sorted[random/2], sorted[9*random/10], sorted[random-1])
		for _, n := range []int{10, 25, 50, 100} {
			regrets := randomRegrets(losses, best, n, rng)
			t.Logf("node %d: regret of the best of %3d random: median %.3f, 10%% %.3f, 90%% %.3f", node, n,
				regrets[len(regrets)/2], regrets[len(regrets)/10], regrets[9*len(regrets)/10])
		}
		other := make([]float64, 8)
		for i := range other {
			other[i] = lossesAt(t, d, [][]float64{optimum}, uint64(100+10*i))[0]
		}
		t.Logf("node %d: the optimum with other orders of the samples: %.3f", node, other)
		data, all, optima = append(data, d), append(all, losses), append(optima, optimum)
	}
	for a := range nodes {
		t.Logf("node %d with the optimum of each node: %.3f", a, lossesAt(t, data[a], optima, 1))
		for b := range a {
			t.Logf("rank correlation of nodes %d and %d: %.2f", b, a, spearman(all[a][:200], all[b][:200]))
		}
	}
}

// TestStudyLikeness prints the mean rank correlation of the loss between two sites of the demo,
// over 60 random settings in the ranges of its task: of similar sites, of dissimilar ones, and of
// those of an earlier demo, which had a distribution each without a class above 80 %. Seeds 1 to 5,
// four sites each; run it with
//
//	go test ./examples/synthetic -run StudyLikeness -study -v
func TestStudyLikeness(t *testing.T) {
	if !*study {
		t.Skip("only with -study")
	}
	log := func(u, low, high float64) float64 { return low * math.Pow(high/low, u) }
	rng := rand.New(rand.NewPCG(1, 1))
	settings := make([]Hyperparameters, 60)
	for i := range settings {
		settings[i] = Hyperparameters{LearningRate: log(rng.Float64(), 1e-6, 1), L2: log(rng.Float64(), 1e-8, 1), Momentum: 0.8,
			BatchSize: int(math.Round(log(rng.Float64(), 2, 128))), Epochs: 20, Optimizer: []string{"sgd", "adam"}[rng.IntN(2)]}
	}
	for _, c := range []struct {
		name             string
		common, majority float64
	}{{"similar", 1, 1}, {"dissimilar", 0, 1}, {"earlier", 0, 0.8}} {
		sum, pairs := 0.0, 0.0
		for seed := uint64(1); seed <= 5; seed++ {
			var all [][]float64
			for node := range 4 {
				d, err := GenerateMixed(Config{Seed: seed, Node: node, Alpha: 1 - c.common, Beta: 1 - c.common, Common: c.common, Samples: 200}, c.majority)
				if err != nil {
					t.Fatal(err)
				}
				d.Standardize()
				losses := make([]float64, len(settings))
				for i, h := range settings {
					score, err := Train(t.Context(), d, h, seed)
					if errors.Is(err, ErrDiverged) {
						score.Loss = math.Inf(1)
					} else if err != nil {
						t.Fatal(err)
					}
					losses[i] = score.Loss
				}
				for _, other := range all {
					sum += spearman(losses, other)
					pairs++
				}
				all = append(all, losses)
			}
		}
		t.Logf("%s: rank correlation %.2f", c.name, sum/pairs)
	}
}

func lossesAt(t *testing.T, d *Data, points [][]float64, seed uint64) []float64 {
	t.Helper()
	losses := make([]float64, len(points))
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, u := range points {
		limit <- struct{}{}
		group.Go(func() {
			defer func() { <-limit }()
			score, err := Average(t.Context(), d, box(u), seed, 3)
			if errors.Is(err, ErrDiverged) {
				score.Loss = math.Inf(1)
			} else if err != nil {
				t.Error(err)
			}
			losses[i] = score.Loss
		})
	}
	group.Wait()
	return losses
}

// refine searches around the best point in shrinking steps.
func refine(t *testing.T, d *Data, points [][]float64, losses []float64, rng *rand.Rand) (optimum []float64, best float64) {
	best = slices.Min(losses)
	optimum = points[slices.Index(losses, best)]
	width := 0.15
	for range 10 {
		near := make([][]float64, 30)
		for i := range near {
			near[i] = slices.Clone(optimum)
			for j := range near[i] {
				if rng.Float64() < 0.6 {
					near[i][j] = min(1, max(0, near[i][j]+width*rng.NormFloat64()))
				}
			}
		}
		for i, loss := range lossesAt(t, d, near, 1) {
			if loss < best {
				optimum, best = near[i], loss
			}
		}
		width *= 0.8
	}
	return optimum, best
}

func randomRegrets(losses []float64, best float64, n int, rng *rand.Rand) []float64 {
	regrets := make([]float64, 1000)
	for i := range regrets {
		found := math.Inf(1)
		for range n {
			found = min(found, losses[rng.IntN(len(losses))])
		}
		regrets[i] = found - best
	}
	slices.Sort(regrets)
	return regrets
}

// spearman is the rank correlation; ties, which do not occur, are not averaged.
func spearman(a, b []float64) float64 {
	ranks := func(v []float64) []float64 {
		sorted := slices.Sorted(slices.Values(v))
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = float64(slices.Index(sorted, x))
		}
		return out
	}
	ra, rb := ranks(a), ranks(b)
	n, sum := float64(len(a)), 0.0
	for i := range ra {
		sum += (ra[i] - rb[i]) * (ra[i] - rb[i])
	}
	return 1 - 6*sum/(n*(n*n-1))
}
