//go:build statistical

package tsampling

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
)

// The bound reaches .87 of the guarantee, with a standard deviation of .03.
func TestStatisticalAuditOfReleases(t *testing.T) { checkAudit(t, 4000, 0.7) }

// Each fault breaks the guarantee. The smallest, three quarters of the noise, has the bound ε = 5.2
// with a standard deviation of .14.
func TestStatisticalAuditFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		keys  string
		wrong fault
	}{
		"three quarters of the noise":     {"", func(clipped, noise, _ float64) float64 { return clipped + 0.75*noise }},
		"no clip":                         {"", noClip},
		"the same noise in every release": {"", func(clipped, _, first float64) float64 { return clipped + first }},
		"half the sensitivity":            {", adjacency: zero-out", nil},
	} {
		strategytest.Guarantee().Check(t, name, shownBy(t, 4000, c.keys, c.wrong), false, 0)
	}
}
