package quartile

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	if q := Of([]float64{4, 1, 3, 2}); q != [3]float64{1.75, 2.5, 3.25} {
		t.Errorf("quartiles %v", q)
	}
	if q := Of([]float64{7}); q != [3]float64{7, 7, 7} {
		t.Errorf("quartiles of one %v", q)
	}
	if q := Of([]float64{1, 2, math.Inf(1), math.Inf(1), math.Inf(1)}); q != [3]float64{2, math.Inf(1), math.Inf(1)} {
		t.Errorf("quartiles with infinities %v", q)
	}
}
