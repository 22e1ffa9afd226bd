//go:build unix

package trained

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
)

// The bowl of a member is lowest where x is a tenth of its number, with the method a. Its
// federation's number adds nothing, but is printed.
const (
	bowlScript = `#!/bin/sh
echo "$FBO_MEMBER $FBO_FEDERATION $FBO_PARAMS" >> "$(dirname "$0")/asked"
awk -v x="$FBO_PARAM_X" -v m="$FBO_PARAM_METHOD" -v k="$FBO_MEMBER" 'BEGIN { printf "%.17g\n", (x - k/10)^2 + (m == "b") }'
`
	bowlWorker = `#!/bin/sh
echo "started $$" >> "$(dirname "$0")/asked"
while read -r line; do
  number() { echo "$line" | sed "s/.*\"$1\":\([-0-9.e]*\).*/\1/"; }
  value=$(awk -v x="$(number x)" -v k="$(number member)" 'BEGIN { printf "%.17g\n", (x - k/10)^2 }')
  echo "{\"trial\": $(number trial), \"value\": $value}"
done
echo "ended $$" >> "$(dirname "$0")/asked"
`
)

// programmed is a family of a script.
type programmed struct {
	family.Family
	*Programs
	asked string // file to which the script may write
}

// commandOf has {} in the settings replaced by the path of the script.
func commandOf(t testing.TB, ctx context.Context, task, settings, script string) programmed {
	t.Helper()
	path := written(t, "measure.sh", script)
	p := newTestPrograms(t, ctx)
	f, err := append(Kinds(), p.Kind()).Parse("command:task=" + written(t, "task.yaml", task) + "," + strings.ReplaceAll(settings, "{}", path))
	if err != nil {
		t.Fatal(err)
	}
	return programmed{f, p, filepath.Join(filepath.Dir(path), "asked")}
}

