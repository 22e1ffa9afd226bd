package peerprior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/gp"
)

// likeness tells what two peers' means say of their objectives: the log of how much
// more probable these means are if the objectives are alike, or each other's contrary,
// than if they are independent.
type likeness struct {
	alike, contrary float64
}

// compare returns the likeness of each two peers.
func (s *Strategy) compare(d *data, peers []*listened) [][]likeness {
	if len(peers) < 2 {
		return make([][]likeness, len(peers))
	}
	points := min(comparedPoints, len(s.points))
	return compareAt(peers, points, independentPoints(gp.Covariance(s.spec, s.points[:points], d.h.Lengthscales)))
}

// compareAt returns the likeness of each two peers at the first reference points, which
// count as so many independent ones.
func compareAt(peers []*listened, points int, independent float64) [][]likeness {
	pairs := make([][]likeness, len(peers))
	for i := range peers {
		pairs[i] = make([]likeness, len(peers))
		for j := range i {
			of := likenessOf(peers[i], peers[j], points)
			of.alike *= independent
			of.contrary *= independent
			pairs[i][j], pairs[j][i] = of, of
		}
	}
	return pairs
}

// likenessOf returns the likeness of two peers averaged over reference points, each as
// if it were alone. Where the peers know the parts k and l of a variance of 1, their
// means have these variances, and a covariance of kl times the correlation of the
// objectives, which are never quite alike.
func likenessOf(p, q *listened, points int) likeness {
	correlation := math.Sqrt(1 - peerNoise)
	squares, products, determinants := 0.0, 0.0, 1.0
	for i := range points {
		k, l := p.known[i], q.known[i]
		m, n := p.views[inOwnUnits].mean[i], q.views[inOwnUnits].mean[i]
		determinant := 1 - (1-peerNoise)*k*l
		squares += (1 - peerNoise) * (l*m*m + k*n*n) / (2 * determinant)
		products += correlation * m * n / determinant
		determinants *= determinant
	}
	same := -squares - math.Log(determinants)/2
	return likeness{alike: (same + products) / float64(points), contrary: (same - products) / float64(points)}
}

// independentPoints returns how many independent values tell as much of a function
// as the function itself, given its correlations between points spread over the
// space: the average product of two independent such functions has the variance of
// the average product of so many pairs of independent values.
func independentPoints(correlations *mat.SymDense) float64 {
	n := correlations.SymmetricDim()
	squares := 0.0
	for i := range n {
		for j := range i {
			squares += correlations.At(i, j) * correlations.At(i, j)
		}
	}
	return min(float64(n*(n-1)/2)/squares, float64(n))
}
