//go:build unix

package evaluator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/task"
)

func testSpace(t testing.TB) *task.Space {
	t.Helper()
	space, err := task.NewSpace([]task.Parameter{
		{Name: "learning_rate", Kind: task.Float, Low: 0.001, High: 1, Scale: task.Log},
		{Name: "batch", Kind: task.Int, Low: 1, High: 100},
		{Name: "optimizer", Kind: task.Categorical, Choices: []string{"sgd", "adam w"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func testDesign(t testing.TB, space *task.Space) task.Design {
	t.Helper()
	design, err := space.ParseDesign(map[string]any{"learning_rate": 0.25, "batch": 32, "optimizer": "adam w"})
	if err != nil {
		t.Fatal(err)
	}
	return design
}

// quickExit spares the second that a program with the race detector waits at its
// end.
const quickExit = "GORACE=atexit_sleep_ms=0"

// testCommand knows where the output of its trials is.
type testCommand struct {
	*Command
	dir string
}

func helper(t testing.TB, args ...string) (testCommand, task.Design) {
	t.Helper()
	space, dir := testSpace(t), filepath.Join(t.TempDir(), "logs")
	c, err := New(space, append([]string{os.Args[0], helperArgument}, args...), dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Grace = 300 * time.Millisecond
	c.Env = append(os.Environ(), quickExit)
	return testCommand{c, dir}, testDesign(t, space)
}

// outputOf is what is kept of a trial's output.
func outputOf(t testing.TB, dir string, trial uint64) string {
	t.Helper()
	var text strings.Builder
	reader := triallog.NewReader(dir, trial)
	defer reader.Close()
	if _, err := reader.CopyTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestEvaluateReadsLastLine(t *testing.T) {
	cases := []struct {
		printed []string
		want    Result
	}{
		{[]string{"epoch 1", "0.5"}, Result{Value: 0.5}},
		{[]string{"-1e-3", "", "  \r"}, Result{Value: -1e-3}},
		{[]string{`{"value": 2, "constraints": {"memory": 3.5}}`, ""}, Result{Value: 2, Constraints: map[string]task.Reading{"memory": task.Number(3.5)}}},
		{[]string{`{"value": 1, "acc": 2, "note": "fine", "auc": NaN}`}, Result{Value: 1, Metrics: map[string]float64{"acc": 2}, Hints: []string{`the text of "note" is not stored: metrics are numbers; expected texts as {"attributes": {"note": "fine"}}`}}},
		{[]string{"{learning_rate}"}, Result{Value: 0.25}},
		{[]string{`{"value": {batch}}`}, Result{Value: 32}},
	}
	for _, c := range cases {
		command, design := helper(t, append([]string{"print"}, c.printed...)...)
		got, err := command.Evaluate(t.Context(), Trial{ID: 1, Design: design}, nil)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %v, %v; want %v", c.printed, got, err, c.want)
		}
		want := strings.NewReplacer("{learning_rate}", "0.25", "{batch}", "32").Replace(strings.Join(c.printed, "\n"))
		if kept := outputOf(t, command.dir, 1); kept != want {
			t.Errorf("%q: kept %q", c.printed, kept)
		}
	}
}

func TestEvaluateEnvironment(t *testing.T) {
	command, design := helper(t, "environment")
	command.Env = []string{"FBO_PARAM_OLD=1", "FBO_PARAMS=old", "FBO_TRIAL=1", "FBO_DATA=kept", quickExit}
	if _, err := command.Evaluate(t.Context(), Trial{ID: 12, Design: design}, nil); err != nil {
		t.Fatal(err)
	}
	got := strings.Replace(outputOf(t, command.dir, 12), "1\n", "", 1) // the value, which comes by another pipe
	want := `FBO_DATA=kept
FBO_TRIAL=12
FBO_PARAMS={"learning_rate":0.25,"batch":32,"optimizer":"adam w"}
FBO_PARAM_LEARNING_RATE=0.25
FBO_PARAM_BATCH=32
FBO_PARAM_OPTIMIZER=adam w
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEvaluateFailures(t *testing.T) {
	cases := []struct {
		args   []string
		reason []string
	}{
		{[]string{"fail", "3"}, []string{"exited with code 3", `standard error is "out of luck"`, "trial-7.log"}},
		{[]string{"crash"}, []string{"killed by a signal"}},
		{[]string{"print", "", " "}, []string{"printed nothing"}},
		{[]string{"print", "1", "done " + strings.Repeat("x", 500)}, []string{"neither a number", "done", "…"}},
		{[]string{"print", "nan"}, []string{"NaN"}},
		{[]string{"print", "-inf"}, []string{"infinite"}},
		{[]string{"long-line"}, []string{"last line of more than"}},
	}
	for _, c := range cases {
		command, design := helper(t, c.args...)
		_, err := command.Evaluate(t.Context(), Trial{ID: 7, Design: design}, nil)
		var failure *Failure
		if !errors.As(err, &failure) {
			t.Errorf("%v: got %v", c.args[0], err)
			continue
		}
		for _, part := range c.reason {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %q lacks %q", c.args[0], err, part)
			}
		}
		if failure.Trial != 7 || len(err.Error()) > 1000 {
			t.Errorf("%v: trial %d, %d bytes", c.args[0], failure.Trial, len(err.Error()))
		}
		if _, err := os.Stat(failure.Log); failure.Log != "" && err != nil {
			t.Error(err)
		}
	}
}

func TestEvaluateKeepsOnlyTheEnd(t *testing.T) {
	command, design := helper(t, "flood", "6.5")
	if got, err := command.Evaluate(t.Context(), Trial{ID: 1, Design: design}, nil); err != nil || got.Value != 6.5 {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestEvaluateStops(t *testing.T) {
	ownCause := errors.New("the limit of 1m (--timeout) was reached")
	cases := []struct {
		name, want string
		args       []string
		cause      error
		slow       bool // ends only when killed
	}{
		{"timeout", "took too long", []string{"sleep"}, context.DeadlineExceeded, false},
		{"own cause", "--timeout", []string{"sleep"}, ownCause, false},
		{"ignores the request", "took too long", []string{"sleep", "stubborn"}, context.DeadlineExceeded, true},
		{"child ignores it", "took too long", []string{"wait-for-child"}, context.DeadlineExceeded, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			command, design := helper(t, c.args...)
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := make(chan time.Time, 1)
			go func() {
				waitForOutput(t, command.dir, 3, "\n") // it has set up its signals
				stopped <- time.Now()
				cancel(c.cause)
			}()
			_, err := command.Evaluate(ctx, Trial{ID: 3, Design: design}, nil)
			took := time.Since(<-stopped)
			if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
			if took > time.Minute || c.slow && took < command.Grace {
				t.Errorf("took %v", took)
			}
			if c.args[0] == "wait-for-child" {
				checkGone(t, command, 3)
			}
		})
	}
}

// checkGone waits until the child whose number is in the trial's standard error
// has died. A dead child that nobody has waited for yet is gone as well.
func checkGone(t *testing.T, command testCommand, trial uint64) {
	t.Helper()
	waitGone(t, childOf(t, command, trial))
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 3000 {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && strings.Contains(string(state), ") Z ") || syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

func childOf(t *testing.T, command testCommand, trial uint64) int {
	t.Helper()
	text := outputOf(t, command.dir, trial)
	_, rest, _ := strings.Cut(text, "child ")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(line)
	if err != nil || pid <= 1 {
		t.Fatalf("no child in %q", text)
	}
	return pid
}

func TestEvaluateCancelledBefore(t *testing.T) {
	command, design := helper(t, "print", "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := command.Evaluate(ctx, Trial{ID: 1, Design: design}, nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "not started") {
		t.Fatalf("got %v", err)
	}
}

// A process that outlives the command and holds its standard output delays the
// result by no more than the grace.
func TestEvaluateDoesNotWaitForLeftOverChild(t *testing.T) {
	command, design := helper(t, "leave-child")
	began := time.Now()
	got, err := command.Evaluate(t.Context(), Trial{ID: 5, Design: design}, nil)
	if err != nil || got.Value != 4 {
		t.Fatalf("got %v, %v", got, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	_ = syscall.Kill(childOf(t, command, 5), syscall.SIGKILL)
}

func TestNewRejects(t *testing.T) {
	logs := t.TempDir()
	file := filepath.Join(logs, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		args []string
		logs string
		want string
	}{
		{nil, logs, "no command"},
		{[]string{"surely-no-such-command"}, logs, "not found in the directories of PATH"},
		{[]string{"./surely-no-such-command"}, logs, "there is no command"},
		{[]string{file}, logs, "not an executable file"},
		{[]string{os.Args[0], "--lr={learningrate}"}, logs, "{learningrate} is no parameter of the task (they are: learning_rate, batch, optimizer)"},
		{[]string{os.Args[0]}, "", "no directory"},
		{[]string{os.Args[0]}, file, "directory"},
	}
	for _, c := range cases {
		if _, err := New(testSpace(t), c.args, c.logs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
	}
}
