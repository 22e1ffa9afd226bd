package fair

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// names are those of so many parties, in order.
func names(n int) (ids []string) {
	for _, key := range keysOf(n) {
		ids = append(ids, idOf(key).String())
	}
	return ids
}

// parse reads a task file with these keys of the strategy, in which @1 stands for the first
// party and so on.
func parse(keys string) (*task.Task, error) {
	for i, name := range names(9) {
		keys = strings.ReplaceAll(keys, "@"+string(rune('1'+i)), name)
	}
	return strategy.Set{Register()}.Parse("", []byte(`name: fair
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
strategy: {type: fair`+keys+"}\n"))
}

func TestParseFairSettings(t *testing.T) {
	var ids []peer.ID
	for _, key := range keysOf(9)[:3] {
		ids = append(ids, idOf(key))
	}
	for keys, change := range map[string]func(*Settings){
		", roster: [@1, @2, @3]":                                            func(*Settings) {},
		", roster: [@3, @1, @2]":                                            func(*Settings) {},
		", roster: [@1, @2]":                                                func(c *Settings) { c.Roster = ids[:2] },
		", roster: [@1, @2, @3], mediator: @2":                              func(c *Settings) { c.Mediator = ids[1] },
		", roster: [@1, @2, @3], batch: fair":                               func(*Settings) {},
		", roster: [@1, @2, @3], batch: ifu":                                func(c *Settings) { c.Batch = "ifu" },
		", roster: [@1, @2, @3], batch: two-step":                           func(c *Settings) { c.Batch, c.Rho = "two-step", 1 },
		", roster: [@1, @2, @3], rho: 0.001":                                func(c *Settings) { c.Rho = 0.001 },
		", roster: [@1, @2, @3], rho: 1":                                    func(c *Settings) { c.Rho = 1 },
		", roster: [@1, @2, @3], weights: linear":                           func(c *Settings) { c.Weights, c.Rho = "linear", 2 },
		", roster: [@1, @2, @3], weights: linear, rho: 1e6":                 func(c *Settings) { c.Weights, c.Rho = "linear", 1e6 },
		", roster: [@1, @2, @3], exploration: fixed":                        func(c *Settings) { c.Exploration = "fixed" },
		", roster: [@1, @2, @3], exploration: varying":                      func(*Settings) {},
		", roster: [@1, @2, @3], c1: 0, c2: 1e-6":                           func(c *Settings) { c.C1, c.C2 = 0, 1e-6 },
		", roster: [@1, @2, @3], c1: 1e6, c2: 1e6":                          func(c *Settings) { c.C1, c.C2 = 1e6, 1e6 },
		", roster: [@1, @2, @3], round_timeout: 1":                          func(c *Settings) { c.RoundTimeout = 1 },
		", roster: [@1, @2, @3], round_timeout: 604800, initial_designs: 3": func(c *Settings) { c.RoundTimeout = 604800 },
	} {
		want := Settings{Roster: ids, Batch: "fair", Weights: "exponential", Rho: 0.8, Exploration: "varying", C1: 0.1, C2: 5, RoundTimeout: 300}
		change(&want)
		parsed, err := parse(keys)
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if got := settingsOf(parsed); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", keys, got, want)
		}
		again, err := strategy.Set{Register()}.ParseCanonical("", parsed.Canonical())
		if err != nil || !again.ID().Equals(parsed.ID()) || !reflect.DeepEqual(settingsOf(again), want) {
			t.Errorf("%s: the canonical form %s: %v", keys, parsed.Canonical(), err)
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	const roster = ", roster: [@1, @2, @3]"
	for keys, want := range map[string]string{
		"":                         `task:4:11: strategy: missing key "roster"`,
		", roster: [@1]":           "task:4:32: strategy: roster must name 2 to 64 nodes, not 1",
		", roster: [@1, @1]":       "task:4:87: strategy: roster: entry 2 repeats entry 1, @1",
		", roster: [@1, alice]":    "task:4:87: strategy: roster: entry 2 must be a peer ID, as `fbo-node peer-id` prints it, not the text \"alice\"",
		roster + ", mediator: @4":  "task:4:206: strategy: mediator @4 must be one of the 3 nodes of the roster",
		roster + ", mediator: bob": "task:4:206: strategy: mediator must be a peer ID, as `fbo-node peer-id` prints it, not the text \"bob\"",
		roster + ", batch: best":   `task:4:203: strategy: batch must be one of fair, ifu, two-step, not the text "best"`,
		roster + ", batch: best, rho: 7, weights: heavy": `task:4:203: strategy: batch must be one of fair, ifu, two-step, not the text "best"`,
		roster + ", batch: two-step, rho: 0.5":           "task:4:213: strategy: rho applies only with batch: fair or ifu",
		roster + ", batch: two-step, weights: linear":    "task:4:213: strategy: weights applies only with batch: fair or ifu",
		roster + ", weights: quadratic":                  `task:4:205: strategy: weights must be one of exponential, linear, not the text "quadratic"`,
		roster + ", weights: quadratic, rho: -1":         `task:4:205: strategy: weights must be one of exponential, linear, not the text "quadratic"`,
		roster + ", rho: 1.5":                            "task:4:201: strategy: rho 1.5 must be from 0.001 to 1",
		roster + ", rho: 0":                              "task:4:201: strategy: rho 0 must be from 0.001 to 1",
		roster + ", weights: linear, rho: 0":             "task:4:218: strategy: rho 0 must be from 0.001 to 1000000",
		roster + ", weights: linear, rho: 2e6":           "task:4:218: strategy: rho 2000000 must be from 0.001 to 1000000",
		roster + ", exploration: none":                   `task:4:209: strategy: exploration must be one of varying, fixed, not the text "none"`,
		roster + ", c1: -1, c2: 0": `task:4:200: strategy: c1 -1 must be from 0 to 1000000
task:4:208: strategy: c2 0 must be from 0.000001 to 1000000`,
		roster + ", c1: 2e6, c2: 2e6": `task:4:200: strategy: c1 2000000 must be from 0 to 1000000
task:4:209: strategy: c2 2000000 must be from 0.000001 to 1000000`,
		roster + ", round_timeout: 0":      "task:4:211: strategy: round_timeout 0 must be a whole number from 1 to 604800",
		roster + ", round_timeout: 1.5":    "task:4:211: strategy: round_timeout 1.5 must be a whole number from 1 to 604800",
		roster + ", round_timeout: 604801": "task:4:211: strategy: round_timeout 604801 must be a whole number from 1 to 604800",
		roster + ", rounds: 3":             `task:4:196: strategy: unknown key "rounds"; accepted: type, roster, mediator, batch, weights, rho, exploration, c1, c2, round_timeout, initial_designs`,
	} {
		_, err := parse(keys)
		if err == nil {
			t.Errorf("%s: no error", keys)
			continue
		}
		got := err.Error()
		for i, name := range names(9) {
			got = strings.ReplaceAll(got, name, "@"+string(rune('1'+i)))
		}
		if got != want {
			t.Errorf("%q: got %q", keys, got)
		}
	}
	if _, err := parse(", roster: [" + strings.Join(names(65), ", ") + "]"); err == nil || !strings.Contains(err.Error(), "2 to 64 nodes, not 65") {
		t.Errorf("65 parties: %v", err)
	}
}

// What changes the choice of designs changes the task; the order in which a roster is
// written, and what is said though it is so anyway, do not.
func TestSettingsAndIDs(t *testing.T) {
	id := func(keys string) string {
		parsed, err := parse(keys)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.ID().String()
	}
	const roster = ", roster: [@1, @2, @3]"
	plain := id(roster)
	for _, same := range []string{
		", roster: [@2, @3, @1]",
		roster + ", batch: fair, weights: exponential, rho: 0.8, exploration: varying, c1: 0.1, c2: 5, round_timeout: 300",
	} {
		if id(same) != plain {
			t.Errorf("%s has another ID than without", same)
		}
	}
	seen := []string{plain}
	for _, other := range []string{
		", roster: [@1, @2]", ", roster: [@1, @2, @4]",
		", mediator: @1", ", mediator: @2", ", batch: ifu", ", batch: two-step", ", weights: linear", ", rho: 0.7", ", weights: linear, rho: 3",
		", exploration: fixed", ", c1: 0.2", ", c2: 4", ", round_timeout: 299",
	} {
		if !strings.Contains(other, "roster") {
			other = roster + other
		}
		if slices.Contains(seen, id(other)) {
			t.Errorf("%s has the ID of another task", other)
		}
		seen = append(seen, id(other))
	}
	if id(roster+", weights: linear, rho: 2") != id(roster+", weights: linear") {
		t.Error("linear weights with their default have another ID than without")
	}
}

func TestRegistrationTexts(t *testing.T) {
	const roster = ", roster: [@1, @2, @3]"
	for keys, want := range map[string][2]string{
		roster: {
			"in each round a batch with a design for each of 3 parties, chosen by one of them in turn, the others checking: who has gained least being served first, weights exponential with rho 0.8, exploration varying; a round waits up to 300 seconds for late results",
			"Every one of the 3 parties sees all designs and raw results of every party, this node's among them.",
		},
		", roster: [@1, @2], rho: 1, round_timeout: 1": {
			"in each round a batch with a design for each of 2 parties, chosen by one of them in turn, the others checking: the largest sum for all, with no regard to who has gained least, weights exponential with rho 1, exploration varying; a round waits up to 1 second for late results",
			"Every one of the 2 parties sees all designs and raw results of every party, this node's among them.",
		},
		roster + ", mediator: @2, batch: ifu, c1: 1": {
			"in each round a batch with a design for each of 3 parties, chosen by the mediator @2: the order of the gains deciding who gets the best, weights exponential with rho 0.8, exploration varying; a round waits up to 300 seconds for late results",
			"The mediator @2 sees all designs and raw results of this node; the other parties see neither, but learn by how much they have got more or less than the average party.",
		},
		roster + ", batch: two-step, exploration: fixed": {
			"in each round a batch with a design for each of 3 parties, chosen by one of them in turn, the others checking: the largest sum, dealt out so that who has gained least gets the best, exploration fixed; a round waits up to 300 seconds for late results",
			"Every one of the 3 parties sees all designs and raw results of every party, this node's among them.",
		},
		roster + ", weights: linear, rho: 1, round_timeout: 60": {
			"in each round a batch with a design for each of 3 parties, chosen by one of them in turn, the others checking: who has gained least being served first, weights linear with rho 1, exploration varying; a round waits up to 60 seconds for late results",
			"Every one of the 3 parties sees all designs and raw results of every party, this node's among them.",
		},
	} {
		parsed, err := parse(keys)
		if err != nil {
			t.Fatal(err)
		}
		r := Register()
		for i, got := range []string{r.Summary(parsed), r.Disclosure(parsed).Reveals(parsed)} {
			got = strings.ReplaceAll(got, names(9)[1], "@2")
			if got != want[i] {
				t.Errorf("%q: %q", keys, got)
			}
		}
		if why := r.Disclosure(parsed).Outdated(parsed); !strings.Contains(why, "parties that are there") {
			t.Errorf("outdated: %q", why)
		}
		if !r.Roster {
			t.Error("the roster is not announced")
		}
	}
}
