package experiment

import (
	"os"
	"strings"
	"testing"
)

// turns plays what a build does not find in a directory, and returns how many runs that
// were and the report.
func turns(t *testing.T, dir string, p Plan, o StoreOptions) (int, Report) {
	t.Helper()
	store, err := OpenStore(dir, p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var last Progress
	if err := Run(t.Context(), p, store, Options{Progress: func(now Progress) { last = now }}); err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	return last.AllEvaluations / (p.Agents * p.Evaluations), r
}

// Two builds on one directory each make what they have not made themselves, once.
func TestBuildsTakeTurns(t *testing.T) {
	dir := t.TempDir()
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "ts,random") })
	more := tiny(t, func(p *Plan) { p.Repeats, p.Strategies = 3, specsOf(t, "ts,random,logei") })
	for i, c := range []struct {
		plan    Plan
		options StoreOptions
		made    int
		foreign []int // runs of each strategy that are of other builds
		builds  string
	}{
		{p, StoreOptions{Build: "a"}, 4, []int{0, 0}, "a"},
		{p, StoreOptions{Build: "b"}, 4, []int{0, 0}, "b"},
		{p, StoreOptions{Build: "a"}, 0, []int{0, 0}, "a"},
		{p, StoreOptions{Build: "b", OtherBuilds: true}, 0, []int{0, 0}, "b"}, // its own come first
		{more, StoreOptions{Build: "a"}, 2 + 3, []int{0, 0, 0}, "a"},
		{more, StoreOptions{Build: "b", OtherBuilds: true}, 0, []int{1, 1, 3}, "a b"},
		{p, StoreOptions{Build: "c", OtherBuilds: true}, 0, []int{2, 2}, "b"}, // the newest
		{more, StoreOptions{Build: "b"}, 2 + 3, []int{0, 0, 0}, "b"},
		{more, StoreOptions{Build: "a"}, 0, []int{0, 0, 0}, "a"},
	} {
		made, r := turns(t, dir, c.plan, c.options)
		if made != c.made || strings.Join(r.Builds, " ") != c.builds {
			t.Errorf("turn %d: %d runs made, want %d; builds %q", i, made, c.made, r.Builds)
		}
		for k, s := range r.Strategies {
			if s.OtherBuilds != c.foreign[k] {
				t.Errorf("turn %d: %s has %d runs of other builds, want %d", i, s.Strategy, s.OtherBuilds, c.foreign[k])
			}
			if s.Compared != nil && s.Compared[0].OtherBuilds != (c.foreign[0]+c.foreign[k] > 0) {
				t.Errorf("turn %d: the comparison of %s is marked %t", i, s.Strategy, s.Compared[0].OtherBuilds)
			}
		}
		if marked := len(r.Warnings) > 0; marked != (c.foreign[0]+c.foreign[1] > 0) {
			t.Errorf("turn %d: warnings %q", i, r.Warnings)
		}
	}
}

// What another build has left stays in the file, also where a run was cut off.
func TestRunsMadeAnewAreAppended(t *testing.T) {
	dir := t.TempDir()
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "random") })
	turns(t, dir, p, StoreOptions{Build: "a"})
	store, err := OpenStore(dir, p, StoreOptions{Build: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Foreign(p); got != 2 {
		t.Errorf("%d runs are of other builds", got)
	}
	store.Close()
	before, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	cutOff(t, store.Path())
	if made, _ := turns(t, dir, p, StoreOptions{Build: "b"}); made != 2 {
		t.Errorf("%d runs made anew", made)
	}
	after, err := os.ReadFile(store.Path())
	if err != nil || !strings.HasPrefix(string(after), string(before)) || strings.Count(string(after), "\n") != 1+2+2 {
		t.Errorf("%v, kept is\n%s", err, after)
	}
}
