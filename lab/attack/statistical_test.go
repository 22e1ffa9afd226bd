//go:build statistical

package attack

import "testing"

func TestStatisticalCoarseSharesDiscloseOnlyTheCellOfTheOptimum(t *testing.T) {
	checkCoarseShares(t, 1, 6, "peer-prior", "density", "constrained-gp")
}

func TestStatisticalNoisyMeansAreInvertedAsFarAsNoiseAllows(t *testing.T) { checkNoisyMeans(t, 6) }

func TestStatisticalPrivateReleasesDiscloseNothing(t *testing.T) { checkPrivateReleases(t, 2) }

func TestStatisticalSharesWithoutNoiseDiscloseInputs(t *testing.T) { checkSamples(t, 15) }

func TestStatisticalPrivateSumsDiscloseNothingOfOneNode(t *testing.T) { checkPrivateSums(t, 8, 2) }
