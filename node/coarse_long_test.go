//go:build long

package node_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// coarseAxis is a float of the test with its bounds.
type coarseAxis struct {
	name      string
	low, high float64
}

// A node that shares coarse designs of the same results under ten task files discloses hardly more
// than under the first: a peer that intersects the cells, or averages the middles where they have
// nothing in common, knows the best design per coordinate with a median error of at least nine
// tenths of that of one file. Four keys, six floats, each kind of edit.
func TestLongCoarseSharesOfEditedFiles(t *testing.T) {
	const keys, files, results = 4, 10, 30
	for kind, edit := range map[string]func(axes []coarseAxis, file int, rng *rand.Rand) []coarseAxis{
		"names": func(axes []coarseAxis, _ int, _ *rand.Rand) []coarseAxis { return axes },
		"orders": func(axes []coarseAxis, _ int, rng *rand.Rand) []coarseAxis {
			rng.Shuffle(len(axes), func(i, j int) { axes[i], axes[j] = axes[j], axes[i] })
			return axes
		},
		"additions": func(axes []coarseAxis, file int, _ *rand.Rand) []coarseAxis {
			for i := range file {
				axes = append([]coarseAxis{{fmt.Sprintf("added%d", i), 0, 1}}, axes...)
			}
			return axes
		},
		"wider bounds": func(axes []coarseAxis, file int, _ *rand.Rand) []coarseAxis {
			for i := range axes {
				axes[i].low, axes[i].high = -0.02*float64(file), 1+0.015*float64(file)
			}
			return axes
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var one, ten []float64
			for key := range uint64(keys) {
				rng := rand.New(rand.NewPCG(key, uint64(len(kind))))
				var axes []coarseAxis
				optimumAt := map[string]float64{}
				for i := range 6 {
					axes = append(axes, coarseAxis{fmt.Sprintf("x%d", i), 0, 1})
					optimumAt[axes[i].name] = 0.1 + 0.8*rng.Float64()
				}
				past := coarsePast(axes, optimumAt, results, rng)
				best := slices.MinFunc(past, func(a, b map[string]float64) int { return int(math.Copysign(1, a["value"]-b["value"])) })
				author := loopbackAs(t, int(key))
				peer := loopback(t, author.Addresses()...)
				cells := map[string][][2]float64{}
				for file := range files {
					edited := edit(slices.Clone(axes), file, rng)
					for i, c := range coarseShare(t, author, peer, fmt.Sprintf("file%d", file), edited, past) {
						cells[edited[i].name] = append(cells[edited[i].name], c)
					}
				}
				for _, a := range axes {
					one = append(one, math.Abs(middleOf(cells[a.name][:1])-best[a.name]))
					ten = append(ten, math.Abs(middleOf(cells[a.name])-best[a.name]))
				}
			}
			slices.Sort(one)
			slices.Sort(ten)
			first, all := one[len(one)/2], ten[len(ten)/2]
			t.Logf("median error per coordinate %.3f with one file, %.3f with ten", first, all)
			if all < 0.9*first {
				t.Errorf("median error per coordinate %.3f with one file, %.3f with ten", first, all)
			}
		})
	}
}

// loopbackAs is a loopback node with the identity of a key of the tests.
func loopbackAs(t *testing.T, key int) *node.Node {
	t.Helper()
	data, err := crypto.MarshalPrivateKey(fbotest.Key(t, key))
	if err != nil {
		t.Fatal(err)
	}
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := os.WriteFile(filepath.Join(n.Dir, store.IdentityFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// coarsePast returns results of a bowl around its optimum, half of them near it.
func coarsePast(axes []coarseAxis, optimumAt map[string]float64, count int, rng *rand.Rand) (past []map[string]float64) {
	for i := range count {
		design, value := map[string]float64{}, 0.0
		for _, a := range axes {
			x := rng.Float64()
			if i%2 == 0 {
				x = min(max(optimumAt[a.name]+0.1*rng.NormFloat64(), 0), 1)
			}
			design[a.name] = x
			value += (x - optimumAt[a.name]) * (x - optimumAt[a.name])
		}
		design["value"] = value
		past = append(past, design)
	}
	return past
}

// coarseShare returns the cells, in units of the parameters, that the author shares with the peer
// under a file, after it has imported the results.
func coarseShare(t *testing.T, author, peer *node.Node, name string, axes []coarseAxis, past []map[string]float64) (cells [][2]float64) {
	t.Helper()
	var parameters []string
	for _, a := range axes {
		parameters = append(parameters, fmt.Sprintf("  - {name: %s, type: float, low: %g, high: %g}\n", a.name, a.low, a.high))
	}
	text := fmt.Sprintf("name: %s\ngoal: minimize\nparameters:\n%ssurrogate: {features: 64}\n", name, strings.Join(parameters, ""))
	listening := join(t, peer, text, 2)
	sharing := join(t, author, text, 1)
	var all []agent.Past
	for _, p := range past {
		var values []task.Value
		for _, a := range axes {
			values = append(values, task.FloatValue(p[a.name])) // 0 where the parameter was added
		}
		design, err := sharing.Task().Space.NewDesign(values...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, agent.Past{Design: design, Outcome: strategy.Outcome{Value: p["value"]}})
	}
	if _, err := sharing.Import(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	var shared protocol.Density
	eventually(t, "the share of "+name, func() bool {
		view, err := listening.View(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		for _, share := range view.Shares {
			if d, ok := share.Value.(protocol.Density); ok && share.Kind == protocol.DensityKind && share.Author == author.ID() && d.Observations == len(past) {
				shared = d
				return true
			}
		}
		return false
	})
	widths := coarsen.Widths(sharing.Task().Space)
	for i, a := range axes {
		u := shared.Components[0].Center.Coordinates[i]
		low, high := max(u-widths[i]/2, 0), min(u+widths[i]/2, 1)
		cells = append(cells, [2]float64{a.low + low*(a.high-a.low), a.low + high*(a.high-a.low)})
	}
	if err := sharing.Close(); err != nil {
		t.Fatal(err)
	}
	if err := listening.Close(); err != nil {
		t.Fatal(err)
	}
	return cells
}

// middleOf returns the middle of what cells have in common, or the mean of their middles.
func middleOf(cells [][2]float64) float64 {
	low, high, sum := math.Inf(-1), math.Inf(1), 0.0
	for _, c := range cells {
		low, high, sum = max(low, c[0]), min(high, c[1]), sum+(c[0]+c[1])/2/float64(len(cells))
	}
	if low >= high {
		return sum
	}
	return (low + high) / 2
}
