package task_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// The IDs are those of all nodes in the field: a change here cuts the new version
// off from the old, and needs a new version of the format.
func TestGoldenIDs(t *testing.T) {
	for _, c := range []struct{ text, canonical, id string }{
		{one,
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"share":"coarse","type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq"},
		{one + "surrogate: {hyperparameters: learned}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"share":"coarse","type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq"},
		{one + "surrogate: {hyperparameters: shared}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"share":"coarse","type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"hyperparameters":"shared","kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera5oj2fcpsaidaw6kvcvtd5sq2vrzijiw5ac3ljrpk5tj7ctxe2doa"},
		{one + "strategy: {share: exact}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera7mkcvgi36iqkl5hv2mdsie44eaykejwnkkta7xvgwvczq3eiswsq"},
		{one + "strategy: {type: density, share: coarse}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"beta":5,"initial_designs":3,"share":"coarse","spread":0.2,"type":"density"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierarcqzlvlgzx4dlqusf3fgdrgmy5rnraicqgjx74rlzewyrmkds4fa"},
		{one + "strategy: {type: constrained-gp, share: coarse}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"confidence":2,"initial_designs":3,"share":"coarse","type":"constrained-gp"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierabxejsbhsem5ccmwnt6h6uyjo4axup2yl3fd7rgqrh4rs5sdgpi4a"},
		{one + "strategy: {type: constrained-gp, threshold: private}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"comparisons_per_hour":60,"confidence":2,"initial_designs":3,"threshold":"private","type":"constrained-gp"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieravjpus2coqc5ndwapyr6j5dyf6ni76qjd2g6kvfvtzewhsqfe3hgq"},
		{one + "strategy: {type: consensus, share: exact}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","initial_designs":3,"mode":"rounds","round_timeout":60,"rounds":50,"type":"consensus","weights":"uniform"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieratz7bmid34tox3zwpnu6sav22agn6sgwxhwbjqb7grcc7cw6yursa"},
		{`
name: wearable-lr
goal: minimize
parameters:
  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: batch_size, type: int, low: 20, high: 100}
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
surrogate: {type: exact, kernel: matern52, features: 256, lengthscale: 0.3, category_lengthscale: 1}
strategy: {type: fts, mode: concurrent, schedule: inverse-sqrt, initial_designs: 3, share_every: 1}
`,
			`{"fbo":1,"goal":"minimize","name":"wearable-lr","parameters":[` +
				`{"high":1,"low":0.001,"name":"learning_rate","scale":"log","type":"float"},` +
				`{"high":100,"low":20,"name":"batch_size","scale":"linear","type":"int"},` +
				`{"choices":["sgd","adam"],"name":"optimizer","type":"categorical"}],` +
				`"strategy":{"initial_designs":3,"mode":"concurrent","schedule":"inverse-sqrt","share_every":1,"type":"fts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.3,"type":"exact"}}`,
			"bagaaierazvcx5nsudu3ixgkyaac24n3gsehnm5fg3jjf2sr6dna55idczrra"},
		{`
name: "<b> & \"é\""
goal: maximize
parameters:
  - {name: big, type: float, low: 1e-7, high: 1e+21}
  - {name: n, type: int, low: -9007199254740992, high: -9007199254740000}
surrogate: {type: rff, kernel: se}
strategy: {type: fts, mode: one-shot, schedule: constant, own_probability: .50}
`,
			`{"fbo":1,"goal":"maximize","name":"<b> & \"é\"","parameters":[` +
				`{"high":1e+21,"low":1e-7,"name":"big","scale":"linear","type":"float"},` +
				`{"high":-9007199254740000,"low":-9007199254740992,"name":"n","scale":"linear","type":"int"}],` +
				`"strategy":{"initial_designs":3,"mode":"one-shot","own_probability":0.5,"schedule":"constant","share_after":50,"type":"fts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"se","lengthscale":0.2,"type":"rff"}}`,
			"bagaaierasnruv47izo4wxl3kv2prqdnxw5ls33nqxirdn2kkkwqi5nrzof4q"},
		{`
name: kinds
goal: minimize
parameters:
  - {name: nesterov, type: bool}
  - {name: momentum, type: float, low: 0, high: 1, step: 0.3}
  - {name: units, type: int, low: 16, high: 250, step: 16}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: c, type: float, choices: [0.1, 1, 10]}
  - {name: seed, type: categorical, choices: [7, 3]}
strategy: {share: exact}
`,
			`{"fbo":1,"goal":"minimize","name":"kinds","parameters":[{"name":"nesterov","type":"bool"},` +
				`{"high":0.9,"low":0,"name":"momentum","scale":"linear","step":0.3,"type":"float"},` +
				`{"high":240,"low":16,"name":"units","scale":"linear","step":16,"type":"int"},` +
				`{"choices":[16,32,64],"name":"batch","type":"int"},{"choices":[0.1,1,10],"name":"c","type":"float"},` +
				`{"choices":[7,3],"name":"seed","type":"categorical"}],` +
				`"strategy":{"initial_designs":3,"type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":512,"kernel":"matern52","lengthscale":0.6,"type":"exact"}}`,
			"bagaaierad7nwxsbym3o5vfzdusgfowa36h2kzedo6utv2gqtaqe4dfc5mhtq"},
		{one + "strategy: {type: ts}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"ts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieraxe3wafv5czsu6r55kmqm5r446pk64xhj623alknhy4mbndcbav3a"},
		{one + "strategy: {type: ucb}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"ucb"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera7v5jcp3jwis7i7jmkvhdyju7cffhbyr5hb3lkhrua7gzvco4zbka"},
		{one + "strategy: {type: ucb, c1: .080, c2: 5.0}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"c1":0.08,"c2":5,"initial_designs":3,"type":"ucb"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierafogaypx7t5ysesonxgekelsrfefog6ijdchjl225caknu2whyhtq"},
		{one + "strategy: {type: consensus}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","initial_designs":3,"mode":"rounds","round_timeout":60,"rounds":50,"type":"consensus","weights":"uniform"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieratz7bmid34tox3zwpnu6sav22agn6sgwxhwbjqb7grcc7cw6yursa"},
		{one + "strategy: {type: consensus, average: median}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","average":"median","initial_designs":3,"mode":"rounds","round_timeout":60,"rounds":50,"type":"consensus","weights":"uniform"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieraslt3tt2dwnhalbcvsypy472dhzbtx5ddpgbbxqbzbf35a36ppena"},
		{one + "strategy: {type: consensus, weights: similarity}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","initial_designs":3,"mode":"rounds","round_timeout":60,"rounds":50,"type":"consensus","weights":"similarity"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierak5cc7hw54ct2uhxo4ffszz3prkzuqf5qxcbdbxygjxavqszyaz6q"},
		{one + "strategy: {type: consensus, mode: asynchronous, weights: metropolis, acquisition: ts}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"ts","initial_designs":3,"mode":"asynchronous","rounds":50,"type":"consensus","weights":"metropolis"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera3qw7laqlrf5txtfhfuarcl3ass4tacz4avp4xtqqqg7icggmr5na"},
		{one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: .50}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","initial_designs":3,"mode":"rounds","response":"noisy","response_noise":0.5,"round_timeout":60,"rounds":50,"type":"consensus","weights":"leader"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieragr47vib3dmvj4yveq77itmortjw7wbnuxf6xctram4bz7rwf7xba"},
		{one + "strategy: {type: constrained-gp}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"confidence":2,"initial_designs":3,"threshold":"none","type":"constrained-gp"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera33hapamuvhbsoynyw75r2kdfjtuwjz4tosjcbr3w3c4e2u65kxqq"},
		{one + "strategy: {type: density}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"beta":5,"components":1,"initial_designs":3,"spread":0.2,"type":"density"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieratwlq7nm2fi5xlq64dgaqn4zokw4jybpsqvxwuugmbqd2lh2inwea"},
		{one + "strategy: {type: density, components: 4}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"beta":5,"components":4,"initial_designs":3,"type":"density"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera5kad2axuhbuntey5bnk7zae75b65ezkf6jphlotvy2xpdexzvh7q"},
		{one + "strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"privacy":{"adjacency":"replace-one","clip":16,"delta":0.00001,"epsilon":4,"mechanism":"local","releases":10},` +
				`"strategy":{"initial_designs":3,"mode":"concurrent","schedule":"inverse-sqrt","share_every":1,"type":"fts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieraxfg6fdulfivfjltexdfbs4sy5se6ehdxu2756a7ac57zdcvqsxka"},
		{one + `
strategy: {type: fts-de, cells: 4}
privacy: {mechanism: aggregate, epsilon: 4, roster: [12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2, 12D3KooWGxP1yRrtBDFYZ2uzxEhAxew8C2zUcLhdBGYZp93fJ7Tm, 12D3KooWMMCTprdAZocxAYQ4y7gduJSWvK3gxppEk8upnhVdw1An]}`,
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"privacy":{"adjacency":"replace-one","clip":8,"committee":3,"delta":0.00001,"epsilon":4,"max_colluding":1,"mechanism":"aggregate","min_contributors":3,"releases":10,` +
				`"roster":["12D3KooWGxP1yRrtBDFYZ2uzxEhAxew8C2zUcLhdBGYZp93fJ7Tm","12D3KooWMMCTprdAZocxAYQ4y7gduJSWvK3gxppEk8upnhVdw1An","12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2"]},` +
				`"strategy":{"cells":4,"initial_designs":3,"share":"mean","share_every":1,"type":"fts-de","weights":"evidence"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieraepi7ez46fpx6a44n5mskfrp2djfrkcdyohlyqauicquxgote4lfa"},
		{one + `
strategy: {type: fts-de, weights: schedule, schedule: constant, own_probability: .50, share: sample}
privacy: {mechanism: aggregate, epsilon: 1, max_colluding: 2, roster: [12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2, 12D3KooWGxP1yRrtBDFYZ2uzxEhAxew8C2zUcLhdBGYZp93fJ7Tm, 12D3KooWMMCTprdAZocxAYQ4y7gduJSWvK3gxppEk8upnhVdw1An]}`,
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"privacy":{"adjacency":"replace-one","clip":16,"committee":3,"delta":0.00001,"epsilon":1,"max_colluding":2,"mechanism":"aggregate","min_contributors":3,"releases":10,` +
				`"roster":["12D3KooWGxP1yRrtBDFYZ2uzxEhAxew8C2zUcLhdBGYZp93fJ7Tm","12D3KooWMMCTprdAZocxAYQ4y7gduJSWvK3gxppEk8upnhVdw1An","12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2"]},` +
				`"strategy":{"cells":1,"initial_designs":3,"own_probability":0.5,"schedule":"constant","share":"sample","share_every":1,"type":"fts-de","weights":"schedule"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaierazgnytkd5edl33mftnngtfjlj6e2p47kooiskkdnsc5vqxzubecpa"},
	} {
		got, err := parse("", []byte(c.text))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got.Canonical()) != c.canonical {
			t.Errorf("canonical form\n got %s\nwant %s", got.Canonical(), c.canonical)
		}
		if got.ID().String() != c.id {
			t.Errorf("ID %s, want %s", got.ID(), c.id)
		}
	}
}

// What changes the meaning of a share changes the ID.
func TestEveryKeyChangesTheID(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		one,
		strings.Replace(one, "name: a", "name: b", 1),
		strings.Replace(one, "minimize", "maximize", 1),
		strings.Replace(one, "name: x", "name: y", 1),
		strings.Replace(one, "high: 1", "high: 2", 1),
		strings.Replace(one, "low: 0", "low: 0.5", 1),
		strings.Replace(one, "low: 0", "low: 0.5, scale: log", 1),
		strings.Replace(one, "float", "int", 1),
		one + "continues: bagaaierahjj5pl54m4hgfnrq3omympn7lbu4trr5tapprrjs6wsonqlztqeq\n",
		one + "continues: bagaaierarcqzlvlgzx4dlqusf3fgdrgmy5rnraicqgjx74rlzewyrmkds4fa\n",
		one + "surrogate: {type: rff}",
		one + "surrogate: {kernel: se}",
		one + "surrogate: {features: 128}",
		one + "surrogate: {lengthscale: 0.4}",
		one + "surrogate: {category_lengthscale: 2}",
		one + "surrogate: {hyperparameters: fixed, lengthscales: [0.3], mean: 2, signal_std: 1, noise_std: 0.1}",
		one + "surrogate: {hyperparameters: fixed, lengthscales: [0.2], mean: 2, signal_std: 1, noise_std: 0.1}",
		one + "surrogate: {hyperparameters: fixed, lengthscales: [0.3], mean: 0, signal_std: 1, noise_std: 0.1}",
		one + "surrogate: {hyperparameters: fixed, lengthscales: [0.3], mean: 2, signal_std: 2, noise_std: 0.1}",
		one + "surrogate: {hyperparameters: fixed, lengthscales: [0.3], mean: 2, signal_std: 1, noise_std: 0.2}",
		one + "surrogate: {hyperparameters: shared}",
		one + "strategy: {type: ts}",
		one + "strategy: {type: fts, mode: one-shot}",
		one + "strategy: {type: fts, mode: one-shot, share_after: 9}",
		one + "strategy: {type: fts, schedule: own-only}",
		one + "strategy: {type: fts, schedule: constant, own_probability: 0}",
		one + "strategy: {type: fts, schedule: constant, own_probability: 1}",
		one + "strategy: {initial_designs: 4}",
		one + "strategy: {type: fts, share_every: 2}",
		one + "strategy: {type: logei}",
		one + "strategy: {type: ucb}",
		one + "strategy: {type: ucb, c1: 0.08, c2: 5}",
		one + "strategy: {type: ucb, c1: 0.08, c2: 6}",
		one + "strategy: {type: ucb, c1: 0.09, c2: 5}",
		one + "strategy: {type: consensus}",
		one + "strategy: {type: consensus, acquisition: ucb}",
		one + "strategy: {type: consensus, acquisition: ts}",
		one + "strategy: {type: consensus, mode: asynchronous}",
		one + "strategy: {type: consensus, rounds: 51}",
		one + "strategy: {type: consensus, round_timeout: 61}",
		one + "strategy: {type: consensus, weights: metropolis}",
		one + "strategy: {type: consensus, weights: similarity}",
		one + "strategy: {type: consensus, average: median}",
		one + "strategy: {type: consensus, average: trimmed}",
		one + "strategy: {type: consensus, weights: leader}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 1}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 2}",
		one + "strategy: {share: exact}",
		one + "strategy: {type: constrained-gp}",
		one + "strategy: {type: constrained-gp, share: coarse}",
		one + "strategy: {type: constrained-gp, share: coarse, confidence: 3}",
		one + "strategy: {type: constrained-gp, threshold: open}",
		one + "strategy: {type: constrained-gp, threshold: private}",
		one + "strategy: {type: constrained-gp, threshold: private, comparisons_per_hour: 20}",
		one + "strategy: {type: constrained-gp, confidence: 3}",
		one + "strategy: {type: density}",
		one + "strategy: {type: density, share: coarse}",
		one + "strategy: {type: density, share: coarse, beta: 4}",
		one + "strategy: {type: density, share: coarse, spread: 0.3}",
		one + "strategy: {type: density, beta: 4}",
		one + "strategy: {type: density, spread: 0.3}",
		one + "strategy: {type: density, components: 2}",
		one + "strategy: {type: density, components: 3}",
		one + "strategy: {type: fts, schedule: inverse}",
		one + "strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4}",
		summing("", "", 8),
		summing("", "", 9),
		strings.Replace(summing("", "", 8), nodeID(8).String(), nodeID(9).String(), 1),
		summing("", "committee: 6, ", 8),
		summing("", "committee: 6, max_colluding: 2, ", 8),
		summing("", "max_colluding: 3, ", 8),
		summing("", "min_contributors: 7, ", 8),
		strings.Replace(summing("", "", 8), "epsilon: 4", "epsilon: 5", 1),
		summing("", "delta: 1e-6, ", 8),
		summing("", "clip: 7, ", 8),
		summing("", "releases: 11, ", 8),
		summing("", "adjacency: zero-out, ", 8),
		summing("cells: 2", "", 8),
		summing("share: sample", "", 8),
		summing("share: sample", "clip: 8, ", 8),
		summing("share_every: 2", "", 8),
		summing("initial_designs: 4", "", 8),
		summing("weights: schedule", "", 8),
		summing("weights: schedule, schedule: inverse-sqrt", "", 8),
		summing("weights: schedule, schedule: constant, own_probability: 0", "", 8),
		summing("weights: schedule, schedule: constant, own_probability: 1", "", 8),
		head + "  - {name: x, type: categorical, choices: [a, b]}",
		head + "  - {name: x, type: categorical, choices: [b, a]}",
		head + "  - {name: x, type: categorical, choices: [1, 2]}",
		head + "  - {name: x, type: categorical, choices: [2, 1]}",
		head + "  - {name: x, type: categorical, choices: ['1', '2']}",
		head + "  - {name: x, type: int, choices: [1, 2]}",
		head + "  - {name: x, type: float, choices: [1, 2]}",
		head + "  - {name: x, type: float, choices: [1, 3]}",
		head + "  - {name: x, type: bool}",
		head + "  - {name: x, type: float, low: 0, high: 1, step: 0.5}",
		head + "  - {name: x, type: float, low: 0, high: 1, step: 0.25}",
		head + "  - {name: x, type: int, low: 0, high: 8, step: 2}",
		one + "  - {name: y, type: float, low: 0, high: 1}\n",
		head + "  - {name: y, type: float, low: 0, high: 1}\n" + strings.TrimPrefix(one, head),
	} {
		got, err := parse("", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if other, ok := seen[got.ID().String()]; ok {
			t.Errorf("the same ID for\n%s\nand\n%s", text, other)
		}
		seen[got.ID().String()] = text
	}
}

// Defaults that are written out leave the ID as it is.
func TestWrittenDefaultsOfSharedDesigns(t *testing.T) {
	for short, long := range map[string]string{
		"{type: ucb}":                                "{type: ucb, initial_designs: 3}",
		"{type: consensus}":                          "{type: consensus, acquisition: logei, weights: uniform, mode: rounds, rounds: 5e1, round_timeout: 60.0, average: mean}",
		"{type: consensus, weights: leader}":         "{response: value, weights: leader, round_timeout: 60, type: consensus}",
		"{type: peer-prior}":                         "{share: coarse}",
		"{type: consensus, rounds: 9}":               "{type: consensus, rounds: 9, share: exact}",
		"{type: constrained-gp}":                     "{confidence: 2.0, threshold: none, type: constrained-gp, share: best}",
		"{type: constrained-gp, threshold: private}": "{comparisons_per_hour: 60, confidence: 2, threshold: private, type: constrained-gp}",
		"{share: coarse, type: density}":             "{type: density, share: coarse, beta: 5, spread: 0.2}",
		"{type: density}":                            "{type: density, beta: 5, components: 1, spread: 2e-1, share: best}",
		"{type: density, components: 2}":             "{components: 2, beta: +5, type: density}",
	} {
		first, err := parse("", []byte(one+"strategy: "+short))
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse("", []byte(one+"strategy: "+long))
		if err != nil || !second.ID().Equals(first.ID()) {
			t.Errorf("%s and %s: %v", short, long, err)
		}
	}
}

func TestWrittenDefaultsOfSums(t *testing.T) {
	for _, c := range []struct{ short, long string }{
		{summing("", "", 20), summing("cells: 1, weights: evidence, share: mean, share_every: 1.0, initial_designs: 3", "delta: 1e-5, clip: 8, releases: 10, adjacency: replace-one, min_contributors: 15, committee: 7, max_colluding: 2, ", 20)},
		{summing("weights: schedule, share: sample", "", 2), summing("schedule: inverse, share: sample, weights: schedule", "clip: 16, min_contributors: 2, max_colluding: 1, committee: 2, ", 2)},
	} {
		first, err := parse("", []byte(c.short))
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse("", []byte(c.long))
		if err != nil || !second.ID().Equals(first.ID()) {
			t.Errorf("%s and %s: %v", c.short, c.long, err)
		}
	}
}

func TestCanonicalIsATaskFile(t *testing.T) {
	for _, text := range []string{
		one,
		one + "strategy: {type: ts}",
		one + "strategy: {type: fts, mode: one-shot, schedule: constant, own_probability: 1e-7}",
		one + "strategy: {type: ucb}",
		one + "strategy: {type: ucb, c1: 1e-7, c2: 1e6}",
		one + "strategy: {type: consensus}",
		one + "strategy: {type: consensus, mode: asynchronous}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 1e100}",
		one + "strategy: {type: constrained-gp, threshold: open, confidence: 1e-7}",
		one + "strategy: {type: constrained-gp, threshold: private, comparisons_per_hour: 3600}",
		one + "strategy: {share: exact}",
		one + "strategy: {share: coarse}",
		one + "strategy: {type: constrained-gp, share: coarse, confidence: 0}",
		one + "strategy: {type: density, share: coarse, spread: 10}",
		one + "strategy: {type: density, spread: 1e-3}",
		one + "strategy: {type: density, components: 16}",
		one + "strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4}",
		one + "privacy: {mechanism: none}",
		one + "  - {name: b, type: bool}\n  - {name: n, type: categorical, choices: [1e21, -1e-7, 0.1]}\n  - {name: s, type: float, low: 1e-7, high: 1e-6, step: 3e-8}\n",
		summing("", "", 2),
		summing("cells: 16, share: sample, share_every: 3", "", 20),
		summing("weights: schedule", "delta: 1e-7, clip: 1e-3, adjacency: zero-out, ", 3),
		summing("weights: schedule, schedule: constant, own_probability: 1e-7", "committee: 5, max_colluding: 4, min_contributors: 6, ", 7),
		summing("", "committee: 64, ", 1024),
	} {
		first, err := parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse("", first.Canonical())
		if err != nil || !bytes.Equal(second.Canonical(), first.Canonical()) {
			t.Errorf("%s: %v", first.Canonical(), err)
		}
	}
}

func TestDefaultFeatures(t *testing.T) {
	for parameters, want := range map[int]int{1: 256, 4: 256, 5: 512, 100: 512} {
		if got := task.FeaturesFor(parameters); got != want {
			t.Errorf("%d parameters: %d, want %d", parameters, got, want)
		}
	}
}

func TestDefaultLengthscale(t *testing.T) {
	for parameters, want := range map[int]string{1: "0.1", 2: "0.2", 4: "0.4", 7: "0.7", 25: "2.5", 26: "2.54951", 100: "5"} {
		if got := fmt.Sprint(task.LengthscaleFor(parameters)); got != want {
			t.Errorf("%d parameters: %s, want %s", parameters, got, want)
		}
	}
}

// A canonical form of before peer-prior had a choice of shares means what it meant: a
// journal holds it, and a task of exact shares goes on.
func TestCanonicalFormsKeepTheirMeaning(t *testing.T) {
	const former = `{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
		`"strategy":{"initial_designs":3,"type":"peer-prior"},` +
		`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`
	got, err := parse("", []byte(former))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Canonical()) != former {
		t.Errorf("it became %s", got.Canonical())
	}
	if exact, err := parse("", []byte(one+"strategy: {share: exact}")); err != nil || !exact.ID().Equals(got.ID()) {
		t.Errorf("share: exact is another task, or an error: %v", err)
	}
}
