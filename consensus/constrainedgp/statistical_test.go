//go:build statistical

package constrainedgp

import "testing"

// The bound reaches .6 of the guarantee, and finds too little noise: half the sensitivity, or that
// of ε = 6. Two releases are clipped at the ends of the range, which lowers the bound.
func TestStatisticalAuditOfReleases(t *testing.T) {
	checkAudit(t, 2500, 0.6, map[string]bool{
		"epsilon: 4, releases: 1": true, "epsilon: 4, releases: 2": true,
		"epsilon: 4, releases: 1, adjacency: zero-out": false, "epsilon: 6, releases: 1": false,
	})
}
