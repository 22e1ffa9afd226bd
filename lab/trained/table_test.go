package trained

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

func tableFile(t testing.TB, text string) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), "grid.csv"), text)
}

func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The task of the tables below: a float, an int of three values, and a choice.
const mixedTask = `name: mixed
goal: minimize
parameters:
  - {name: rate, type: float, low: 0.01, high: 1, scale: log}
  - {name: depth, type: int, low: 1, high: 3}
  - {name: kind, type: categorical, choices: [a, b]}
strategy: {type: consensus}
`

func taskFile(t testing.TB, text string) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), "task.yaml"), text)
}

// tableSpec names files with these contents, in a folder when there are several.
func tableSpec(t testing.TB, taskText string, tables ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range tables {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("node%d.csv", i+1)), text)
	}
	path := dir
	if len(tables) == 1 {
		path = filepath.Join(dir, "node1.csv")
	}
	return "table:task=" + taskFile(t, taskText) + ",file=" + path
}

// cube is a full grid of 3 x 2 x 2 with the ends of all ranges, of members p and q. Values
// are of p 100·(number of rate) + 10·(number of depth) + number of kind, of q the same
// less 500.
func cube() string {
	var b strings.Builder
	b.WriteString("member,note,kind,rate,depth,value\n")
	for who, member := range []string{"p", "q"} {
		for i, rate := range []string{"0.01", "0.5", "1"} {
			for j, depth := range []string{"1", "3"} {
				for k, kind := range []string{"a", "b"} {
					fmt.Fprintf(&b, "%s,x,%s,%s,%s,%d\n", member, kind, rate, depth, 100*i+10*j+k-500*who)
				}
			}
		}
	}
	return b.String()
}

func designOf(t testing.TB, space *task.Space, rate float64, depth int64, kind string) task.Design {
	t.Helper()
	d, err := space.NewDesign(task.FloatValue(rate), task.IntValue(depth), task.ChoiceValue(kind))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func named(t testing.TB, f family.Federation, name string) family.Member {
	t.Helper()
	i := slices.IndexFunc(f.Members, func(m family.Member) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no member %q among %+v", name, f.Members)
	}
	return f.Members[i]
}

// Values between the nodes are linear in the coordinates of the encoded design: in the
// logarithm of rate, and between the outer two of three depths in the middle.
func TestGridIsInterpolatedInTheEncodedCoordinates(t *testing.T) {
	f := mustDraw(t, tableSpec(t, mixedTask, cube()), 1, 2)
	p := named(t, f, "p")
	middle := math.Sqrt(0.01 * 0.5)
	for _, c := range []struct {
		rate  float64
		depth int64
		kind  string
		want  float64
	}{
		{0.01, 1, "a", 0}, {0.5, 3, "b", 111}, {1, 3, "a", 210}, {1, 1, "b", 201},
		{0.01, 2, "a", 5}, {middle, 1, "b", 51}, {middle, 2, "b", 56}, {math.Sqrt(0.5), 3, "a", 160},
	} {
		if got := p.Objective.Value(designOf(t, f.Space, c.rate, c.depth, c.kind)); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g", c, got)
		}
	}
	if q := named(t, f, "q"); p.Objective.Optimum != 0 || q.Objective.Optimum != -500 || f.Goal != task.Minimize || f.Space.Listing() != nil || p.Space != nil {
		t.Errorf("optima %g, %g, goal %s", p.Objective.Optimum, q.Objective.Optimum, f.Goal)
	}
	for _, m := range f.Members {
		if low := slices.Min(valuesAt(m.Objective, designs(f.Space, 500))); low < m.Objective.Optimum-1e-9 {
			t.Errorf("%s: optimum %g, found %g", m.Name, m.Objective.Optimum, low)
		}
	}
}

