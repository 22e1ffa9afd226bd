package task_test

import (
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func TestParsePrivacy(t *testing.T) {
	for _, c := range []struct {
		text string
		want *task.Privacy
	}{
		{"strategy: {type: fts}", nil},
		{"privacy: {}", nil},
		{"privacy: {mechanism: none}", nil},
		{"strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4}",
			&task.Privacy{Mechanism: "local", Epsilon: 4, Delta: 1e-5, Clip: 16, Releases: 10, Adjacency: "replace-one"}},
		{"surrogate: {features: 64}\nstrategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 1e-2, delta: 0.1, releases: 1000, adjacency: zero-out}",
			&task.Privacy{Mechanism: "local", Epsilon: 0.01, Delta: 0.1, Clip: 8, Releases: 1000, Adjacency: "zero-out"}},
		{"strategy: {type: fts, mode: one-shot}\nprivacy: {mechanism: local, epsilon: 100, delta: 1e-12, clip: 1e4, releases: 1}",
			&task.Privacy{Mechanism: "local", Epsilon: 100, Delta: 1e-12, Clip: 10000, Releases: 1, Adjacency: "replace-one"}},
		{"strategy: {type: density}\nprivacy: {mechanism: local, epsilon: 4, releases: 1}",
			&task.Privacy{Mechanism: "local", Epsilon: 4, Delta: 1e-5, Clip: 0.5, Releases: 1, Adjacency: "replace-one"}},
		{"strategy: {type: constrained-gp, share_every: 7}\nprivacy: {mechanism: local, epsilon: 4, clip: 0.1}",
			&task.Privacy{Mechanism: "local", Epsilon: 4, Delta: 1e-5, Clip: 0.1, Releases: 10, Adjacency: "replace-one"}},
	} {
		got, err := parse("", []byte(one+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if !reflect.DeepEqual(got.Privacy, c.want) {
			t.Errorf("%s: %s", c.text, got.Canonical())
		}
	}
}

// A mean is shorter than a draw, and so is clipped shorter.
func TestDefaultClip(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{summing("", "", 2), 8},
		{summing("share: mean", "", 2), 8},
		{summing("share: sample", "", 2), 16},
		{summing("share: sample", "clip: 3, ", 2), 3},
		{summing("", "clip: 3, ", 2), 3},
		{summing("cells: 4", "", 2), 8},
		{summing("cells: 4", "", 2) + "surrogate: {features: 100}\n", 5},
	} {
		got, err := parse("", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got.Privacy.Clip != c.want {
			t.Errorf("%s: clip %g, want %g", c.text, got.Privacy.Clip, c.want)
		}
	}
}

func TestPrivacyErrors(t *testing.T) {
	const fts = one + "strategy: {type: fts}\n"
	checkErrors(t, []errorCase{
		{one + "privacy:\n", `5:10: privacy must be a mapping (key: value), not empty; expected privacy: {epsilon: 4}`},
		{one + "privacy: {mechanism: global, epsilon: x, roster: 3, foo: 1}\n", `5:22: privacy: mechanism must be one of none, local, aggregate, not the text "global"
5:53: privacy: unknown key "foo"; accepted: mechanism, epsilon, delta, clip, releases, adjacency, roster, min_contributors, committee, max_colluding`},
		{one + "privacy: {foo: 1}\n", `5:11: privacy: unknown key "foo"; accepted: mechanism`},
		// a promise without a mechanism
		{one + "privacy: {epsilon: 4, delta: 1e-5, clip: 1, releases: 3, adjacency: zero-out}\n", `5:11: privacy: epsilon applies only with mechanism: local or aggregate
5:23: privacy: delta applies only with mechanism: local or aggregate
5:36: privacy: clip applies only with mechanism: local or aggregate
5:45: privacy: releases applies only with mechanism: local or aggregate
5:58: privacy: adjacency applies only with mechanism: local or aggregate`},
		{one + "privacy: {mechanism: none, roster: [], min_contributors: 2, committee: 2, max_colluding: 1}\n", `5:28: privacy: roster applies only with mechanism: aggregate
5:40: privacy: min_contributors applies only with mechanism: aggregate
5:61: privacy: committee applies only with mechanism: aggregate
5:75: privacy: max_colluding applies only with mechanism: aggregate`},
		// local
		{fts + "privacy: {mechanism: local}\n", `6:10: privacy: missing key "epsilon"`},
		{fts + "privacy: {mechanism: local, epsilon: 0, delta: 0, clip: 0, releases: 0, adjacency: none}\n", `6:38: privacy: epsilon 0 must be from 0.01 to 100
6:48: privacy: delta 0 must be from 1e-12 to 0.1
6:57: privacy: clip 0 must be from 0.001 to 10000
6:70: privacy: releases 0 must be a whole number from 1 to 1000
6:84: privacy: adjacency must be one of replace-one, zero-out, not the text "none"`},
		{fts + "privacy: {mechanism: local, epsilon: 101, delta: 0.2, clip: 1e5, releases: 1001, adjacency: 1}\n", `6:38: privacy: epsilon 101 must be from 0.01 to 100
6:50: privacy: delta 0.2 must be from 1e-12 to 0.1
6:61: privacy: clip 100000 must be from 0.001 to 10000
6:76: privacy: releases 1001 must be a whole number from 1 to 1000
6:93: privacy: adjacency must be one of replace-one, zero-out, not the number 1`},
		{fts + "privacy: {mechanism: local, epsilon: .inf, foo: 1}\n", `6:38: privacy: epsilon must be a finite number, not .inf
6:44: privacy: unknown key "foo"; accepted: mechanism, epsilon, delta, clip, releases, adjacency`},
		{fts + "privacy: {mechanism: local, epsilon: 4, roster: [], min_contributors: 2, committee: 2, max_colluding: 1}\n", `6:41: privacy: roster applies only with mechanism: aggregate
6:53: privacy: min_contributors applies only with mechanism: aggregate
6:74: privacy: committee applies only with mechanism: aggregate
6:88: privacy: max_colluding applies only with mechanism: aggregate`},
		{one + "privacy: {mechanism: local, epsilon: 4}\n", `5:22: privacy: mechanism local applies only with strategy type fts or constrained-gp or density: noise is added to weights and designs, and strategy peer-prior shares something else or nothing at all`},
		{one + "strategy: {type: ts}\nprivacy: {mechanism: local, epsilon: 4}\n", `6:22: privacy: mechanism local applies only with strategy type fts or constrained-gp or density: noise is added to weights and designs, and strategy ts shares something else or nothing at all`},
		{one + "strategy: {type: density, components: 2}\nprivacy: {mechanism: local, epsilon: 4}\n", `6:22: privacy: mechanism local with strategy type density needs components: 1: other shares have no noise with a guarantee`},
		{one + "strategy: {type: density, share: coarse}\nprivacy: {mechanism: local, epsilon: 4}\n", `6:22: privacy: mechanism local with strategy type density needs share: best: other shares have no noise with a guarantee`},
		{one + "strategy: {type: constrained-gp, threshold: open}\nprivacy: {mechanism: local, epsilon: 4}\n", `6:22: privacy: mechanism local with strategy type constrained-gp needs threshold: none: other shares have no noise with a guarantee`},
		{one + "failures: constraint\nstrategy: {type: constrained-gp, share: feasibility}\nprivacy: {mechanism: local, epsilon: 4}\n", `7:22: privacy: mechanism local with strategy type constrained-gp needs share: best: other shares have no noise with a guarantee`},
		{one + "strategy: {type: density}\nprivacy: {mechanism: local, epsilon: 4, clip: 0.75}\n", `6:47: privacy: clip 0.75 must be from 0.001 to 0.5`},
		{one + "strategy: {type: density, share: coarse, share_every: 2}\n", `5:42: strategy: share_every applies only with share: best`},
		{one + "strategy: {type: constrained-gp, share_every: 0}\n", `5:47: strategy: share_every 0 must be a whole number from 1 to 10000`},
		{one + "strategy: {type: fts, mode: one-shot}\nprivacy: {mechanism: local, epsilon: 4}\n", `6:10: privacy: releases must be 1 with mode: one-shot, in which a node shares once`},
		{one + "strategy: {type: fts, mode: one-shot}\nprivacy: {mechanism: local, epsilon: 4, releases: 2}\n", `6:51: privacy: releases must be 1 with mode: one-shot, in which a node shares once`},
		{one + "strategy: {type: dts}\nprivacy: {mechanism: local, epsilon: 4}\n", `5:18: strategy: type must be one of @types, not the text "dts"`},
	})
}

// Who wants distributed exploration without private sums has made one mistake,
// however many keys of theirs are there.
func TestStrategyAndMechanismGoTogether(t *testing.T) {
	const ftsde = one + "strategy: {type: fts-de}\n"
	const aggregate = "privacy: {mechanism: aggregate, epsilon: 4, roster: [@1, @2]}\n"
	needs := "privacy: strategy type fts-de shares sums alone: it needs mechanism: aggregate (with epsilon and roster), not "
	sums := "privacy: mechanism aggregate applies only with strategy type fts-de, which shares sums alone; with strategy "
	cases := []errorCase{
		{ftsde, `1:1: ` + needs + `none`},
		{ftsde + "privacy: {}\n", `6:10: ` + needs + `none`},
		{ftsde + "privacy: {mechanism: none}\n", `6:22: ` + needs + `none`},
		{ftsde + "privacy: {epsilon: 4, roster: [@1, @2]}\n", `6:10: ` + needs + `none`},
		{ftsde + "privacy: {mechanism: local, epsilon: 4}\n", `6:22: ` + needs + `local`},
		{ftsde + "privacy: {mechanism: local, epsilon: 4, roster: [@1, @2], committee: 2}\n", `6:22: ` + needs + `local`},
		{ftsde + "privacy: {mechanism: sum, epsilon: 4, roster: [@1, @2]}\n", `6:22: privacy: mechanism must be one of none, local, aggregate, not the text "sum"`},
		{ftsde + "privacy: {epsilon: 4, rooster: [@1, @2]}\n", `6:10: ` + needs + `none
6:23: privacy: unknown key "rooster"; accepted: mechanism, epsilon, delta, clip, releases, adjacency, roster, min_contributors, committee, max_colluding`},
		{one + aggregate, `5:22: ` + sums + `peer-prior nothing is summed`},
		{one + "strategy: {type: fts-d}\n" + aggregate, `5:18: strategy: type must be one of @types, not the text "fts-d"`},
	}
	for _, r := range all.Strategies() {
		if r.Mechanism != "aggregate" {
			keys := ""
			if r.Roster {
				keys = ", roster: [@1, @2]"
			}
			cases = append(cases, errorCase{one + "strategy: {type: " + r.Name + keys + "}\n" + aggregate, `6:22: ` + sums + r.Name + ` nothing is summed`})
		}
	}
	checkErrors(t, cases)
}
