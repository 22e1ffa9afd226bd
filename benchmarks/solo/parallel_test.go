package main

import (
	"reflect"
	"strings"
	"testing"
)

// Several evaluations at a time are as many in all, repeat, and lead elsewhere than one at a time;
// with one at a time nothing changes.
func TestSeveralAtATime(t *testing.T) {
	regrets := func(method string) []float64 {
		r, err := job{Function: "branin", Method: method, Seed: 3, Evals: 13}.do(nil)
		if err != nil {
			t.Fatal(method, err)
		}
		return r.Regret
	}
	one := regrets("logei-exact")
	for method, same := range map[string]bool{
		"logei-exact+parallel=1": true, "logei-exact+asynchronous=1": true, "logei-exact+parallel=4": false, "logei-exact+asynchronous=4": false,
	} {
		got := regrets(method)
		if len(got) != 13 || !reflect.DeepEqual(got, regrets(method)) || reflect.DeepEqual(got, one) != same {
			t.Errorf("%s: regrets %v, one at a time %v", method, got, one)
		}
	}
	for method, want := range map[string]string{
		"ts-rff+parallel=0":                "parallel=0: expected whole numbers from 1",
		"ts-rff+asynchronous=x":            "asynchronous=x: expected whole numbers from 1",
		"ts-rff+parallel=2+asynchronous=2": "expected one of both",
		"botorch+asynchronous=2":           "expected no setting but parallel=N",
		"botorch+kernel=se":                "expected no setting but parallel=N",
	} {
		if _, err := (job{Function: "branin", Method: method, Seed: 3, Evals: 2}).do(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", method, err)
		}
	}
}