// A grid with a hole, or one that ends before the range does, is a list, which nothing
// makes a grid of; designs=listed makes a list of a grid.
func TestWhatIsNoGridIsAList(t *testing.T) {
	whole := cube()
	hole := strings.Replace(strings.Replace(whole, "p,x,b,0.5,3,111\n", "", 1), "q,x,b,0.5,3,-389\n", "", 1)
	short := strings.ReplaceAll(whole, ",1,1,", ",0.9,1,")
	short = strings.ReplaceAll(short, ",1,3,", ",0.9,3,")
	oneKind := strings.Join(slices.DeleteFunc(strings.SplitAfter(whole, "\n"), func(line string) bool { return strings.Contains(line, ",b,") }), "")
	for name, c := range map[string]struct {
		text, more, refusal string
		count               int
	}{
		"a hole":                {hole, "", "11 designs are no full grid of 3 x 2 x 2 values", 11},
		"not to the end":        {short, "", "no design has rate=1", 12},
		"not each choice":       {oneKind, "", "no design has kind=b", 6},
		"a grid that is a list": {whole, ",designs=listed", "", 12},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tableSpec(t, mixedTask, c.text)
			f := mustDraw(t, spec+c.more, 1, 2)
			l := f.Space.Listing()
			if l == nil || l.Len() != c.count || f.Members[0].Space != nil {
				t.Fatalf("the listing is %v", l)
			}
			for _, m := range f.Members {
				best := math.Inf(1)
				for i := range l.Len() {
					best = min(best, m.Objective.Value(l.Design(i)))
				}
				if best != m.Objective.Optimum {
					t.Errorf("%s: %g at best, optimum %g", m.Name, best, m.Objective.Optimum)
				}
			}
			_, err := Kinds().Parse(spec + ",designs=grid")
			if (c.refusal != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("designs=grid: %v, want %q", err, c.refusal)
			}
		})
	}
}

// history is what nodes write: rows of other states, columns of no use, a design twice.
const (
	history1 = "trial,state,value,feasible,rate,depth,kind,constraint.ms,constraint.sound,metric.x,source,peer,started,finished,reason\n" +
		"1,done,0.5,true,0.1,1,a,4,true,7,initial,,,,\n2,done,0.3,false,0.2,2,b,12,true,7,initial,,,,\n3,failed,,,0.9,2,b,,,,initial,,,,\"no, memory\"\n" +
		"4,done,0.7,true,0.1,1,a,6,true,7,own-sample,,,,\n5,running,,,0.3,2,b,,,,own-sample,,,,\n"
	history2 = "trial,state,value,feasible,rate,depth,kind,constraint.ms,constraint.sound,source,peer,started,finished,reason\n" +
		"1,done,0.9,true,0.4,3,a,10,true,initial,,,,\n2,done,0.8,false,0.02,1,b,1,False,initial,,,,\n3,done,1,true,0.1,1,a,9,true,initial,,,,\n"
)

// limitedTask has constraints, so that its strategy must take some.
var limitedTask = strings.Replace(mixedTask, "consensus", "density", 1) + "constraints: [{name: ms, high: 10}, {name: sound, type: bool}]\n"

// Files that `fbo-node history --format csv` writes are members with designs of their own.
func TestHistoriesOfNodes(t *testing.T) {
	spec := tableSpec(t, limitedTask, history1, history2)
	f, err := Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f.Floor != 0.01 || len(f.Constraints) != 2 || f.Name != spec {
		t.Errorf("%+v", f)
	}
	drawn := mustDraw(t, spec, 1, 2)
	first, second := named(t, drawn, "node1"), named(t, drawn, "node2")
	if first.Space.Listing().Len() != 2 || second.Space.Listing().Len() != 3 || first.Space.Whole() != drawn.Space || drawn.Space.Listing() != nil {
		t.Fatalf("%v, %v", first.Space.Listing(), second.Space.Listing())
	}
	twice := designOf(t, first.Space, 0.1, 1, "a")
	if v, ms := first.Objective.Value(twice), first.Constraints[0].Value(twice); math.Abs(v-0.6) > 1e-12 || ms != 5 {
		t.Errorf("the design that was measured twice has %g, %g", v, ms)
	}
	// The best that keep the constraints, and the span of all values.
	for _, c := range []struct {
		m             family.Member
		best, between float64
	}{{first, 0.6, 0.3}, {second, 0.9, 0.2}} {
		if math.Abs(c.m.Objective.Optimum-c.best) > 1e-12 || math.Abs(c.m.Objective.Range-c.between) > 1e-12 {
			t.Errorf("%s: %+v", c.m.Name, c.m.Objective)
		}
	}
	unsound := designOf(t, second.Space, 0.02, 1, "b")
	if drawn.Constraints[1].Keeps(second.Constraints[1].Value(unsound)) {
		t.Error("what is false keeps its constraint")
	}
}

func TestColumnsAndNoise(t *testing.T) {
	text := "\ufeffwho,rate,depth,kind,loss,se\nu,1,1,a,4,3\nu,0.5,1,a,2,4\nv,0.5,1,a,1,0\nv,1,1,a,0,0\n"
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"plain": text, "gzip": zipped.String()} {
		t.Run(name, func(t *testing.T) {
			spec := tableSpec(t, mixedTask, content) + ",member=who,value=loss,noise=2"
			u := named(t, mustDraw(t, spec, 1, 2), "u")
			if u.Objective.Noise != 2 || u.Objective.Optimum != 2 {
				t.Errorf("%+v", u.Objective)
			}
			u = named(t, mustDraw(t, spec+",standard_error=se", 1, 2), "u")
			if want := math.Sqrt(4 + (9+16)/2.0); math.Abs(u.Objective.Noise-want) > 1e-12 {
				t.Errorf("noise %g, want %g", u.Objective.Noise, want)
			}
		})
	}
}

