package task

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const formerHead = "name: a\ngoal: minimize\nparameters:\n"

func continuing(t testing.TB, former *Task, rest string) *Task {
	t.Helper()
	parsed, err := Parse("now.yaml", []byte(formerHead+rest+"\ncontinues: "+former.ID().String()+"\n"), able)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func continued(t testing.TB, former, now string) *Continuation {
	t.Helper()
	was, err := Parse("was.yaml", []byte(formerHead+former), able)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Continue(was, continuing(t, was, now))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContinuedDesigns(t *testing.T) {
	const (
		x  = "  - {name: x, type: float, low: 0, high: 1}\n"
		k  = "  - {name: k, type: int, low: 1, high: 9}\n"
		op = "  - {name: op, type: categorical, choices: [a, b, c]}\n"
	)
	for _, c := range []struct{ name, former, now, design, want, changes string }{
		{"same", x + k, x + k, `{"x":0.5,"k":3}`, `{"x":0.5,"k":3}`, ""},
		{"another order", x + k, k + x, `{"x":0.5,"k":3}`, `{"k":3,"x":0.5}`, "order of the parameters changed"},
		{"wider", x, "  - {name: x, type: float, low: -1, high: 2}\n", `{"x":0.5}`, `{"x":0.5}`, "x: bounds widened to -1 … 2, before 0 … 1"},
		{"narrower, inside", x, "  - {name: x, type: float, low: 0, high: 0.5}\n", `{"x":0.5}`, `{"x":0.5}`, "x: bounds narrowed to 0 … 0.5, before 0 … 1"},
		{"narrower, outside", x, "  - {name: x, type: float, low: 0, high: 0.4}\n", `{"x":0.5}`, "x is outside of its new values", "x: bounds narrowed to 0 … 0.4, before 0 … 1"},
		{"moved", x, "  - {name: x, type: float, low: 0.1, high: 1.1}\n", `{"x":0.5}`, `{"x":0.5}`, "x: bounds moved to 0.1 … 1.1, before 0 … 1"},
		{"log scale", "  - {name: x, type: float, low: 0.1, high: 1}\n", "  - {name: x, type: float, low: 0.1, high: 1, scale: log}\n", `{"x":0.5}`, `{"x":0.5}`, "x: scale log, before linear"},
		{"steps, on one", x, "  - {name: x, type: float, low: 0, high: 1, step: 0.1}\n", `{"x":0.3}`, `{"x":0.3}`, "x: step 0.1, before none"},
		{"steps, between", x, "  - {name: x, type: float, low: 0, high: 1, step: 0.1}\n", `{"x":0.35}`, "x is outside of its new values", "x: step 0.1, before none"},
		{"int to float", k, "  - {name: k, type: float, low: 1, high: 9}\n", `{"k":3}`, `{"k":3}`, "k: type float, before int"},
		{"float to int", "  - {name: k, type: float, low: 1, high: 9}\n", k, `{"k":3}`, `{"k":3}`, ""},
		{"float to int, between", "  - {name: k, type: float, low: 1, high: 9}\n", k, `{"k":3.5}`, "k is outside of its new values", ""},
		{"choice added", op, "  - {name: op, type: categorical, choices: [d, a, b, c]}\n", `{"op":"b"}`, `{"op":"b"}`, `op: choices added: "d"`},
		{"choice removed", op, "  - {name: op, type: categorical, choices: [a, c]}\n", `{"op":"b"}`, "op is outside of its new values", `op: choices removed: "b"`},
		{"added", x, x + k, `{"x":0.5}`, "k had no value", "k added; former designs have no value of it"},
		{"added with a value", x, x + "  - {name: k, value: 4}\n", `{"x":0.5}`, `{"x":0.5,"k":4}`, "k added; former designs get 4"},
		{"added, inactive", x + op, x + op + "  - {name: k, type: int, low: 1, high: 9, when: {op: b}}\n", `{"x":0.5,"op":"a"}`, `{"x":0.5,"op":"a"}`, "k added; former designs have no value of it"},
		{"added, active", x + op, x + op + "  - {name: k, type: int, low: 1, high: 9, when: {op: b}}\n", `{"x":0.5,"op":"b"}`, "k had no value", "k added; former designs have no value of it"},
		{"value becomes a range", x + "  - {name: k, value: 4}\n", x + k, `{"x":0.5,"k":4}`, `{"x":0.5,"k":4}`, "k: takes a whole number from 1 to 9, before only 4"},
		{"range becomes a value", x + k, x + "  - {name: k, value: 4}\n", `{"x":0.5,"k":4}`, `{"x":0.5,"k":4}`, "k: takes only 4, before a whole number from 1 to 9"},
		{"range becomes another value", x + k, x + "  - {name: k, value: 4}\n", `{"x":0.5,"k":5}`, "k is outside of its new values", "k: takes only 4, before a whole number from 1 to 9"},
		{"removed", x + k, x, `{"x":0.5,"k":5}`, "k was removed", "k removed; former designs with a value of it are dropped"},
		{"value removed", x + "  - {name: k, value: 4}\n", x, `{"x":0.5,"k":4}`, `{"x":0.5}`, "k removed; it had a single value"},
		{"condition added", x + op, "  - {name: x, type: float, low: 0, high: 1, when: {op: a}}\n" + op, `{"x":0.5,"op":"b"}`, `{"op":"b"}`, "x: conditions changed"},
		{"condition removed", "  - {name: x, type: float, low: 0, high: 1, when: {op: a}}\n" + op, x + op, `{"op":"b"}`, "x had no value", "x: conditions changed"},
		{"parameter constraint", x + k, x + k + `parameter_constraints: ["x * k <= 1"]` + "\n", `{"x":0.5,"k":3}`, `parameter constraint "x * k <= 1" is violated`, "parameter_constraints changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := continued(t, c.former, c.now)
			d, err := m.Former().Space.UnmarshalDesign([]byte(c.design))
			if err != nil {
				t.Fatal(err)
			}
			got, dropped := m.Design(d)
			if dropped == "" {
				dropped = got.Key()
			}
			if dropped != c.want {
				t.Errorf("got %s, want %s", dropped, c.want)
			}
			if changes := strings.Join(m.Changes(), "; "); c.changes != "" && changes != c.changes || c.name == "same" && changes != "" {
				t.Errorf("changes: %s, want %s", changes, c.changes)
			}
		})
	}
}

// A task cannot continue itself, and no two tasks continue each other: an ID is a hash of the file
// that has the key. What remains is a former file that is another one.
func TestContinueRefuses(t *testing.T) {
	former, err := Parse("was.yaml", []byte(formerHead+"  - {name: x, type: float, low: 0, high: 1}\n"), able)
	if err != nil {
		t.Fatal(err)
	}
	now := continuing(t, former, "  - {name: x, type: float, low: 0, high: 2}\n")
	tampered := *former
	tampered.Goal = Maximize
	reversed, err := Parse("now.yaml", []byte(strings.Replace(string(now.Canonical()), "minimize", "maximize", 1)), able)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		former, now *Task
		want        string
	}{
		"no former":  {former, former, "continues no other task"},
		"itself":     {now, now, "expected " + former.ID().String()},
		"foreign":    {continuing(t, now, "  - {name: x, type: float, low: 0, high: 2}\n"), now, "expected " + former.ID().String()},
		"tampered":   {&tampered, now, "expected " + former.ID().String()},
		"other goal": {former, reversed, "the goal is maximize and was minimize"},
	} {
		if _, err := Continue(c.former, c.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, id := range []string{"x", "''", "3", "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"} {
		_, err := Parse("now.yaml", []byte(formerHead+"  - {name: x, type: float, low: 0, high: 1}\ncontinues: "+id+"\n"), able)
		if err == nil || !strings.Contains(err.Error(), "continues must be") {
			t.Errorf("continues: %s: %v", id, err)
		}
	}
	if again, err := Parse("now.yaml", now.Canonical(), able); err != nil || again.ID() != now.ID() {
		t.Errorf("the canonical form has another ID: %v", err)
	}
	spec, err := New(Spec{Name: "a", Goal: Minimize, Parameters: now.Space.Parameters(), Continues: former.ID()}, able)
	if err != nil || spec.ID() != now.ID() {
		t.Errorf("New: %v", err)
	}
}

// A mapped design is one of the new space, and equal in the parameters of both.
func TestContinuedDesignsAreValidAndEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was, now := &Task{Name: "a", Goal: Minimize, Space: drawSpace(t)}, &Task{Name: "a", Goal: Minimize, Space: drawSpace(t)}
		if rapid.Bool().Draw(t, "same") {
			now.Space = was.Space
		}
		now.Continues = was.ID()
		c, err := Continue(was, now)
		if err != nil {
			t.Fatal(err)
		}
		c.Changes()
		d := was.Space.Decode(drawPoint(t, was.Space))
		to, dropped := c.Design(d)
		if dropped == "" {
			checkContinued(t, now.Space, d, to)
		} else if now.Space == was.Space {
			t.Fatalf("%v is dropped in the same space: %s", d, dropped)
		}
		near, stretch, missed := c.Place(d, 0.3)
		if missed != "" {
			if dropped == "" {
				t.Fatalf("%v has a design and no place: %s", d, missed)
			}
			return
		}
		if err := now.Space.Check(near); err != nil || !(stretch >= 1) || math.IsInf(stretch, 0) {
			t.Fatalf("place %v, stretch %v: %v", near, stretch, err)
		}
		if dropped == "" && !near.Equal(to) {
			t.Fatalf("place %v of a design %v", near, to)
		}
	})
}

