//go:build unix

package evaluator

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// prepareGroup gives the command its own process group. So the node can stop all processes that the
// command starts. An interrupt typed at the node's terminal reaches only the node, which then
// decides about the trial.
func prepareGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminateGroup sends the processes of the group a request to end (SIGTERM).
func terminateGroup(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// pollInterval is the time between two checks whether processes have ended.
const pollInterval = 10 * time.Millisecond

// killGroup kills the remaining processes of the group after its leader has ended. For the time
// grace, it lets them end by themselves.
func killGroup(leader *os.Process, grace time.Duration) {
	for range max(0, grace/pollInterval) {
		if syscall.Kill(-leader.Pid, 0) != nil {
			return // the group has no processes
		}
		time.Sleep(pollInterval)
	}
	// An error means that there is no such process, or that it cannot be killed.
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
}

// signalOf returns the name of the signal that ended the process, or "" if it ended otherwise.
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return signalName(status.Signal())
}

func signalName(signal syscall.Signal) string {
	if signal == syscall.SIGKILL {
		return "killed (perhaps the system ran out of memory)"
	}
	return signal.String()
}

// readStatus returns the error for the wait status that a supervisor has reported; nil for success.
func readStatus(text string) error {
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return fmt.Errorf("lost its supervisor, which reported %q; expected a wait status", shorten(text))
	}
	status := syscall.WaitStatus(number)
	switch {
	case status.Signaled():
		return errors.New("was killed by a signal: " + signalName(status.Signal()))
	case status.ExitStatus() != 0:
		return errors.New(codeReason(status.ExitStatus()))
	}
	return nil
}
