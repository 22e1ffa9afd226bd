//go:build unix

package main

import (
	"os"
	"runtime"
)

// ownImage is this program on Linux, even when its file has been replaced.
const ownImage = "/proc/self/exe"

// supervisorLine starts this program as the supervisor of a command; nil, and so no supervisor,
// when the program cannot be found.
func supervisorLine() []string {
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
