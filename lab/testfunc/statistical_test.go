//go:build statistical

package testfunc

import "testing"

func TestStatisticalDeviationsInManyCoordinates(t *testing.T) { checkDeviations(t, 20) }
