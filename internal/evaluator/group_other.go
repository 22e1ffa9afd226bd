//go:build !unix

package evaluator

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// On systems without process groups only the command itself can be stopped, and there is no
// supervisor.

func prepareGroup(*exec.Cmd) {}

func terminateGroup(leader *os.Process) error { return leader.Kill() }

func killGroup(*os.Process, time.Duration) {}

func signalOf(*os.ProcessState) string { return "" }

func readStatus(string) error { return errors.New("has a supervisor, which this system cannot have") }
