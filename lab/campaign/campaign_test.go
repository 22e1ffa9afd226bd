package campaign

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var replay = flag.String("replay", "", "file with the text of a schedule, which TestReplay carries out")

// memory returns an empty directory, in memory where the system has such a place.
func memory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "campaign")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// runs carries out a schedule.
func runs(t testing.TB, s Schedule, o Options) Result {
	t.Helper()
	o.Dir = memory(t)
	result, err := Run(context.Background(), s, o)
	_ = os.RemoveAll(o.Dir)
	if err != nil {
		t.Fatalf("%v\n%v", s, err)
	}
	return result
}

// shrunk reports a failure with the smallest schedule for it.
func shrunk(t testing.TB, s Schedule, o Options) (Schedule, Result) {
	t.Helper()
	s = Shrink(context.Background(), s, func(s Schedule) bool { return runs(t, s, o).Failure != "" })
	return s, runs(t, s, o)
}

// check carries out schedules of seeds and reports the failures.
func check(t *testing.T, first, count uint64) Summary {
	t.Helper()
	var sum Summary
	for seed := first; seed < first+count; seed++ {
		s := Generate(seed)
		r := runs(t, s, Options{})
		if sum.Add(r); r.Failure != "" {
			t.Logf("seed %d, at %v: %s", seed, r.Occurred, r.Failure)
			small, again := shrunk(t, s, Options{})
			t.Errorf("seed %d shrinks to this schedule, which fails at %v: %s\n%s", seed, again.Occurred, again.Failure, small)
		}
	}
	return sum
}

// TestCampaign runs at least one seed of each kind of task.
func TestCampaign(t *testing.T) { t.Log(check(t, 1, 8)) }

// TestReplay carries out the schedule in a file and logs what happens. Without a file it does nothing.
func TestReplay(t *testing.T) {
	if *replay == "" {
		t.Skip("no -replay")
	}
	text, err := os.ReadFile(*replay)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if r := runs(t, s, Options{Log: t.Logf}); r.Failure != "" {
		t.Errorf("at %v: %s", r.Occurred, r.Failure)
	}
}

// Each broken duty of the driver is found within a few seeds, and the schedule shrinks to few faults.
func TestFindsBrokenDrivers(t *testing.T) {
	for _, test := range []struct {
		broken Break
		task   string
		kinds  []FaultKind // one of them must remain
		faults int         // maximum number of faults that remain
	}{
		{ForgetAppends, taskDefault, []FaultKind{Crash}, 1},
		{SendFirst, taskFTS, []FaultKind{Crash}, 2},
		{NeverSync, taskFTS, []FaultKind{Loss, Cut, Crash, Stop, Full}, 3},
	} {
		o := Options{Break: test.broken}
		found := false
		for seed := uint64(1); seed < 100 && !found; seed++ {
			s := Generate(seed)
			if s.Task != test.task {
				continue
			}
			if found = runs(t, s, o).Failure != ""; !found {
				continue
			}
			small, r := shrunk(t, s, o)
			t.Logf("at %v: %s\n%s", r.Occurred, r.Failure, small)
			if len(small.Faults) == 0 || len(small.Faults) > test.faults {
				t.Errorf("%d: seed %d shrinks to\n%s", test.broken, seed, small)
			}
			if !slices.ContainsFunc(small.Faults, func(f Fault) bool { return slices.Contains(test.kinds, f.Kind) }) {
				t.Errorf("%d: none of %v remains", test.broken, test.kinds)
			}
			if again, err := Parse(small.String()); err != nil || runs(t, again, o).Failure != r.Failure {
				t.Errorf("the text of the schedule is another schedule: %v\n%s", err, again)
			}
		}
		if !found {
			t.Errorf("%d is not found", test.broken)
		}
	}
}

func TestSchedulesAreText(t *testing.T) {
	for seed := range uint64(200) {
		s := Generate(seed)
		if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%v\n%s\n%s", err, s, again)
		}
	}
	for _, wrong := range []string{
		"", "campaign seed=1 task=none members=0", "campaign seed=1 task=fts members=3", "campaign seed=1 task=fts members=1,0",
		"campaign seed=1 task=fts members=0\nflood", "campaign seed=1 task=fts members=0\ncut at=now", "campaign seed=1 task=fts members=0\ncut when=1s",
	} {
		if s, err := Parse(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, s)
		}
	}
}

// A run depends on nothing but its schedule.
func TestRunsAreReproducible(t *testing.T) {
	var logs [2]strings.Builder
	for i := range logs {
		s := Generate(2)
		r := runs(t, s, Options{Log: func(format string, args ...any) { writef(&logs[i], format, args...) }})
		writef(&logs[i], "%+v", r)
	}
	if logs[0].String() != logs[1].String() {
		t.Errorf("%s\n\n%s", logs[0].String(), logs[1].String())
	}
}

func writef(to *strings.Builder, format string, args ...any) { fmt.Fprintf(to, format+"\n", args...) }