func (p programmed) draw(t testing.TB, seed uint64, agents int) family.Federation {
	t.Helper()
	f, err := p.Draw(random.SeedOf(seed), agents)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lines are what the script wrote.
func (p programmed) lines(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(p.asked)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// A member's objective is what the script prints for it, and each design is evaluated
// once for each member.
func TestCommandMeasuresForMembers(t *testing.T) {
	p := commandOf(t, t.Context(), bowlTask, "run={},search=16", bowlScript)
	f := p.draw(t, 1, 3)
	at := designs(f.Space, 4)
	for k, m := range f.Members {
		for _, d := range slices.Concat(at, at) {
			want := math.Pow(d.Float("x")-float64(k)/10, 2)
			if d.Choice("method") == "b" {
				want++
			}
			if got := m.Objective.Value(d); math.Abs(got-want) > 1e-12 {
				t.Errorf("member %d at %v: %g, want %g", k, d, got, want)
			}
		}
		if o := m.Objective; !(o.Optimum >= 0 && o.Optimum < 0.1) || !(o.Deviation > 0.1 && o.Deviation < 2) || o.Range != 0 || m.Name != "" {
			t.Errorf("member %d: %+v", k, m)
		}
	}
	seen, federations := map[string]int{}, map[string]bool{}
	for _, line := range p.lines(t) {
		seen[line]++
		federations[strings.Fields(line)[1]] = true
	}
	if most := slices.Max(slices.Collect(maps.Values(seen))); most != 1 || len(seen) > 3*(16+4) || len(federations) != 1 {
		t.Errorf("%d designs were evaluated, one of them %d times, for the federations %v", len(seen), most, federations)
	}
	if other := p.draw(t, 2, 1); other.Members[0].Objective.Optimum == f.Members[0].Objective.Optimum {
		t.Error("another federation has the same search")
	}
}

// With members=N the same members, by name, are in all federations, and are searched once.
func TestCommandDrawsFromMembers(t *testing.T) {
	p := commandOf(t, t.Context(), bowlTask, "run={},search=16,members=4", bowlScript)
	optima := map[string]float64{}
	for seed := range uint64(3) {
		for _, m := range p.draw(t, seed, 3).Members {
			if before, ok := optima[m.Name]; ok && before != m.Objective.Optimum {
				t.Errorf("member %s has the optima %g and %g", m.Name, before, m.Objective.Optimum)
			}
			optima[m.Name] = m.Objective.Optimum
		}
	}
	if lines := p.lines(t); len(lines) > 4*16 || !slices.Equal(slices.Sorted(maps.Keys(optima)), []string{"0", "1", "2", "3"}) {
		t.Errorf("%d evaluations, optima %v", len(lines), optima)
	}
	if _, err := p.Draw(random.SeedOf(1), 5); err == nil || !strings.Contains(err.Error(), "5 agents; expected 4, as in the key members") {
		t.Errorf("error %v", err)
	}
}

// A worker gets one trial after the other for all members; no more run than are allowed,
// and all have ended after Close.
func TestCommandThatStays(t *testing.T) {
	p := commandOf(t, t.Context(), bowlTask, "worker={},search=16", bowlWorker)
	f := p.draw(t, 1, 5)
	for k, m := range f.Members {
		d := designs(f.Space, 1)[0]
		if got, want := m.Objective.Value(d), math.Pow(d.Float("x")-float64(k)/10, 2); math.Abs(got-want) > 1e-12 {
			t.Errorf("member %d: %g, want %g", k, got, want)
		}
	}
	p.Close()
	count := map[string]int{}
	for _, line := range p.lines(t) {
		count[strings.Fields(line)[0]]++
	}
	if count["started"] == 0 || count["started"] > 2 || count["ended"] != count["started"] {
		t.Errorf("processes: %v", count)
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was printed is kept: %v", err)
	}
}

const limitedBowl = bowlTask + `constraints:
  - {name: size, high: 0.5}
  - {name: sound, type: bool}
`

// The optimum is that of designs that keep all constraints.
func TestCommandWithConstraints(t *testing.T) {
	p := commandOf(t, t.Context(), limitedBowl, "run={},search=64", `#!/bin/sh
awk -v x="$FBO_PARAM_X" -v m="$FBO_PARAM_METHOD" 'BEGIN { printf "{\"value\": %s, \"constraints\": {\"size\": %g, \"sound\": %s}}\n", x, -x, m == "b" ? "true" : "false" }'
`)
	if len(p.Constraints) != 2 || !p.Constraints[1].Truth {
		t.Fatalf("constraints %v", p.Constraints)
	}
	f := p.draw(t, 1, 1)
	m := f.Members[0]
	if o := m.Objective.Optimum; o < -0.5 || o > -0.4 || !(m.Objective.Range > 1.5 && m.Objective.Range <= 2) {
		t.Errorf("optimum %g, range %g", o, m.Objective.Range)
	}
	for _, d := range designs(f.Space, 5) {
		sound := 0.0
		if d.Choice("method") == "b" {
			sound = 1
		}
		if got := m.Constraints[1].Value(d); got != sound || math.Abs(m.Constraints[0].Value(d)+d.Float("x")) > 1e-5 {
			t.Errorf("at %v: %g and %g", d, m.Constraints[0].Value(d), got)
		}
	}
}

const curveScript = `#!/bin/sh
echo "$FBO_PARAMS" >> "$(dirname "$0")/asked"
awk -v x="$FBO_PARAM_X" -v k="$FBO_MEMBER" 'BEGIN {
  final = (x - k/10)^2
  for (s = 1; s <= 3; s++) printf "{\"step\": %d, \"value\": %.17g}\n", 2*s, final + 3 - s
  printf "%.17g\n", final
}'
`

// Values by step come from the evaluation that has the outcome. Without the key steps they are left out.
func TestCommandWithSteps(t *testing.T) {
	worker := strings.Replace(bowlWorker, `  echo "{\"trial\"`, `  for s in 2 4 6; do echo "{\"trial\": $(number trial), \"step\": $s, \"value\": $value}"; done
  echo "{\"trial\"`, 1)
	for settings, script := range map[string]string{"run={},search=16,steps=3": curveScript, "worker={},search=16,steps=5": worker} {
		p := commandOf(t, t.Context(), bowlTask, settings, script)
		f := p.draw(t, 1, 2)
		for k, m := range f.Members {
			d := designs(f.Space, 1)[0]
			curve, final := m.Objective.Curve(d), m.Objective.Value(d)
			if len(curve) != 3 || curve[0].Step != 2 || curve[2].Step != 6 || math.Abs(curve[2].Value-final) > 1e-12 || !strings.HasSuffix(settings, fmt.Sprint(m.Objective.Steps)) {
				t.Errorf("%s: member %d: %v and %g, of %d values", settings, k, curve, final, m.Objective.Steps)
			}
		}
		if lines := p.lines(t); script == curveScript && len(lines) > 2*17 {
			t.Errorf("%d evaluations", len(lines))
		}
	}
	f := commandOf(t, t.Context(), bowlTask, "run={},search=16", curveScript).draw(t, 1, 1)
	if f.Members[0].Objective.Curve != nil || f.Members[0].Objective.Steps != 0 {
		t.Error("values by step without the key steps")
	}
}

// What cannot be simulated ends the context with a cause that says what it was.
func TestCommandFails(t *testing.T) {
	for _, c := range []struct {
		task, settings, script string
		want                   []string
	}{
		{bowlTask, "run={}", "#!/bin/sh\necho no such data >&2\nexit 3\n",
			[]string{"family command: member ", " of federation ", ` at {"x":`, `exited with code 3; the last line of its standard error is "no such data" (see `}},
		{bowlTask, "run={},members=3", "#!/bin/sh\necho nan\n", []string{"family command: member ", ` at {"x":`, `printed "nan"`}},
		{bowlTask, "run={},timeout=0.1", "#!/bin/sh\nsleep 60\n", []string{"took too long and was stopped"}},
		{bowlTask, "worker={}", "#!/bin/sh\nread -r line\nexit 4\n", []string{"the worker exited with code 4 before it answered"}},
		{bowlTask, "run={},search=16,optimum=0.5", bowlScript, []string{"key optimum: member ", "which is better than 0.5"}},
		{limitedBowl, "run={},search=16", "#!/bin/sh\necho '{\"value\": 1, \"constraints\": {\"size\": 1, \"sound\": true}}'\n",
			[]string{"key search: none of 16 designs of member ", "keeps the constraints; accepted: a larger number, or the key optimum"}},
		{bowlTask, "run={},steps=3", bowlScript, []string{"key steps: member ", ` at {"x":`, "printed 0 values by step; expected 1 to 3"}},
		{bowlTask, "run={},steps=2", curveScript, []string{"printed 3 values by step; expected 1 to 2"}},
		{limitedBowl, "run={},search=16", "#!/bin/sh\necho 1\n", []string{"constraints"}},
	} {
		p := commandOf(t, t.Context(), c.task, c.settings, c.script)
		_, err := p.Draw(random.SeedOf(1), 2)
		if err == nil || p.Context().Err() == nil || context.Cause(p.Context()).Error() != err.Error() {
			t.Errorf("%s: error %v, cause %v", c.settings, err, context.Cause(p.Context()))
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.settings, err, want)
			}
		}
	}
}

