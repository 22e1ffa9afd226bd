package taskref

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFindByNameOrID(t *testing.T) {
	refs := []Ref{
		{"bagaaieraaaaaaaaaaaaa1", "one"}, {"bagaaieraaaaaaaaaaaaa2", "two"},
		{"bagaaierabbbbbbbbbbbbb", "two"}, {"bagaaieracccccccccccccc", "bagaaierab"},
	}
	for wanted, want := range map[string]any{
		"bagaaieraaaaaaaaaaaaa1": refs[0],
		"one":                    refs[0],
		"two":                    ErrAmbiguous,
		"bagaaieraa":             ErrAmbiguous,
		"bagaaierabb":            refs[2],
		"bagaaierab":             refs[3], // a name precedes a prefix
		"bagaaiera":              ErrAmbiguous,
		"bagaaie":                ErrUnknown, // too short
		"three":                  ErrUnknown,
		"":                       ErrUnknown,
	} {
		got, err := Find(refs, wanted)
		if expected, fails := want.(error); fails {
			if !errors.Is(err, expected) {
				t.Errorf("%q: %v, %v; expected %v", wanted, got, err, expected)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %v, %v; expected %v", wanted, got, err, want)
		}
	}
	if _, err := Find(refs, "two"); !strings.Contains(err.Error(), "two (bagaaieraaaaaaaaaa), two (bagaaierabbbbbbbbb)") {
		t.Errorf("the candidates are missing: %v", err)
	}
}

func TestCandidatesEndAfterTen(t *testing.T) {
	var refs []Ref
	for i := range 202 {
		refs = append(refs, Ref{fmt.Sprintf("bagaaiera%012d", i), "same"})
	}
	_, err := Find(refs, "same")
	if err == nil || len(err.Error()) > 600 || !strings.Contains(err.Error(), " and 192 more") {
		t.Errorf("expected ten of 202 candidates: %v", err)
	}
}
