//go:build !unix

package evaluator

import (
	"fmt"
	"os"
)

// Guard is for systems with process groups.
func Guard([]string) (exitCode int) {
	fmt.Fprintln(os.Stderr, "guard: this system has none")
	return 2
}
