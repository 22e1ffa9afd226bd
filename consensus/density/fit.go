package density

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
)

const (
	// minFitSpread is the minimum spread of a cluster, for nearly identical members. A few
	// samples do not locate the optimum more precisely.
	minFitSpread = 0.05
	spreadSteps  = 25   // number of compared spreads
	spreadRatio  = 1.19 // between successive spreads, up to 3.3, which is nearly uniform

	clusterRounds = 50
)

// fit returns up to most components around clusters of the encoded points; it needs at
// least one point. The clusters are those of k-means with the starts of k-means++ (Arthur and
// Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA 2007). The distance of two
// choices of a categorical is that of the ends of a coordinate. A component's weight is its
// fraction of the points. Its spread maximises the likelihood of its members, which accounts
// for truncation and categories too.
func fit(l *optprior.Layout, points [][]float64, most int, rng *rand.Rand) []protocol.Component {
	var components []protocol.Component
	for _, members := range clusters(l, points, most, rng) {
		centre := middle(l, members)
		components = append(components, protocol.Component{
			Weight: float64(len(members)) / float64(len(points)),
			Std:    likeliestSpread(l, members, centre),
			Center: pointAt(l, centre),
		})
	}
	return components
}

// clusters divides the points into at most this number of sets, none of them empty.
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

// seedCentres draws points as first centres, each with a probability proportional to its squared
// distance from the nearest earlier centre. There are fewer than most centres if there are fewer
// distinct points.
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

// nearest returns the index of the nearest centre, the first of equals, and the
// square of its distance.
func nearest(l *optprior.Layout, centres [][]float64, x []float64) (index int, square float64) {
	square = math.Inf(1)
	for i, centre := range centres {
		if s := distance(l, centre, x); s < square {
			index, square = i, s
		}
	}
	return index, square
}

// distance returns the squared distance of encoded points; different choices have distance 1.
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

// middle returns the average of the members in every number and the most
// frequent choice, the first of equals, in every categorical.
func middle(l *optprior.Layout, members [][]float64) []float64 {
	sum := make([]float64, l.Dim)
	for _, x := range members {
		for i, v := range x {
			sum[i] += v
		}
	}
	for _, i := range l.Numbers {
		sum[i] /= float64(len(members))
	}
	for _, block := range l.Categories {
		counts := sum[block.Start : block.Start+block.Len]
		frequent := slices.Index(counts, slices.Max(counts))
		clear(counts)
		counts[frequent] = 1
	}
	return sum
}

// likeliestSpread returns the spread of a fixed series that maximises the likelihood of the members.
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

// pointAt returns the point of an encoded centre, with coordinates rounded to float32 as in messages.
func pointAt(l *optprior.Layout, centre []float64) protocol.Point {
	var p protocol.Point
	for _, i := range l.Numbers {
		p.Coordinates = append(p.Coordinates, float64(float32(centre[i])))
	}
	for _, block := range l.Categories {
		p.Choices = append(p.Choices, slices.Index(centre[block.Start:block.Start+block.Len], 1))
	}
	return p
}
