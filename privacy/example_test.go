package privacy_test

import (
	"crypto/rand"
	"fmt"
	"log"

	"github.com/fbo-node/fbo/privacy"
)

// Ten releases of 64 weights under a promise of ε = 4 at δ = 1e-5.
func Example() {
	grid := privacy.Grid{Norm: 4, Bits: 30}
	plan := privacy.Plan{Grid: grid, Dimension: 64, Rate: 1, Releases: 10, Parties: 1}
	sigma, err := plan.Sigma(privacy.Promise{Epsilon: 4, Delta: 1e-5})
	if err != nil {
		log.Fatal(err)
	}
	scale := make([]float64, 1)
	grid.Weights(scale, []int64{sigma})
	fmt.Printf("noise per weight: %.1f\n", scale[0])

	sampler, err := privacy.NewSampler(sigma, rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	weights, release := make([]float64, 64), make([]int64, 64)
	weights[0] = 5 // more than the norm: will be clipped
	if err := grid.Clip(release, weights); err != nil {
		log.Fatal(err)
	}
	fmt.Println("clipped:", release[0] == 1<<grid.Bits)
	if err := sampler.AddTo(release); err != nil {
		log.Fatal(err)
	}

	// What was spent is known from the plan, whatever was released.
	loss, err := plan.Loss(sigma)
	if err != nil {
		log.Fatal(err)
	}
	tight, err := loss.Epsilon(1e-5, privacy.Tight)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("tight figure: %.2f\n", tight)
	// Output:
	// noise per weight: 29.3
	// clipped: true
	// tight figure: 3.70
}

// What the published mechanism of distributed exploration costs in 60 rounds (q =
// 0.35, noise once the sensitivity) at a δ that is worth having.
func ExamplePlan_Loss() {
	grid := privacy.Grid{Norm: 22, Bits: 30}
	plan := privacy.Plan{Grid: grid, Adjacency: privacy.ZeroOut, Dimension: 100, Rate: 0.35, Releases: 60, Parties: 1}
	loss, err := plan.Loss(grid.Sensitivity(privacy.ZeroOut))
	if err != nil {
		log.Fatal(err)
	}
	epsilon, err := loss.Epsilon(1e-5, privacy.Renyi)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", epsilon)
	// Output: 21.6
}
