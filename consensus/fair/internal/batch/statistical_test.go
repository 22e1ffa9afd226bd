//go:build statistical

package batch

import "testing"

func TestStatisticalMaximise(t *testing.T) { checkMaximise(t, []string{"exact", "rff"}, 1, 3, 9) }