// Which agent is which member depends on the seed, and none is two.
func TestMembersAreDrawnWithoutReplacement(t *testing.T) {
	spec := tableSpec(t, mixedTask, cube()+strings.ReplaceAll(strings.SplitN(cube(), "\n", 2)[1], "q,", "r,"))
	spec += ",newcomer=true"
	last := map[string]bool{}
	for seed := range uint64(20) {
		f := mustDraw(t, spec, seed, 2)
		last[f.Members[1].Name] = true
		if f.Members[0].Name == f.Members[1].Name || f.Members[0].Counts || !f.Members[1].Late {
			t.Fatalf("members %+v", f.Members)
		}
	}
	if len(last) != 3 {
		t.Errorf("the newcomer is always one of %v", last)
	}
	f, err := Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Draw(random.SeedOf(1), 4); err == nil || !strings.Contains(err.Error(), "4 agents; the table has 3 members") {
		t.Errorf("four agents: %v", err)
	}
}

// What identifies the family is what the files say, besides their paths.
func TestContentOfATableIsThatOfItsFiles(t *testing.T) {
	content := func(taskText string, tables ...string) string {
		f, err := Kinds().Parse(tableSpec(t, taskText, tables...))
		if err != nil {
			t.Fatal(err)
		}
		return f.Content
	}
	first := content(mixedTask, cube())
	if first == "" || first != content(mixedTask+"# a comment\n", cube()) {
		t.Errorf("content %q, elsewhere %q", first, content(mixedTask, cube()))
	}
	for name, other := range map[string]string{
		"another table": content(mixedTask, strings.Replace(cube(), "111", "112", 1)),
		"another task":  content(strings.Replace(mixedTask, "minimize", "maximize", 1), cube()),
	} {
		if other == first {
			t.Errorf("%s has the same content", name)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	rows := "member,rate,depth,kind,value\np,1,1,a,1\np,1,2,a,2\n"
	with := func(line string) string { return rows + line + "\n" }
	for name, c := range map[string]struct{ text, say string }{
		"nothing":          {"", "the file is empty"},
		"names only":       {"rate,depth,kind,value\n", "no row below"},
		"no column":        {strings.ReplaceAll(rows, "rate", "r"), `line 1: there is no column "rate"; the columns are member, r, depth, kind, value`},
		"a column twice":   {strings.ReplaceAll(rows, "member", "rate"), `line 1: column "rate" stands twice`},
		"ragged":           {with("p,1"), "line 4: it has 2 cells; accepted: 5, as many as line 1"},
		"no number":        {with("p,1,3,a,much"), `line 4: the value is "much"; accepted: a number`},
		"NaN":              {with("p,1,3,a,NaN"), `line 4: the value is "NaN"`},
		"no value":         {with("p,1,3,a,"), `line 4: the value is ""`},
		"outside":          {with("p,2,3,a,1"), `line 4: parameter "rate": 2 is not accepted; it takes a number from 0.01 to 1`},
		"no whole number":  {with("p,1,2.5,a,1"), `line 4: parameter "depth": 2.5 is not accepted`},
		"no such choice":   {with("p,1,3,c,1"), `line 4: parameter "kind": "c" is not accepted; it takes one of "a", "b"`},
		"nobody":           {with(",1,3,a,1"), "line 4: there is no member"},
		"lines in a cell":  {with("\"p\",1,1,a,1\n\n\"q\nq\",1,1,a,x"), `line 6: the value is "x"`},
		"one design":       {with("q,1,3,a,1"), `member "q" has results of 1 designs; accepted: 2 and more`},
		"one design twice": {with("q,1,3,a,1\nq,1,3,a,1"), `member "q" has results of 1 designs`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kinds().Parse(tableSpec(t, mixedTask, c.text))
			if err == nil || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "key file: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v does not say %q", err, c.say)
			}
		})
	}
	good := tableSpec(t, mixedTask, rows)
	limited := func(text string) string { return tableSpec(t, limitedTask, text) }
	for name, c := range map[string]struct{ spec, say string }{
		"no task":              {"table:file=x.csv", "key task is missing"},
		"no file":              {"table:task=" + taskFile(t, mixedTask), "key file is missing"},
		"nowhere":              {"table:task=/nowhere.yaml,file=x", "key task: open /nowhere.yaml"},
		"a task of another":    {strings.Replace(good, "minimize", "", 1) + ",designs=both", `key designs: value "both" is not accepted; accepted: grid, listed`},
		"a wrong task":         {tableSpec(t, "name: x\n", rows), "key task: "},
		"an empty folder":      {"table:task=" + taskFile(t, mixedTask) + ",file=" + t.TempDir(), "no files named .csv or .csv.gz"},
		"a file twice":         {good + ";" + good[strings.Index(good, "file=")+5:], "is given twice"},
		"one name":             {good + ";" + tableFile(t, rows) + ";" + tableFile(t, strings.ReplaceAll(strings.ReplaceAll(rows, "p,", ""), "member,", "")) + ";" + tableFile(t, strings.ReplaceAll(strings.ReplaceAll(rows, "p,", ""), "member,", "")), `there is another member "grid"`},
		"member as value":      {good + ",value=rate", `"rate" is a parameter of the task`},
		"no member column":     {good + ",member=who", `no column "who"`},
		"no standard error":    {good + ",standard_error=se", `no column "se"`},
		"negative error":       {tableSpec(t, mixedTask, "rate,depth,kind,value,se\n1,1,a,1,-1\n") + ",standard_error=se", "line 2: the standard error is -1; accepted: 0 and more"},
		"constraint missing":   {limited("rate,depth,kind,value,ms\n1,1,a,1,1\n"), `no column "sound"`},
		"constraint empty":     {limited("rate,depth,kind,value,ms,sound\n1,1,a,1,,true\n"), `line 2: constraint "ms" is ""; accepted: a number`},
		"constraint no truth":  {limited("rate,depth,kind,value,ms,sound\n1,1,a,1,1,1\n"), `line 2: constraint "sound" is "1"; accepted: true or false`},
		"nothing is feasible":  {limited("rate,depth,kind,value,ms,sound\n1,1,a,1,1,false\n1,2,a,1,11,true\n"), `member "node1": none of its 2 designs keeps the constraints`},
		"a limited grid":       {limited("rate,depth,kind,value,ms,sound\n1,1,a,1,1,true\n1,2,a,1,11,true\n") + ",designs=grid", "which designs keep the constraints"},
		"a broken gzip":        {tableSpec(t, mixedTask, "\x1f\x8bnot really compressed"), "gzip: invalid header"},
		"rows without results": {limited(strings.SplitAfter(history1, "\n")[0] + "5,running,,,0.3,2,b,,,,own-sample,,,,\n"), `member "node1" has results of 0 designs`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Kinds().Parse(c.spec); err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v does not say %q", err, c.say)
			}
		})
	}
}