// A failed evaluation's output is there to be read after Close.
func TestCommandKeepsWhatFailedPrinted(t *testing.T) {
	p := commandOf(t, t.Context(), bowlTask, "run={}", "#!/bin/sh\necho no such data >&2\nexit 3\n")
	if _, err := p.Draw(random.SeedOf(1), 1); err == nil {
		t.Fatal("no error")
	}
	p.Close()
	if text, err := os.ReadFile(filepath.Join(p.dir, "trials", "trial-1.log")); err != nil || string(text) != "no such data\n" {
		t.Errorf("%v: kept is %q", err, text)
	}
}

// Who stops a simulation stops what it has started, and Close waits for that.
func TestCommandIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := commandOf(t, ctx, bowlTask, "run={}", "#!/bin/sh\necho $$ >> \"$(dirname \"$0\")/asked\"\nexec sleep 60\n")
	var drawing sync.WaitGroup
	drawing.Go(func() {
		if _, err := p.Draw(random.SeedOf(1), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	for p.lines(t)[0] == "" {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	p.Close()
	drawing.Wait()
	for _, line := range p.lines(t) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d runs on", pid)
		}
	}
}

// A changed program or task is other content; another spelling of the task is not.
func TestContentOfACommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	content := func() string {
		t.Helper()
		f, err := append(Kinds(), newTestPrograms(t, t.Context()).Kind()).Parse(
			fmt.Sprintf("command:task=%s/task.yaml,run=sh %s/measure.sh", dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		return f.Content
	}
	write("task.yaml", bowlTask)
	write("measure.sh", "echo 1\n")
	first := content()
	write("task.yaml", "# a comment\n"+bowlTask)
	if again := content(); again != first || first == "" {
		t.Errorf("content %q, then %q", first, again)
	}
	write("measure.sh", "echo 2\n")
	second := content()
	write("task.yaml", strings.Replace(bowlTask, "high: 1", "high: 2", 1))
	if third := content(); second == first || third == second {
		t.Errorf("contents %q, %q, %q", first, second, third)
	}
}
