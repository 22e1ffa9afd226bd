package task_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

const fixedText = one + "surrogate: {hyperparameters: fixed, lengthscales: [.3], mean: -0.157, signal_std: 0.767, noise_std: 0.1, kernel: se}\n"

func TestFixedHyperparameters(t *testing.T) {
	got, err := parse("", []byte(fixedText))
	if err != nil {
		t.Fatal(err)
	}
	want := &task.FixedHyperparameters{Lengthscales: []float64{0.3}, Mean: -0.157, SignalStd: 0.767, NoiseStd: 0.1}
	if !reflect.DeepEqual(got.Surrogate.Fixed, want) {
		t.Errorf("%+v, want %+v", got.Surrogate.Fixed, want)
	}
	section := `"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"hyperparameters":"fixed","kernel":"se","lengthscale":0.1,` +
		`"lengthscales":[0.3],"mean":-0.157,"noise_std":0.1,"signal_std":0.767,"type":"exact"}`
	if !strings.Contains(string(got.Canonical()), section) {
		t.Errorf("canonical form\n%s\nis without\n%s", got.Canonical(), section)
	}
	again, err := parse("", got.Canonical())
	if err != nil || !again.ID().Equals(got.ID()) {
		t.Errorf("the canonical form is another task: %v", err)
	}
	made, err := newTask(task.Spec{Name: "a", Goal: task.Minimize, Parameters: got.Space.Parameters(), Surrogate: task.Settings{
		"hyperparameters": "fixed", "lengthscales": []float64{0.3}, "mean": -0.157, "signal_std": 0.767, "noise_std": 0.1, "kernel": "se"}})
	if err != nil || !made.ID().Equals(got.ID()) {
		t.Errorf("from Go values it is another task: %v", err)
	}
}

// Each parameter has one lengthscale, however many coordinates it takes.
func TestFixedLengthscalesAreOfParameters(t *testing.T) {
	text := head + "  - {name: x, type: categorical, choices: [a, b, c]}\n  - {name: y, type: float, low: 0, high: 1}\n" +
		"surrogate: {hyperparameters: fixed, lengthscales: [1, 0.5], mean: 0, signal_std: 1, noise_std: 0.001}\n"
	if got, err := parse("", []byte(text)); err != nil || len(got.Surrogate.Fixed.Lengthscales) != 2 {
		t.Error(err)
	}
}
