package task

import (
	"fmt"
	"strings"
	"testing"
)

// An error about a design lists ten of the accepted values or parameters, and counts the others.
func TestErrorsListTenEntries(t *testing.T) {
	var choices, parameters []string
	for i := range 60 {
		choices = append(choices, fmt.Sprintf("choice%d", i))
	}
	for i := range 15 {
		parameters = append(parameters, fmt.Sprintf("  - {name: p%d, type: categorical, choices: [%s]}\n", i, strings.Join(choices, ", ")))
	}
	parsed, err := Parse("task.yaml", []byte("name: many\ngoal: minimize\nparameters:\n"+strings.Join(parameters, "")), able)
	if err != nil {
		t.Fatal(err)
	}
	for design, want := range map[string]string{
		`{"p0": "other"}`:  " and 50 more",
		`{"unknown": "x"}`: " and 5 more",
	} {
		if _, err := parsed.Space.UnmarshalDesign([]byte(design)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %q", design, err, want)
		}
	}
}