// Whatever a file says, it is refused with one line or gives members that can be played.
func FuzzTable(f *testing.F) {
	for _, text := range []string{cube(), history1, history2, "member,rate\n", "\ufeffrate,depth,kind,value\n1,1,a,1\n0.5,1,b,-1e99\n", "\x1f\x8b"} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, constrained bool) {
		text := mixedTask
		if constrained {
			text = limitedTask
		}
		spec := tableSpec(t, text, string(data))
		parsed, err := Kinds().Parse(spec)
		if err != nil {
			return
		}
		drawn, err := parsed.Draw(random.SeedOf(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		m := drawn.Members[0]
		space := drawn.Space
		if m.Space != nil {
			space = m.Space
		}
		for _, d := range designs(space, 20) {
			if v := m.Objective.Value(d); math.IsNaN(v) || !constrained && drawn.Goal.Sign()*(v-m.Objective.Optimum) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("%v: %g, optimum %g", d, v, m.Objective.Optimum)
			}
		}
	})
}

// FBO_LANDMINE_GRID names a table of the 29 fields of the published data.
func TestLandmineData(t *testing.T) {
	path := os.Getenv("FBO_LANDMINE_GRID")
	if path == "" {
		t.Skip("FBO_LANDMINE_GRID does not name a table")
	}
	const landmine = "../../examples/landmine/task.yaml"
	f := mustDraw(t, "table:task="+landmine+",file="+path+",member=field,value=auc_decision", 1, 29)
	if f.Space.Listing() != nil {
		t.Error("the table is no grid")
	}
	for k, m := range f.Members {
		best := slices.Max(valuesAt(m.Objective, designs(f.Space, 2000)))
		t.Logf("member %d, field %s: best of the table %.4f, of 2,000 designs %.4f", k, m.Name, m.Objective.Optimum, best)
		if best > m.Objective.Optimum+1e-12 {
			t.Errorf("member %d: optimum %g, found %g", k, m.Objective.Optimum, best)
		}
	}
}
