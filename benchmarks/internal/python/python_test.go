package python

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// interpreter skips without a Python, which needs no packages here.
func interpreter(t *testing.T) string {
	t.Helper()
	name := os.Getenv("FBO_PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no Python: %v; FBO_PYTHON can name one", err)
	}
	return path
}

// A script answers requests one by one, and goes on after one that it fails at.
func TestProcessAnswers(t *testing.T) {
	p, err := Start(interpreter(t), `
import json
PACKAGES = ("json",)
total = 0
def answer(request):
    global total
    total += request["add"]
    return {"total": total, "threads": __import__("os").environ["OMP_NUM_THREADS"]}
`)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if p.Versions["json"] == "" {
		t.Errorf("versions %v", p.Versions)
	}
	var answer struct {
		Total   float64
		Threads string
	}
	for _, want := range []float64{1.5, 3} {
		seconds, err := p.Ask(map[string]float64{"add": 1.5}, &answer)
		if err != nil || answer.Total != want || answer.Threads != "1" || !(seconds >= 0) {
			t.Errorf("%+v after %g s, %v; want %g", answer, seconds, err, want)
		}
	}
	if _, err := p.Ask(map[string]float64{}, &answer); err == nil || err.Error() != "KeyError: 'add'" {
		t.Errorf("error %v", err)
	}
	if _, err := p.Ask(map[string]float64{"add": 1}, &answer); err != nil || answer.Total != 4 {
		t.Errorf("%+v, %v after an error", answer, err)
	}
}

func TestHas(t *testing.T) {
	path := interpreter(t)
	if err := Has(path, "json", "sys"); err != nil {
		t.Error(err)
	}
	if err := Has(path, "json", "no_such_module"); err == nil || !strings.Contains(err.Error(), "No module named 'no_such_module'") {
		t.Errorf("error %v", err)
	}
	if err := Has(path+"-of-nobody", "json"); err == nil || !strings.Contains(err.Error(), "-of-nobody") {
		t.Errorf("error %v", err)
	}
}
