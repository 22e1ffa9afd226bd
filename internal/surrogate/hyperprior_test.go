package surrogate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// goldenTask is written out in full, so that no default can move its ID.
const goldenTask = `{"fbo":1,"goal":"minimize","name":"golden","parameters":[` +
	`{"high":1,"low":0,"name":"x","scale":"linear","type":"float"},` +
	`{"high":8,"low":1,"name":"n","scale":"log","type":"int"},` +
	`{"choices":["a","b"],"name":"c","type":"categorical"}],` +
	`"strategy":{"initial_designs":5,"type":"ts"},` +
	`"surrogate":{"basis":"quasi","category_lengthscale":1.5,"features":64,"kernel":"matern52","lengthscale":0.5,"type":"exact"}}`

// Two nodes with the same task must hold the same bits: these.
func TestSharedMapIsGolden(t *testing.T) {
	want := []string{
		"0x1.c5205eb488677p-02", "0x1.81024ba9e9984p+00", "-0x1.a0a0f5c1aba54p+00",
		"0x1.abb9847dca96cp-02", "0x1.0de31ccbee115p+01", "-0x1.34f1e6960a031p-04",
	}
	for range 2 {
		golden, err := task.Parse("golden", []byte(goldenTask), []task.StrategyType{{Name: "ts"}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := SharedMap(golden)
		if err != nil {
			t.Fatal(err)
		}
		if m.Dim() != 4 || m.Features() != 64 {
			t.Fatalf("%d coordinates, %d features", m.Dim(), m.Features())
		}
		all := m.Frequencies()
		var got []string
		for _, i := range []int{0, 1, 2, 3, 4, 127} {
			got = append(got, fmt.Sprintf("%x", all[i]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("task %s: frequencies %q, want %q", golden.ID(), got, want)
		}
	}
}

func TestSharedMapBelongsToItsTask(t *testing.T) {
	one := newTask(t, "exact", 32, mixedParameters()...)
	two := newTask(t, "exact", 32, mixedParameters()...)
	two.Name = "another"
	first, err := SharedMap(one)
	if err != nil {
		t.Fatal(err)
	}
	second, err := SharedMap(two)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(first.Frequencies(), second.Frequencies()) {
		t.Error("two tasks have the same features")
	}
}

func TestNewRejects(t *testing.T) {
	for name, change := range map[string]func(*task.Surrogate){
		"type":        func(s *task.Surrogate) { s.Type = "forest" },
		"kernel":      func(s *task.Surrogate) { s.Kernel = "rbf" },
		"features":    func(s *task.Surrogate) { s.Features = 3 },
		"lengthscale": func(s *task.Surrogate) { s.Lengthscale = 0 },
	} {
		definition := newTask(t, "exact", 32, floatParameters(2)...)
		change(&definition.Surrogate)
		if _, err := New(definition); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
