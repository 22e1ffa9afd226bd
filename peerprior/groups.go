package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/gp"
)

// groups divides the peers into those that are like each other, by what they say:
// it joins the two groups whose pairs are on average the most probably alike, as
// long as these are so rather than not. A peer like no other is a group of its own.
func (s *Strategy) groups(d *data, peers []*listened) [][]int {
	points := min(comparedPoints, len(s.points))
	independent := independentPoints(gp.Covariance(s.spec, s.points[:points], d.h.Lengthscales))
	alike := make([][]float64, len(peers))
	all := make([][]int, len(peers))
	for i := range peers {
		alike[i] = make([]float64, len(peers))
		all[i] = []int{i}
		for j := range i {
			alike[i][j] = independent * likeness(peers[i], peers[j], points)
			alike[j][i] = alike[i][j]
		}
	}
	for {
		best, a, b := 0.0, 0, 0
		for i, g := range all {
			for j, h := range all[:i] {
				sum := 0.0
				for _, p := range g {
					for _, q := range h {
						sum += alike[p][q]
					}
				}
				if mean := sum / float64(len(g)*len(h)); mean > best {
					best, a, b = mean, j, i
				}
			}
		}
		if best == 0 {
			return all
		}
		all[a] = append(all[a], all[b]...)
		all = slices.Delete(all, b, b+1)
	}
}

// likeness returns the log of how much more probable two peers' means are when
// their objectives are alike than when they are independent, averaged over
// reference points. Where the peers know the parts k and l of a variance of 1,
// their means have these variances, and a covariance of kl times the correlation
// of the objectives, which are never quite alike.
func likeness(p, q *listened, points int) float64 {
	correlation := math.Sqrt(1 - peerNoise)
	exponents, determinants := 0.0, 1.0
	for i := range points {
		k, l := p.known[i], q.known[i]
		m, n := correlation*p.views[inOwnUnits].mean[i], correlation*q.views[inOwnUnits].mean[i]
		determinant := 1 - (1-peerNoise)*k*l
		exponents += (2*m*n/correlation - l*m*m - k*n*n) / (2 * determinant)
		determinants *= determinant
	}
	return (exponents - math.Log(determinants)/2) / float64(points)
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
