package task_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// errorCase is a wrong file and all that is said of it. In both @1, @2 and so on
// stand for IDs of nodes.
type errorCase struct{ text, want string }

// The exact text matters: it is what a user sees.
func checkErrors(t *testing.T, cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		text := withIDs(c.text)
		parsed, err := parse("task.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q is accepted: %s", text, parsed.Canonical())
			continue
		}
		want := "task.yaml:" + strings.ReplaceAll(withIDs(c.want), "\n", "\ntask.yaml:")
		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", text, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	item := func(text string) string { return head + "  - " + text + "\n" }
	checkErrors(t, []errorCase{
		// YAML
		{"", `1:1: the file is empty; a task needs the keys name, goal and parameters`},
		{"# nothing\n---\n", `1:1: the file is empty; a task needs the keys name, goal and parameters`},
		{"null", `1:1: the file must be a mapping (key: value), not empty; expected name: my-task, and the keys goal and parameters`},
		{"task", `1:1: the file must be a mapping (key: value), not the text "task"; expected name: my-task, and the keys goal and parameters`},
		{"- a", `1:1: the file must be a mapping (key: value), not a list; expected name: my-task, and the keys goal and parameters`},
		{"name: [", `1:7: YAML syntax: sequence end token ']' not found`},
		{"name: 'a", `1:7: YAML syntax: could not find end character of single-quoted text`},
		{"name: a\n\tgoal: b\n", `2:1: YAML syntax: a tab cannot indent; use spaces`},
		{one + "strategy: a: b\n", `5:11: YAML syntax: mapping value is not allowed in this context`},
		{one + "x: }\n", `5:4: YAML syntax: "}" is out of place; put a text that begins with it in quotes`},
		{one + "x: \x00", `5:4: the control character U+0000 is not accepted`},
		{one + "é: \xff", `5:4: the file is not valid UTF-8`},
		{one + "x: &a 1\n", `5:4: anchors (&name) are not accepted; write the value out, or put it in quotes when it is a text`},
		{one + "x: *a\n", `5:4: aliases (*name) are not accepted; write the value out, or put it in quotes when it is a text`},
		{one + "<<: {}\n", `5:1: merge keys (<<) are not accepted; write the keys out`},
		{one + "x: !!int 1\n", `5:4: tags (!name) are not accepted; put the value in quotes when it is a text`},
		{one + "? x\n: y\n", `5:1: keys marked with ? are not accepted; write key: value`},
		{"%YAML 1.2\n---\n" + one, `1:1: directives (%NAME) are not accepted`},
		{one + "---\n" + one, `5:1: a file holds one task; a second document (---) is not accepted`},
		{one + "...\nx: 1\n", `6:1: a file holds one task; text after its end (...) is not accepted`},
		{"x: [[[[[[[[[[]]]]]]]]]]", `1:12: nested more than 8 deep`},
		{"- - - x", `1:3: a list directly inside a list is not accepted`},
		// keys and types
		{"name: 1\ngoal: up\nparameters: 3\nfoo: 1\nname: b\n", `1:7: name must be a text, not the number 1; write it in quotes
2:7: goal must be one of minimize, maximize, not the text "up"
3:13: parameters must be a list, not the number 3; expected [{name: x, type: float, low: 0, high: 1}]
4:1: unknown key "foo"; accepted: name, goal, parameters, parameter_constraints, designs, constraints, failures, continues, surrogate, strategy, privacy, stop, description, unit, tags, default
5:1: key "name" is repeated; it is first on line 1`},
		{"x: 1", `1:1: missing key "name"
1:1: missing key "goal"; accepted: minimize, maximize
1:1: missing key "parameters"
1:1: unknown key "x"; accepted: name, goal, parameters, parameter_constraints, designs, constraints, failures, continues, surrogate, strategy, privacy, stop, description, unit, tags, default`},
		{strings.Replace(one, "name: a", "name: ' a'", 1), `1:7: name " a" is not accepted: it begins or ends with a space`},
		{strings.Replace(one, "name: a", `name: "a\u0007"`, 1), `1:7: name "a\a" is not accepted: it has a character that cannot be printed`},
		{strings.Replace(one, "name: a", `name: ""`, 1), `1:7: name "" is not accepted: it is empty`},
		{strings.Replace(one, "name: a", "name: "+strings.Repeat("é", 65), 1), `1:7: name "` + strings.Repeat("é", 65) + `" is not accepted: it is longer than 64 characters`},
		{one + "fbo: 2\n", `5:6: fbo must be 1, the version of the task format, not the number 2`},
		{"name: a\ngoal: minimize\nparameters: []\n", `3:13: parameters must be 1 to 100, not 0`},
		{item("x"), `4:5: parameter 1 must be a mapping (key: value), not the text "x"; expected {name: x, type: float, low: 0, high: 1}`},
		{item("[a]"), `4:5: parameter 1 must be a mapping (key: value), not a list; expected {name: x, type: float, low: 0, high: 1}`},
		{one + "strategy: alone\n", `5:11: strategy must be a mapping (key: value), not the text "alone"; expected strategy: {type: alone}`},
		{one + "surrogate: rff\n", `5:12: surrogate must be a mapping (key: value), not the text "rff"; expected surrogate: {type: rff}`},
		// parameters
		{item("{low: 1}"), `4:5: parameter 1: missing key "name"
4:5: parameter 1: missing key "type"; accepted: float, int, categorical, bool`},
		{item("{name: x, type: string, lo: 1}"), `4:21: parameter "x": type must be one of float, int, categorical, bool, not the text "string"`},
		{item("{type: float, name: x, low: 1, every: 2}"), `4:5: parameter "x": missing key "high"
4:36: parameter "x": unknown key "every"; accepted: name, type, low, high, scale, step, value, when, description, unit`},
		{item("{name: 1x, type: float, low: 3, high: 1}"), `4:12: parameter "1x": name "1x" is not accepted; a letter (a-z, A-Z) followed by letters, digits or _, at most 64 characters
4:34: parameter "1x": low 3 must be below high 1`},
		{item("{name: x, type: float, low: 0, high: 1, scale: log}"), `4:33: parameter "x": low 0 must be above 0 with scale: log`},
		{item("{name: x, type: float, low: 0, high: 1, scale: ln}"), `4:52: parameter "x": scale must be one of linear, log, not the text "ln"`},
		{item("{name: x, type: float, low: 0x10, high: .nan}"), `4:33: parameter "x": low must be a decimal number without leading zeros or _, not 0x10
4:45: parameter "x": high must be a finite number, not .nan`},
		{item("{name: x, type: float, low: '0', high: 1e999}"), `4:33: parameter "x": low must be a number, not the text "0"
4:44: parameter "x": high must be a number within the range of a float64, not 1e999`},
		{item("{name: x, type: float, low: 1, high: 1e301}"), `4:42: parameter "x": high 1e+301 must be at most 1e+300`},
		{item("{name: x, type: float, low: -1, high: -0.99999999999, step: 2.25e-12}"), `4:65: parameter "x": step 2.25e-12 leaves values from -1 to -0.999999999991, which are too close together (a float64 has no more digits)`},
		{item("{name: x, type: float, low: 1, high: 1.0000000000001}"), `4:42: parameter "x": high 1.0000000000001 is too close to low 1: they must be at least 1e-11 apart (a float64 has no more digits)`},
		{item("{name: x, type: float, low: 1, high: 1.001, scale: log}"), `4:42: parameter "x": high 1.001 must be at least 1.01 times low 1 with scale: log; use scale: linear for a narrow range`},
		{item("{name: x, type: float, low: 0, high: 1, choices: [a, b]}"), `4:45: parameter "x": choices is not accepted beside low: it defines the values by itself`},
		{item("{name: x, type: float, choices: [a, b]}"), `4:37: parameter "x": choices must be numbers for type: float`},
		{item("{name: x, type: int, scale: log, choices: [1, 1.5, 1, 0.5]}"), `4:38: parameter "x": choices is not accepted beside scale: it defines the values by itself`},
		{item("{name: x, type: int, choices: [1, 1.5, 1, 9007199254740994, -2]}"), `4:39: parameter "x": choice 1.5 must be a whole number for type: int
4:44: parameter "x": choice 1 is repeated
4:47: parameter "x": choice 9007199254740994 must be between -2^53 and 2^53 for type: int
4:65: parameter "x": choice -2 must be above 9007199254740994, the one before, for type: int; choices without an order are type: categorical`},
		{item("{name: x, type: float, choices: [1]}"), `4:3: every parameter has a single value; expected one with two or more`},
		{item("{name: x, type: float, choices: []}"), `4:37: parameter "x": choices must be 1 to 64, not 0`},
		{item("{name: x, type: categorical, choices: [1, 1e301, .inf, 010, 9007199254740993]}"), `4:54: parameter "x": a choice must be a finite number, not .inf
4:60: parameter "x": a choice must be a decimal number without leading zeros or _, not 010
4:65: parameter "x": a choice must be a number without more digits than a float64 holds, not 9007199254740993`},
		{item("{name: x, type: categorical, choices: [1, 1e301, 1.0]}"), `4:47: parameter "x": choice 1e+301 must be a finite number from -1e+300 to 1e+300
4:54: parameter "x": choice 1 is repeated`},
		{item("{name: x, type: bool, low: 0, choices: [true, false]}"), `4:27: parameter "x": low applies only with type: float or int
4:35: parameter "x": choices applies only with type: categorical, float or int`},
		{item("{name: x, type: bool, values: 2}"), `4:27: parameter "x": unknown key "values"; accepted: name, type, value, when, description, unit`},
		{item("{name: x, type: float, low: 0, high: 1, step: 0}"), `4:51: parameter "x": step 0 must be a number above 0`},
		{item("{name: x, type: float, low: 0, high: 1, step: -.5}"), `4:51: parameter "x": step -0.5 must be a number above 0`},
		{item("{name: x, type: float, low: 0, high: 1, step: a}"), `4:51: parameter "x": step must be a number, not the text "a"`},
		{item("{name: x, type: float, low: 0, high: 1, step: 2}"), `4:51: parameter "x": step 2 must be at most 1, from low to high`},
		{item("{name: x, type: float, low: 1, high: 2, step: 1e-16}"), `4:51: parameter "x": step 1e-16 must be at least 9.094947017729282e-13 between these bounds`},
		{item("{name: x, type: float, low: 1, high: 2, step: 0.5, scale: log}"), `4:51: parameter "x": step applies only with scale: linear`},
		{item("{name: x, type: int, low: 1, high: 9, step: 1.5}"), `4:49: parameter "x": step 1.5 must be a whole number for type: int`},
		{item("{name: x, type: int, low: 1, high: 9, step: 0.99999999999999999}"), `4:49: parameter "x": step 0.99999999999999999 must be a whole number for type: int`},
		{item("{name: x, type: categorical, choices: [a, b], step: 1}"), `4:51: parameter "x": step applies only with type: float or int`},
		{item("{name: x, type: int, low: 010, high: 1_000}"), `4:31: parameter "x": low must be a decimal number without leading zeros or _, not 010
4:42: parameter "x": high must be a decimal number without leading zeros or _, not 1_000`},
		{item("{name: x, type: int, low: 0.5, high: 3}"), `4:31: parameter "x": low 0.5 must be a whole number for type: int`},
		{item("{name: x, type: int, low: 0.99999999999999999, high: 3}"), `4:31: parameter "x": low 0.99999999999999999 must be a whole number for type: int`},
		{item("{name: x, type: int, low: 9007199254740000, high: 9007199254740993}"), `4:55: parameter "x": high 9007199254740993 must be between -2^53 and 2^53 for type: int`},
		{item("{name: x, type: int, low: 0, high: 1e13}"), `4:40: parameter "x": high 10000000000000 must be at most 2^40 above low 0 for type: int; use type: float for a wider range`},
		{item("{name: x, type: int, low: 1e15, high: 1000000000000005, scale: log}"), `4:43: parameter "x": high 1000000000000005 must be at most 2^41 for type: int with scale: log`},
		{item("{name: x, type: categorical, choices: [a]}"), `4:3: every parameter has a single value; expected one with two or more`},
		{item("{name: x, type: categorical, choices: [a, a], low: 1}"), `4:47: parameter "x": choice "a" is repeated
4:51: parameter "x": low applies only with type: float or int`},
		{item("{name: x, type: categorical, choices: [1, true, [b], null, ok]}"), `4:44: parameter "x": choice 1 is a number among texts; write it in quotes ("1")
4:47: parameter "x": choice true is neither a text nor a number; write it in quotes ("true"), or use type: bool
4:53: parameter "x": a choice must be a text or a number, not a list
4:58: parameter "x": a choice must be a text or a number, not empty`},
		{one + "  - {name: x, type: int, low: 0, high: 1}\n  - {name: X, type: int, low: 0, high: 1}\n", `5:12: parameter "x": the name is repeated
6:12: parameter "X": the name differs from "x" only in upper and lower case; both would be the environment variable FBO_PARAM_X`},
		// sections
		{one + "surrogate:\n", `5:12: surrogate must be a mapping (key: value), not empty; expected surrogate: {type: exact}`},
		{one + "surrogate: {features: 3, kernel: rbf, lengthscale: 0, category_lengthscale: x}\n", `5:23: surrogate: features 3 must be even: they come in pairs of cosine and sine
5:34: surrogate: kernel must be one of matern52, se, not the text "rbf"
5:52: surrogate: lengthscale 0 must be from 0.001 to 1000
5:77: surrogate: category_lengthscale must be a number, not the text "x"`},
		{one + "surrogate: {basis: sobol}\n", `5:20: surrogate: basis must be one of quasi, orthogonal, plain, random-phase, not the text "sobol"`},
		{one + "surrogate: {features: 5000, type: gp}\n", `5:23: surrogate: features 5000 must be a whole number from 2 to 4096
5:35: surrogate: type must be one of exact, rff, shared-latent, not the text "gp"`},
		{one + "surrogate: {hyperparameters: fixed}\n", `5:12: surrogate: missing key "lengthscales"
5:12: surrogate: missing key "mean"
5:12: surrogate: missing key "signal_std"
5:12: surrogate: missing key "noise_std"`},
		{one + "surrogate: {type: shared-latent, hyperparameters: fixed, lengthscales: [1], mean: 0, signal_std: 1, noise_std: 1}\n", `5:51: surrogate: hyperparameters: fixed applies only with type: exact`},
		{one + "surrogate: {type: shared-latent}\nstrategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 1}\n", `7:22: privacy: mechanism local does not go with type: shared-latent of the section surrogate, by which nodes share without noise; expected type: exact or rff there`},
		{one + "surrogate: {hyperparameters: pooled}\n", `5:30: surrogate: hyperparameters must be one of learned, fixed, shared, not the text "pooled"`},
		{one + "surrogate: {type: rff, hyperparameters: shared}\n", `5:41: surrogate: hyperparameters: shared applies only with type: exact`},
		{one + "surrogate: {type: gp, hyperparameters: shared}\n", `5:19: surrogate: type must be one of exact, rff, shared-latent, not the text "gp"`},
		{one + "surrogate: {hyperparameters: shared, lengthscales: [1]}\n", `5:38: surrogate: lengthscales applies only with hyperparameters: fixed`},
		{one + "surrogate: {hyperparameters: shared}\nstrategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 1}\n", `7:22: privacy: mechanism local does not go with hyperparameters: shared of the section surrogate, by which nodes share without noise; expected hyperparameters: learned or fixed there`},
		{one + "surrogate: {process: given}\n", `5:13: surrogate: unknown key "process"; accepted: type, hyperparameters, kernel, features, basis, lengthscale, category_lengthscale`},
		{one + "surrogate: {lengthscales: [1], mean: 0, hyperparameters: learned, signal_std: 1, noise_std: 1}\n", `5:13: surrogate: lengthscales applies only with hyperparameters: fixed
5:32: surrogate: mean applies only with hyperparameters: fixed
5:67: surrogate: signal_std applies only with hyperparameters: fixed
5:82: surrogate: noise_std applies only with hyperparameters: fixed`},
		{one + "surrogate: {type: rff, hyperparameters: fixed, lengthscales: [1], mean: 0, signal_std: 1, noise_std: 1}\n", `5:41: surrogate: hyperparameters: fixed applies only with type: exact`},
		{one + "surrogate: {type: gp, hyperparameters: fixed, lengthscales: [1]}\n", `5:19: surrogate: type must be one of exact, rff, shared-latent, not the text "gp"`},
		{one + "surrogate: {hyperparameters: fixed, lengthscales: 1, mean: x, signal_std: 0, noise_std: [1]}\n", `5:51: surrogate: lengthscales must be a list, not the number 1
5:60: surrogate: mean must be a number, not the text "x"
5:75: surrogate: signal_std 0 must be from 1e-100 to 1e+100
5:89: surrogate: noise_std must be a number, not a list`},
		{one + "surrogate: {hyperparameters: fixed, lengthscales: [0, x], mean: 2e100, signal_std: 2, noise_std: 0.001}\n", `5:52: surrogate: lengthscales: entry 1 must be from 0.001 to 1000, not 0
5:55: surrogate: lengthscales: entry 2 must be a number, not the text "x"
5:65: surrogate: mean 2e+100 must be from -1e+100 to 1e+100
5:98: surrogate: noise_std 0.001 must be from 0.001 to 1000 times signal_std, 2`},
		{one + "surrogate: {hyperparameters: fixed, lengthscales: [], mean: 0, signal_std: 1, noise_std: 2000}\n", `5:51: surrogate: lengthscales must be one for each of the 1 parameters, not 0
5:90: surrogate: noise_std 2000 must be from 0.001 to 1000 times signal_std, 1`},
		{one + "surrogate: {hyperparameters: fixed, lengthscales: [1, 1], mean: 0, signal_std: 1, noise_std: -1, x: 1}\n", `5:51: surrogate: lengthscales must be one for each of the 1 parameters, not 2
5:94: surrogate: noise_std -1 must be from 0 to 1e+100
5:98: surrogate: unknown key "x"; accepted: type, hyperparameters, lengthscales, mean, signal_std, noise_std, kernel, features, basis, lengthscale, category_lengthscale`},
		{one + "strategy: {type: xx, foo: 1}\n", `5:18: strategy: type must be one of @types, not the text "xx"`},
		{one + "strategy: {type: ts, mode: concurrent}\n", `5:22: strategy: unknown key "mode"; accepted: type, initial_designs`},
		{one + "strategy: {type: fts, share_after: 3, own_probability: 1, x: y}\n", `5:23: strategy: share_after applies only with mode: one-shot
5:39: strategy: own_probability applies only with schedule: constant
5:59: strategy: unknown key "x"; accepted: type, mode, schedule, message, peers, share_every, initial_designs`},
		{one + "strategy: {type: fts, mode: one-shot, share_every: 3, schedule: constant}\n", `5:11: strategy: missing key "own_probability"
5:39: strategy: share_every applies only with mode: concurrent`},
		{one + "strategy: {type: fts, schedule: constant, own_probability: 1.5, initial_designs: 0}\n", `5:60: strategy: own_probability 1.5 must be from 0 to 1
5:82: strategy: initial_designs 0 must be a whole number from 1 to 1000`},
		// shared designs
		{one + "strategy: {type: ucb, rounds: 3}\n", `5:23: strategy: unknown key "rounds"; accepted: type, c1, c2, initial_designs`},
		{one + "strategy: {type: ucb, c1: 0.1}\n", `5:23: strategy: c1 applies only with c2`},
		{one + "strategy: {type: ucb, c2: 5}\n", `5:23: strategy: c2 applies only with c1`},
		{one + "strategy: {type: ucb, c1: -1, c2: 0}\n", `5:27: strategy: c1 -1 must be from 0 to 1000000
5:35: strategy: c2 0 must be from 0.000001 to 1000000`},
		{one + "strategy: {type: ucb, c1: much, c2: .nan}\n", `5:27: strategy: c1 must be a number, not the text "much"
5:37: strategy: c2 must be a finite number, not .nan`},
		{one + "strategy: {type: consensus, acquisition: ei, weights: even, mode: sync}\n", `5:42: strategy: acquisition must be one of logei, ucb, ts, not the text "ei"
5:55: strategy: weights must be one of uniform, leader, metropolis, similarity, not the text "even"
5:67: strategy: mode must be one of rounds, asynchronous, not the text "sync"`},
		{one + "strategy: {type: consensus, weights: 1, response: 2, response_noise: x}\n", `5:38: strategy: weights must be one of uniform, leader, metropolis, similarity, not the number 1`},
		{one + "strategy: {type: consensus, mode: sync, round_timeout: x}\n", `5:35: strategy: mode must be one of rounds, asynchronous, not the text "sync"`},
		{one + "strategy: {type: consensus, rounds: 0, round_timeout: 86401}\n", `5:37: strategy: rounds 0 must be a whole number from 1 to 100000
5:55: strategy: round_timeout 86401 must be a whole number from 1 to 86400`},
		{one + "strategy: {type: consensus, rounds: 100001, round_timeout: 0}\n", `5:37: strategy: rounds 100001 must be a whole number from 1 to 100000
5:60: strategy: round_timeout 0 must be a whole number from 1 to 86400`},
		{one + "strategy: {type: consensus, rounds: 2.5, round_timeout: 10 s}\n", `5:37: strategy: rounds 2.5 must be a whole number from 1 to 100000
5:57: strategy: round_timeout must be a number, not the text "10 s"`},
		{one + "strategy: {type: consensus, rounds: .inf, round_timeout: .nan}\n", `5:37: strategy: rounds must be a finite number, not .inf
5:58: strategy: round_timeout must be a finite number, not .nan`},
		{one + "strategy: {type: consensus, mode: asynchronous, round_timeout: 5}\n", `5:49: strategy: round_timeout applies only with mode: rounds`},
		{one + "strategy: {type: consensus, mode: asynchronous, weights: leader}\n", `5:58: strategy: weights leader applies only with mode: rounds`},
		{one + "strategy: {type: consensus, response: value, response_noise: 1}\n", `5:29: strategy: response applies only with weights: leader
5:46: strategy: response_noise applies only with weights: leader and response: noisy`},
		{one + "strategy: {type: consensus, response_noise: 1}\n", `5:29: strategy: response_noise applies only with weights: leader and response: noisy`},
		{one + "strategy: {type: consensus, weights: leader, response_noise: 1}\n", `5:46: strategy: response_noise applies only with response: noisy`},
		{one + "strategy: {type: consensus, weights: leader, response: nosy, response_noise: 1}\n", `5:56: strategy: response must be one of value, noisy, not the text "nosy"`},
		{one + "strategy: {type: consensus, weights: leader, response: noisy}\n", `5:11: strategy: missing key "response_noise"`},
		{one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: -1}\n", `5:79: strategy: response_noise -1 must be from 0 to 1e+100`},
		{one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 1e101}\n", `5:79: strategy: response_noise 1e+101 must be from 0 to 1e+100`},
		{one + "strategy: {type: consensus, weights: similarity, response: value}\n", `5:50: strategy: response applies only with weights: leader`},
		{one + "strategy: {type: consensus, average: middle}\n", `5:38: strategy: average must be one of mean, median, trimmed, not the text "middle"`},
		{one + "strategy: {type: consensus, average: median, weights: leader}\n", `5:38: strategy: average median does not go with weights: leader: the node that claims the best response leads, with the largest weight; accepted weights: uniform, metropolis, similarity`},
		{one + "strategy: {type: consensus, beta: 1}\n", `5:29: strategy: unknown key "beta"; accepted: type, share, acquisition, weights, average, mode, rounds, round_timeout, initial_designs`},
		{one + "strategy: {type: constrained-gp, threshold: closed, confidence: -1}\n", `5:45: strategy: threshold must be one of none, open, private, not the text "closed"
5:65: strategy: confidence -1 must be from 0 to 100`},
		{one + "strategy: {type: constrained-gp, threshold: 0.5, confidence: 100.5}\n", `5:45: strategy: threshold must be one of none, open, private, not the number 0.5
5:62: strategy: confidence 100.5 must be from 0 to 100`},
		{one + "strategy: {type: constrained-gp, confidence: high, spread: 1}\n", `5:46: strategy: confidence must be a number, not the text "high"
5:52: strategy: unknown key "spread"; accepted: type, share, share_every, threshold, confidence, initial_designs`},
		{one + "strategy: {type: constrained-gp, threshold: private, comparisons_per_hour: 0}\n", `5:76: strategy: comparisons_per_hour 0 must be a whole number from 1 to 3600`},
		{one + "strategy: {type: constrained-gp, threshold: private, comparisons_per_hour: 3601}\n", `5:76: strategy: comparisons_per_hour 3601 must be a whole number from 1 to 3600`},
		{one + "strategy: {type: constrained-gp, threshold: open, comparisons_per_hour: 9}\n", `5:51: strategy: comparisons_per_hour applies only with threshold: private`},
		{one + "strategy: {type: constrained-gp, threshold: private, share_every: 2}\n", `5:54: strategy: share_every applies only with threshold: none or open`},
		{one + "strategy: {type: constrained-gp, share: coarse, comparisons_per_hour: 9}\n", `5:49: strategy: comparisons_per_hour applies only with threshold: private`},
		{one + "strategy: {type: density, beta: -1, components: 0, spread: 0}\n", `5:33: strategy: beta -1 must be from 0 to 1000
5:49: strategy: components 0 must be a whole number from 1 to 16
5:60: strategy: spread 0 must be from 0.001 to 10`},
		{one + "strategy: {type: density, beta: 1000.5, components: 17}\n", `5:33: strategy: beta 1000.5 must be from 0 to 1000
5:53: strategy: components 17 must be a whole number from 1 to 16`},
		{one + "strategy: {type: density, spread: 10.1}\n", `5:35: strategy: spread 10.1 must be from 0.001 to 10`},
		{one + "strategy: {type: density, spread: 0.0009, components: 1}\n", `5:35: strategy: spread 0.0009 must be from 0.001 to 10`},
		{one + "strategy: {type: density, spread: 0.2, components: 4}\n", `5:27: strategy: spread applies only with components: 1`},
		// coarse shares
		{one + "strategy: {share: best}\n", `5:19: strategy: share must be one of coarse, exact, results, sum, not the text "best"`},
		{one + "strategy: {share: coarse, spread: 0.2}\n", `5:27: strategy: unknown key "spread"; accepted: type, share, initial_designs`},
		{one + "strategy: {type: density, share: coarse, components: 1}\n", `5:42: strategy: components applies only with share: best`},
		{one + "strategy: {type: density, share: coarse, components: 4, spread: 11}\n", `5:42: strategy: components applies only with share: best
5:65: strategy: spread 11 must be from 0.001 to 10`},
		{one + "strategy: {type: density, share: exact}\n", `5:34: strategy: share must be one of ` + strategytest.ShareValues(named(t, "density")) + `, not the text "exact"`},
		{one + "strategy: {type: constrained-gp, share: coarse, threshold: open, confidence: 101}\n", `5:49: strategy: threshold applies only with share: best
5:78: strategy: confidence 101 must be from 0 to 100`},
		{one + "strategy: {type: constrained-gp, share: exact}\n", `5:41: strategy: share must be one of ` + strategytest.ShareValues(named(t, "constrained-gp")) + `, not the text "exact"`},
		{one + "strategy: {type: consensus, share: coarse}\n", `5:36: strategy: share coarse does not go with strategy consensus: nodes evaluate the average of their candidates, which must be exact; coarse shares: peer-prior, density, constrained-gp`},
		{one + "strategy: {type: consensus, share: best}\n", `5:36: strategy: share must be one of exact, coarse, not the text "best"`},
		{one + "strategy: {type: fts, share: coarse}\n", `5:23: strategy: unknown key "share"; accepted: type, mode, schedule, message, peers, share_every, initial_designs`},
		{one + "strategy: {type: density, components: 20, spread: 0.2, rounds: 1}\n", `5:39: strategy: components 20 must be a whole number from 1 to 16
5:56: strategy: unknown key "rounds"; accepted: type, beta, pooling, share, share_every, components, spread, initial_designs`},
	})
}

// named returns the registration of a strategy of this project.
func named(t *testing.T, name string) strategy.Registration {
	t.Helper()
	r, ok := all.Strategies().Named(name)
	if !ok {
		t.Fatalf("no strategy has the name %q", name)
	}
	return r
}
