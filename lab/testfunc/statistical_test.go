//go:build statistical

package testfunc

import "testing"

func TestStatisticalDeviationsInManyCoordinates(t *testing.T) { checkDeviations(t, 20) }

func TestStatisticalMaximalHypervolumes(t *testing.T) { checkMaximalHypervolumes(t, 32000, 3e-7) }
