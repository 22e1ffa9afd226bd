package family_test

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
)

// Twenty agents tune nearly the same function; the last comes when the others are
// done, and its regret is what matters.
func Example() {
	f, err := family.Kinds().Parse("branin:shift=0.1,newcomer=true,noise=0.10")
	if err != nil {
		fmt.Println(err)
		return
	}
	federation, err := f.Draw(random.SeedOf(1), 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	last := federation.Members[19]
	centre := federation.Space.Decode([]float64{0.5, 0.5})
	fmt.Println(f.Name)
	fmt.Println("late:", last.Late, "counts:", last.Counts, "noise:", last.Objective.Noise)
	fmt.Println("has regret:", last.Objective.Value(centre) > last.Objective.Optimum)
	// Output:
	// branin:shift=0.1,newcomer=true
	// late: true counts: true noise: 0.1
	// has regret: true
}

// An error says what would be accepted.
func ExampleCatalogue_Parse() {
	_, err := family.Kinds().Parse("gp:kernel=rbf")
	fmt.Println(err)
	// Output: family "gp:kernel=rbf": key kernel: value "rbf" is not accepted; accepted: se, matern52
}
