package task_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

const knownText = one + "surrogate: {process: known, lengthscales: [.3], mean: -0.157, deviation: 0.767, noise: 0.1, kernel: se}\n"

func TestKnownProcess(t *testing.T) {
	got, err := parse("", []byte(knownText))
	if err != nil {
		t.Fatal(err)
	}
	want := &task.KnownProcess{Lengthscales: []float64{0.3}, Mean: -0.157, Deviation: 0.767, Noise: 0.1}
	if !reflect.DeepEqual(got.Surrogate.Known, want) {
		t.Errorf("%+v, want %+v", got.Surrogate.Known, want)
	}
	section := `"surrogate":{"basis":"quasi","category_lengthscale":1,"deviation":0.767,"features":256,"kernel":"se","lengthscale":0.1,` +
		`"lengthscales":[0.3],"mean":-0.157,"noise":0.1,"process":"known","type":"exact"}`
	if !strings.Contains(string(got.Canonical()), section) {
		t.Errorf("canonical form\n%s\nis without\n%s", got.Canonical(), section)
	}
	again, err := parse("", got.Canonical())
	if err != nil || !again.ID().Equals(got.ID()) {
		t.Errorf("the canonical form is another task: %v", err)
	}
	made, err := newTask(task.Spec{Name: "a", Goal: task.Minimize, Parameters: got.Space.Parameters(), Surrogate: task.Settings{
		"process": "known", "lengthscales": []float64{0.3}, "mean": -0.157, "deviation": 0.767, "noise": 0.1, "kernel": "se"}})
	if err != nil || !made.ID().Equals(got.ID()) {
		t.Errorf("from Go values it is another task: %v", err)
	}
}

// Each parameter has one lengthscale, however many coordinates it takes.
func TestKnownLengthscalesAreOfParameters(t *testing.T) {
	text := head + "  - {name: x, type: categorical, choices: [a, b, c]}\n  - {name: y, type: float, low: 0, high: 1}\n" +
		"surrogate: {process: known, lengthscales: [1, 0.5], mean: 0, deviation: 1, noise: 0.001}\n"
	if got, err := parse("", []byte(text)); err != nil || len(got.Surrogate.Known.Lengthscales) != 2 {
		t.Error(err)
	}
}
