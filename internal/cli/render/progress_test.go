package render

import "testing"

func TestRoughlyRoundsDurations(t *testing.T) {
	for seconds, want := range map[float64]string{
		0.1: "1 s", 89: "89 s", 100: "2 min", 80 * 60: "80 min", 100 * 60: "2 h", 40 * 3600: "2 days",
	} {
		if got := roughly(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
}
