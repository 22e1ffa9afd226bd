package density

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const (
	// minFitSpread is the minimum spread of a component. It applies to clusters of nearly identical
	// points, since a few samples do not locate the optimum more precisely.
	minFitSpread = 0.05
	spreadSteps  = 25   // number of spreads whose likelihoods are compared
	spreadRatio  = 1.19 // ratio of successive spreads; the largest is 3.3, which is nearly uniform

	clusterRounds = 50
)

// fit returns at most `most` components, one for each cluster of the encoded points. points must
// not be empty. The clusters are those of k-means, started by k-means++ (Arthur and Vassilvitskii,
// "k-means++: The Advantages of Careful Seeding", SODA 2007). Two choices of a categorical
// parameter have the distance of the two ends of a numeric coordinate. A component's weight is its
// fraction of the points. Its spread maximises the likelihood of the points of its cluster, with
// truncation and categories taken into account.
func fit(space *task.Space, points [][]float64, most int, rng *rand.Rand) []protocol.Component {
	l := optprior.NewLayout(space)
	var components []protocol.Component
	for _, members := range clusters(l, points, most, rng) {
		centre := middle(l, members)
		space.Impute(centre)
		components = append(components, protocol.Component{
			Weight: float64(len(members)) / float64(len(points)),
			Std:    likeliestSpread(l, members, centre),
			Center: protocol.PointAt(space, centre),
		})
	}
	return components
}

// clusters divides the points into at most `most` nonempty sets by k-means.
func clusters(l *optprior.Layout, points [][]float64, most int, rng *rand.Rand) [][][]float64 {
	centres := seedCentres(l, points, most, rng)
	for range clusterRounds {
		sets := byNearest(l, points, centres)
		next := make([][]float64, len(sets))
		for i, members := range sets {
			next[i] = middle(l, members)
		}
		if slices.EqualFunc(next, centres, slices.Equal) {
			return sets
		}
		centres = next
	}
	return byNearest(l, points, centres)
}

// seedCentres draws points as first centres. The probability of a point is proportional to its
// squared distance from the nearest earlier centre. The result has fewer than `most` centres if
// there are fewer distinct points.
func seedCentres(l *optprior.Layout, points [][]float64, most int, rng *rand.Rand) [][]float64 {
	centres := [][]float64{points[rng.IntN(len(points))]}
	for len(centres) < most {
		total := 0.0
		squares := make([]float64, len(points))
		for i, x := range points {
			_, squares[i] = nearest(l, centres, x)
			total += squares[i]
		}
		if total == 0 {
			break
		}
		mark, chosen := rng.Float64()*total, 0
		for i, square := range squares {
			if square > 0 {
				chosen = i // also the last one, if rounding leaves mark above all
			}
			if mark -= square; mark < 0 {
				break
			}
		}
		centres = append(centres, points[chosen])
	}
	return centres
}

// byNearest groups the points by their nearest centre, and drops empty groups.
func byNearest(l *optprior.Layout, points, centres [][]float64) [][][]float64 {
	sets := make([][][]float64, len(centres))
	for _, x := range points {
		i, _ := nearest(l, centres, x)
		sets[i] = append(sets[i], x)
	}
	return slices.DeleteFunc(sets, func(set [][]float64) bool { return len(set) == 0 })
}

// nearest returns the index of the nearest centre, the first one of several, and the squared
// distance to it.
func nearest(l *optprior.Layout, centres [][]float64, x []float64) (index int, square float64) {
	square = math.Inf(1)
	for i, centre := range centres {
		if s := distance(l, centre, x); s < square {
			index, square = i, s
		}
	}
	return index, square
}

// distance returns the squared distance of two encoded points. Each pair of different choices adds
// 1.
func distance(l *optprior.Layout, a, b []float64) float64 {
	square := 0.0
	for _, i := range l.Numbers {
		square += (a[i] - b[i]) * (a[i] - b[i])
	}
	for _, block := range l.Categories {
		if !slices.Equal(a[block.Start:block.Start+block.Len], b[block.Start:block.Start+block.Len]) {
			square++
		}
	}
	return square
}

// middle returns the centre of a cluster: the average of every number, and the most frequent
// choice, the first one of several, of every categorical parameter. Members in which a parameter is
// inactive do not count for it, unless it is inactive in all.
func middle(l *optprior.Layout, members [][]float64) []float64 {
	sum, counted := make([]float64, l.Dim), make([]float64, l.Dim)
	for _, x := range members {
		active := l.Active(x)
		for i, v := range x {
			if active.At(i) {
				sum[i] += v
				counted[i]++
			}
		}
	}
	for i, n := range counted {
		if n == 0 {
			sum[i], counted[i] = members[0][i], 1
		}
	}
	for _, i := range l.Numbers {
		sum[i] /= counted[i]
	}
	for _, block := range l.Categories {
		counts := sum[block.Start : block.Start+block.Len]
		frequent := slices.Index(counts, slices.Max(counts))
		clear(counts)
		counts[frequent] = 1
	}
	return sum
}

// likeliestSpread returns the spread that maximises the likelihood of the members, among
// spreadSteps candidates from minFitSpread on.
func likeliestSpread(l *optprior.Layout, members [][]float64, centre []float64) float64 {
	best, likeliest := minFitSpread, math.Inf(-1)
	spread := minFitSpread
	for range spreadSteps {
		c := optprior.NewNormal(l, 1, spread, centre)
		likelihood := 0.0
		for _, x := range members {
			likelihood += c.Log(l, x)
		}
		if likelihood > likeliest {
			best, likeliest = spread, likelihood
		}
		spread *= spreadRatio
	}
	return best
}
