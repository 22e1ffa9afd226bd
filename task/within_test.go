package task_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// A node that can evaluate some designs alone is on the same task, chooses among these, and
// knows where peers look.
func TestWithinIsAPartOfTheSameTask(t *testing.T) {
	table := "x,c\n1,a\n3,a\n3,\"b, c\"\n"
	for name, whole := range map[string]*task.Task{
		"a list": parseListed(t, roads, table),
		"a box":  parseListed(t, strings.Split(roads, "designs:")[0], ""),
	} {
		t.Run(name, func(t *testing.T) {
			rows := [][]task.Value{{task.IntValue(3), task.ChoiceValue("b, c")}, {task.IntValue(1), task.ChoiceValue("a")}}
			part, err := whole.Space.Within(rows)
			if err != nil {
				t.Fatal(err)
			}
			own := *whole
			own.Space = part
			if own.ID() != whole.ID() || part.Whole() != whole.Space || whole.Space.Whole() != whole.Space {
				t.Errorf("%s in place of %s", own.Canonical(), whole.Canonical())
			}
			if n, ok := part.Finite(); n != 2 || !ok || part.Listing().Len() != 2 {
				t.Errorf("%d designs", n)
			}
			other, err := whole.Space.NewDesign(task.IntValue(3), task.ChoiceValue("a"))
			if err != nil {
				t.Fatal(err)
			}
			if err := part.Check(other); err == nil || !strings.Contains(err.Error(), "none of the 2 listed designs") {
				t.Errorf("a peer's design is accepted: %v", err)
			}
			if u := whole.Space.Encode(other); slices.Equal(part.Encode(part.Decode(u)), u) || !slices.Equal(part.Whole().Encode(part.Whole().Decode(u)), u) {
				t.Errorf("%v: %v in the part, %v in the whole", other, part.Decode(u), part.Whole().Decode(u))
			}
			again, err := part.Within(rows[:1])
			if err != nil || again.Whole() != whole.Space || again.Listing().Len() != 1 {
				t.Errorf("a part of a part: %v", err)
			}
		})
	}
}

func TestWithinRefuses(t *testing.T) {
	list := parseListed(t, roads, "x,c\n1,a\n3,a\n").Space
	graph := parseListed(t, roads+"  max_moves: 1\n", roadTable).Space
	here := []task.Value{task.IntValue(1), task.ChoiceValue("a")}
	for _, c := range []struct {
		space *task.Space
		rows  [][]task.Value
		want  string
	}{
		{list, nil, "0 designs"},
		{list, [][]task.Value{here, here}, "the design is that of row 1"},
		{list, [][]task.Value{here, {task.IntValue(2), task.ChoiceValue("a")}}, "none of the 2 listed designs (design 2)"},
		{list, [][]task.Value{{task.IntValue(11), task.ChoiceValue("a")}}, "0 to 9"},
		{graph, [][]task.Value{here}, "graph"},
	} {
		if _, err := c.space.Within(c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.rows, err, c.want)
		}
	}
}

// TestUnlisted: the designs of the unlisted space are all combinations that satisfy the constraints,
// and a space without a listing is its own.
func TestUnlisted(t *testing.T) {
	parameters := []task.Parameter{{Name: "x", Kind: task.Int, Low: 0, High: 9}, {Name: "c", Kind: task.Bool}}
	value := func(x int64, c bool) []task.Value { return []task.Value{task.IntValue(x), task.BoolValue(c)} }
	listed, err := task.NewListed(parameters, [][]task.Value{value(1, true), value(3, true)}, nil, "x != 5")
	if err != nil {
		t.Fatal(err)
	}
	part, err := listed.Within([][]task.Value{value(3, true)})
	if err != nil {
		t.Fatal(err)
	}
	for name, space := range map[string]*task.Space{"a list": listed, "a part": part} {
		unlisted := space.Unlisted()
		if unlisted.Listing() != nil || unlisted.Unlisted() != unlisted || unlisted.Whole() != unlisted {
			t.Errorf("%s: not a space without a listing", name)
		}
		if d, err := unlisted.NewDesign(value(7, false)...); err != nil || !slices.Equal(unlisted.Decode(unlisted.Encode(d)).Values(), value(7, false)) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
		if _, err := unlisted.NewDesign(value(5, false)...); err == nil {
			t.Errorf("%s: a design that violates the constraint is accepted", name)
		}
		if space.Listing() == nil {
			t.Errorf("%s lost its listing", name)
		}
	}
}
