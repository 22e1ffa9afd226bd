//go:build unix

package base

import (
	"os"
	"runtime"
)

// ownImage is this program on Linux, even when its file has been replaced.
const ownImage = "/proc/self/exe"

// SupervisorLine returns the beginning of the command line that starts this program as a
// supervisor; nil, which means no supervisor, if the program cannot be found.
func SupervisorLine() []string {
	program, err := os.Executable()
	if runtime.GOOS == "linux" {
		if _, missing := os.Stat(ownImage); missing == nil {
			program, err = ownImage, nil
		}
	}
	if err != nil {
		return nil
	}
	return []string{program, superviseCommand}
}
