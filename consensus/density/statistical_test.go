//go:build statistical

package density

import "testing"

// The bound reaches .7 of the guarantee, for numbers and categories, and finds too little noise: half
// the sensitivity, or that of ε = 6.
func TestStatisticalAuditOfReleases(t *testing.T) {
	for _, parameters := range []string{line, boolean} {
		checkAudit(t, 2500, 0.7, parameters, map[string]bool{
			"epsilon: 4, releases: 1": true, "epsilon: 4, releases: 1, adjacency: zero-out": false, "epsilon: 6, releases: 1": false,
		})
	}
}
