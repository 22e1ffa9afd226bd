//go:build statistical

package experiment

import "testing"

// The logarithms of the two ratios have standard deviations of about 1.2 and 2.1 between federations.
// With ratios of 0.15, 16 federations have a power of 0.9 or more for bounds below 0.75.
func TestStatisticalOneDesignForAll(t *testing.T) { checkOneDesignForAll(t, 15, 16, 0.75, 0.75) }