func checkContinued(t *rapid.T, space *Space, from, to Design) {
	if err := space.Check(to); err != nil {
		t.Fatal(err)
	}
	for i, v := range to.values {
		at := slices.IndexFunc(from.space.parameters, func(p Parameter) bool { return p.Name == space.parameters[i].Name })
		if at < 0 || v == (Value{}) || from.values[at] == (Value{}) {
			continue
		}
		was := from.values[at]
		same := was == v
		if number := func(v Value) bool { return v.kind == Float || v.kind == Int }; number(was) && number(v) {
			same = math.Abs(was.size()-v.size()) <= 1e-7*math.Max(1, math.Abs(v.size())) || space.blocks[i].Kind == Int
		}
		if !same {
			t.Fatalf("%s: %v became %v", space.parameters[i].Name, was, v)
		}
	}
}

func TestPlacesAreMoved(t *testing.T) {
	c := continued(t, "  - {name: x, type: float, low: 0, high: 10}\n", "  - {name: x, type: float, low: 0, high: 5}\n")
	for _, one := range []struct {
		x, want float64
		dropped bool
	}{{3, 3, false}, {6, 5, false}, {9, 0, true}} {
		d, err := c.Former().Space.NewDesign(FloatValue(one.x))
		if err != nil {
			t.Fatal(err)
		}
		to, stretch, dropped := c.Place(d, 0.2)
		if (dropped != "") != one.dropped || dropped == "" && (to.Float("x") != one.want || stretch != 2) {
			t.Errorf("%v: %v, stretch %v, dropped %q", one.x, to, stretch, dropped)
		}
	}
}
