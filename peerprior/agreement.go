package peerprior

import "math"

// agreeingPairs are the parts of all pairs of peers that may be alike.
var agreeingPairs = []float64{1, .5, .25}

// nobodyAlike returns the probability that no peer is of use before any own
// evidence: that no two peers are alike, by how well what they say agrees, but at
// least aloneOdds, since peers that are like each other need not be like the agent.
//
// Of two peers, c is the product of their means averaged over the space, and k
// that of what they know. Among unlike peers each c is as likely positive as
// negative and they are uncorrelated, so that z = Σc/√Σc² is about standard
// normal, however smooth the functions are; if the part r of the pairs is alike,
// Σc is about rΣk.
func nobodyAlike(peers []*listened) float64 {
	var sum, squares, known float64
	for i, p := range peers {
		for _, q := range peers[:i] {
			points := float64(len(p.known))
			c := dot(p.views[inOwnUnits].mean, q.views[inOwnUnits].mean) / points
			sum += c
			squares += c * c
			known += dot(p.known, q.known) / points
		}
	}
	if squares == 0 {
		return aloneOdds
	}
	pairs := float64(len(peers) * (len(peers) - 1) / 2)
	z, expected := sum/math.Sqrt(squares), min(known/math.Sqrt(squares), math.Sqrt(pairs))
	log := math.Inf(-1)
	for _, r := range agreeingPairs {
		log = logAdd(log, -(z-r*expected)*(z-r*expected)/2-math.Log(float64(len(agreeingPairs))))
	}
	return max(aloneOdds, 1/(1+math.Exp(log+z*z/2)*(1-disagreementOdds)/disagreementOdds))
}
