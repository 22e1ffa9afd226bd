//go:build statistical

package alone_test

import "testing"

func TestStatisticalConstrainedSearch(t *testing.T) { checkConstrainedSearch(t, 3) }

func TestStatisticalSearchByTruth(t *testing.T) { checkSearchByTruth(t, 3) }

func TestStatisticalFailuresAreAvoided(t *testing.T) { checkFailures(t, 3, "logei", "ts", "alone") }

func TestStatisticalSearchesDoNotStayOnALowerHill(t *testing.T) { checkHills(t, 60) }
