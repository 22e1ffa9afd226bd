package main

import (
	"os"
	"strings"
	"testing"
)

func TestWithoutPython(t *testing.T) {
	var out strings.Builder
	if err := compare(&out, "there-is-no-such-python", 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Python with NumPy is not here: skipped", "batch of 10000", "rff.Function.Value"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestWithPython(t *testing.T) {
	python := os.Getenv("FBO_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := importNumPy(python); err != nil {
		t.Skipf("%v; FBO_PYTHON may name a Python with NumPy", err)
	}
	var out strings.Builder
	if err := compare(&out, python, 1); err != nil {
		t.Fatal(err)
	}
	if count := strings.Count(out.String(), "times as fast\n"); count != 4 {
		t.Errorf("%d comparisons in\n%s", count, out.String())
	}
}

func TestValuesThatDifferAreRefused(t *testing.T) {
	s, err := newSetting()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, checks)
	for i := range values {
		values[i] = s.function.Value(s.points[i])
	}
	if err := s.agrees(values); err != nil {
		t.Errorf("own values: %v", err)
	}
	values[checks-1] += 1e-6
	if s.agrees(values) == nil {
		t.Error("a wrong value is accepted")
	}
	if s.agrees(values[:1]) == nil {
		t.Error("a single value is accepted")
	}
}
