package ledger

import (
	"fmt"
	"testing"
)

// Gaussian releases under several tasks add up by their μ²: two alike cost what twice
// as many of one do. Where one task promises zero-out, the sum is of that, for which the
// other's releases count half.
func TestTogetherAddsReleasesOfTasks(t *testing.T) {
	of := func(keys string) Terms {
		terms, err := NewTerms(parse(t, keys))
		if err != nil {
			t.Fatal(err)
		}
		return terms
	}
	together := func(parts ...Spending) (float64, string) {
		epsilon, adjacency, err := Together(1e-5, parts...)
		if err != nil {
			t.Fatal(err)
		}
		return epsilon, adjacency
	}
	one, zero := of("epsilon: 4, releases: 3"), of("epsilon: 4, releases: 3, adjacency: zero-out")
	twice, err := one.Spent(6)
	if err != nil {
		t.Fatal(err)
	}
	if got, adjacency := together(Spending{one, 3}, Spending{one, 0}, Spending{one, 3}); fmt.Sprintf("%.9g", got) != fmt.Sprintf("%.9g", twice) || adjacency != "replace-one" || got <= 4 || got >= 8 {
		t.Errorf("3 and 3 releases cost %g by %s, 6 cost %g", got, adjacency, twice)
	}
	if got, _ := together(Spending{one, 2}); got >= 4 {
		t.Errorf("2 of 3 releases cost %g", got)
	}
	if got, _ := together(); got != 0 {
		t.Errorf("nothing costs %g", got)
	}
	alone, _ := together(Spending{zero, 3})
	mixed, adjacency := together(Spending{zero, 3}, Spending{one, 3})
	if both, _ := together(Spending{zero, 3}, Spending{zero, 3}); adjacency != "zero-out" || mixed <= alone || mixed >= both {
		t.Errorf("%g by %s, want between %g and %g", mixed, adjacency, alone, both)
	}
}
