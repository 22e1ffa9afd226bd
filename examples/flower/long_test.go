//go:build long

package flower

import "testing"

// TestLongProcesses tunes five sites with all processes of Flower: a SuperLink and five SuperNodes on loopback.
func TestLongProcesses(t *testing.T) { checkPerSite(t, "--processes") }
