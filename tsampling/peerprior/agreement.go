package peerprior

import "math"

// agreement tells how alike the peers are by what they say, before any own
// evidence.
type agreement struct {
	evidence  float64 // how much more probable what they say is if some are alike than if no two are
	nobody    float64 // the probability that none is of use: that no two are alike, but at least aloneOdds, since peers like each other need not be like the agent
	everybody float64 // that all are, if some are
}

// agree weighs that certain parts of all pairs of peers are alike against that none are.
//
// If a part r is, a pair speaks by φ = log[(1-r + r·alike)/(1-r + r·contrary)]
// for alike rather than contrary objectives. If no two are alike, the signs of these are
// those of a coin, pair by pair uncorrelated, since each peer's objective, less its
// level, is as probable as its contrary. So their sum over the root of the sum of their
// squares, z, is about standard normal then, however smooth the functions are and
// whatever peers claim to know. Else each is positive with the probability that it itself
// implies, and z is about the sum of |φ|·tanh(|φ|/2) over that root, up to an error in the
// claims.
// What the magnitudes say, whatever the signs, counts once for each peer rather than
// for each pair, and never for the peers, as each may exaggerate.
func agree(pairs [][]likeness) agreement {
	if len(pairs) < 2 {
		return agreement{evidence: 1, nobody: aloneOdds, everybody: 1}
	}
	n := float64(len(pairs))
	var logs [len(agreeingPairs)]float64
	most := 0.0 // that magnitudes tell for any part
	for k, r := range agreeingPairs {
		part, rest := math.Log(r), math.Log(1-r)
		sum, squares, expected, magnitudes := 0.0, 0.0, 0.0, 0.0
		for i, row := range pairs {
			for _, of := range row[:i] {
				alike := logAdd(rest, part+of.alike)
				contrary := logAdd(rest, part+of.contrary)
				phi := alike - contrary
				sum += phi
				squares += phi * phi
				expected += math.Abs(phi) * math.Tanh(math.Abs(phi)/2)
				magnitudes += (logAdd(alike, contrary) - math.Ln2) * 2 / n
			}
		}
		logs[k] = magnitudes
		most = max(most, magnitudes)
		if squares > 0 {
			z, mean := sum/math.Sqrt(squares), expected/math.Sqrt(squares)
			variance := 1 + claimError*claimError*mean*mean
			logs[k] += z*z/2 - (z-mean)*(z-mean)/(2*variance) - math.Log(variance)/2
		}
	}
	some := math.Inf(-1)
	for _, l := range logs {
		some = logAdd(some, l-math.Log(float64(len(logs))))
	}
	evidence := max(math.Exp(some-most), leastAgreement)
	return agreement{
		evidence:  evidence,
		nobody:    max(aloneOdds, 1/(1+evidence*(1-disagreementOdds)/disagreementOdds)),
		everybody: math.Exp(logs[0]-some) / float64(len(logs)),
	}
}
