//go:build unix

package evaluator

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervisorLine is the command line of a supervisor in these tests.
func supervisorLine() []string { return []string{os.Args[0], helperArgument, "supervise"} }

// TestSupervisorChangesNothing: what a command does comes out as without a supervisor.
func TestSupervisorChangesNothing(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("no program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // of the error; empty: a value
	}{
		{[]string{"print", "x", "0.5"}, ""},
		{[]string{"flood", "6.5"}, ""},
		{[]string{"name"}, ""},
		{[]string{"fail", "3"}, `the command exited with code 3; the last line of its standard error is "out of luck" (see LOG)`},
		{[]string{"crash"}, "the command was killed by a signal: killed (perhaps the system ran out of memory)"},
		{[]string{"print", "nan"}, `the command printed "nan": the value is NaN, not a number`},
		{[]string{script}, "the command could not be started: fork/exec " + script + ": exec format error"},
	} {
		var kept [2]string
		for i, supervisor := range [][]string{nil, supervisorLine()} {
			command, design := helper(t, c.args...)
			command.Supervisor = supervisor
			if c.args[0] == script {
				command.Args, command.path = c.args, script
			}
			_, err := command.Evaluate(t.Context(), Trial{ID: 2, Design: design}, nil)
			want := strings.ReplaceAll(c.want, "LOG", filepath.Join(command.dir, "trial-2.log"))
			if (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("%v, supervisor %v: got %v, want %q", c.args, supervisor != nil, err, want)
			}
			kept[i] = outputOf(t, command.dir, 2)
		}
		if len(kept[0]) != len(kept[1]) { // the two streams may come in another order
			t.Errorf("%v: kept %q without a supervisor, %q with one", c.args, kept[0], kept[1])
		}
	}
}

// TestSupervisorStops: a command with a supervisor stops as one without, and on Linux also
// takes along what has left its group.
func TestSupervisorStops(t *testing.T) {
	for _, mode := range []string{"sleep", "stubborn", "wait-for-child", "wait-for-stranger", "leaves-group"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if mode == "wait-for-stranger" && runtime.GOOS != "linux" {
				t.Skip("a process that has left its group is found on Linux only")
			}
			args := []string{mode}
			if mode == "stubborn" {
				args = []string{"sleep", "stubborn"}
			}
			command, design := helper(t, args...)
			command.Supervisor = supervisorLine()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := command.Evaluate(ctx, Trial{ID: 3, Design: design}, nil)
				ended <- err
			}()
			waitForOutput(t, command.dir, 3, "\n")
			cancel()
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("does not end")
			}
			if mode != "sleep" && mode != "stubborn" {
				checkGone(t, command, 3)
			}
		})
	}
}

// TestCommandThatEndsItsGroup: the supervisor does not take that for a stop by the node.
func TestCommandThatEndsItsGroup(t *testing.T) {
	command, design := helper(t, "ends-group")
	command.Supervisor = supervisorLine()
	got, err := command.Evaluate(t.Context(), Trial{ID: 1, Design: design}, nil)
	if err != nil || got.Value != 4 {
		t.Errorf("got %v, %v", got, err)
	}
	_ = syscall.Kill(childOf(t, command, 1), syscall.SIGKILL)
}

// waitForOutput waits until a trial has printed a text.
func waitForOutput(t testing.TB, dir string, trial uint64, text string) {
	t.Helper()
	for range 6000 {
		if strings.Contains(outputOf(t, dir, trial), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("trial %d never printed %q", trial, text)
}

// TestSupervisorByHand: it would kill its group, so it does nothing when no node started it.
func TestSupervisorByHand(t *testing.T) {
	output, err := exec.Command(os.Args[0], helperArgument, "supervise", "/bin/echo", "echo").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(output), "supervise: a node starts it, beside a command") {
		t.Errorf("%v, %q", err, output)
	}
}

// What a supervisor costs per trial.
func BenchmarkEvaluate(b *testing.B) {
	for name, supervisor := range map[string][]string{"alone": nil, "supervised": supervisorLine()} {
		b.Run(name, func(b *testing.B) {
			command, design := helper(b, "print", "1")
			command.Supervisor = supervisor
			for trial := range b.N {
				if _, err := command.Evaluate(b.Context(), Trial{ID: uint64(trial + 1), Design: design}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
