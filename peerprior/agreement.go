package peerprior

import "math"

// agreement tells how alike the peers are by what they say, before any own
// evidence.
type agreement struct {
	nobody    float64 // the probability that none is of use: that no two are alike, but at least aloneOdds, since peers like each other need not be like the agent
	everybody float64 // that all are, if some are
}

// agree compares all pairs of peers.
//
// Of two peers, c is the product of their means averaged over the space, and k
// that of what they know. Among unlike peers each c is as likely positive as
// negative and they are uncorrelated, so that z = Σc/√Σc² is about standard
// normal, however smooth the functions are; if the part r of the pairs is alike,
// Σc is about rΣk, up to an error in what peers claim to know. Peers that are alike
// in groups, of about rn each, moreover have products of one sign wherever they belong to
// the same two groups, so that z varies the more.
func agree(peers []*listened) agreement {
	n := float64(len(peers))
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
		return agreement{nobody: aloneOdds, everybody: 1}
	}
	root := math.Sqrt(squares)
	z, most := sum/root, math.Sqrt(n*(n-1)/2)
	var likelihoods [len(agreeingPairs)]float64 // relative to that of no two alike, in nats
	some := math.Inf(-1)
	for i, r := range agreeingPairs {
		expected := r * min(known/root, most)
		variance := 1 + claimError*claimError*expected*expected + (1-r)*r*r*n*n
		likelihoods[i] = z*z/2 - (z-expected)*(z-expected)/(2*variance) - math.Log(variance)/2
		some = logAdd(some, likelihoods[i]-math.Log(float64(len(agreeingPairs))))
	}
	return agreement{
		nobody:    max(aloneOdds, 1/(1+math.Exp(some)*(1-disagreementOdds)/disagreementOdds)),
		everybody: math.Exp(likelihoods[0]-some) / float64(len(agreeingPairs)),
	}
}
