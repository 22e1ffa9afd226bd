package random_test

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
)

// Each kind of decision has its own stream, which no other one disturbs.
func ExampleSeed_Stream() {
	seed := random.SeedOf(7)
	first := seed.Stream("which peer", 1)
	seed.Stream("own sample", 1).Uint64()
	again := seed.Stream("which peer", 1)
	other := seed.Stream("which peer", 2)
	a, b, c := first.Uint64(), again.Uint64(), other.Uint64()
	fmt.Println(a == b, a == c)
	// Output: true false
}
