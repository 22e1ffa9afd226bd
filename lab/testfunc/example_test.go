package testfunc_test

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
)

// What an optimiser has found is judged by the function without noise.
func Example() {
	seed := random.SeedOf(1)
	f := testfunc.Shifted(testfunc.Branin(), seed.Stream("shift", 0))
	observed := testfunc.Noisy(f, 0.1, seed.Stream("noise", 0))

	centre := f.Space.Decode([]float64{0.5, 0.5})
	_ = observed.At(centre) // what the optimiser is told
	fmt.Printf("regret of the centre: %.1f\n", f.At(centre)-f.Optimum)

	best, err := f.Design(f.Minimizers[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the best has the optimum:", f.At(best)-f.Optimum < 1e-9)
	// Output:
	// regret of the centre: 66.0
	// the best has the optimum: true
}
