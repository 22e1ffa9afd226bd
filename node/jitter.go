package node

import (
	"math/rand/v2"
	"time"
)

// jittered is a pause between half of d and one and a half times d, d on average: many
// nodes may start at once and shall not go on in step. d is positive.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d) }
