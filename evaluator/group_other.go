//go:build !unix

package evaluator

import (
	"os"
	"os/exec"
	"time"
)

// Systems without process groups: only the command itself can be stopped.

func prepareGroup(*exec.Cmd) {}

func terminateGroup(leader *os.Process) error { return leader.Kill() }

func killGroup(*os.Process, time.Duration) {}

func signalOf(*os.ProcessState) string { return "" }
