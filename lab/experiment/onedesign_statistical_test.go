//go:build statistical

package experiment

import "testing"

// The logarithms of the ratios have a standard deviation of about 1.2 between federations. With ratios
// of 0.3 or less, 16 federations have a power above 0.9 for bounds below 0.75.
func TestStatisticalOneDesignForAll(t *testing.T) { checkOneDesignForAll(t, 15, 16, 0.75, 0.75) }
