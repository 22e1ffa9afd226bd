package strategytest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// PrivateExchange returns the exchange of one agent on a task with a section privacy. The source
// provides its noise.
func PrivateExchange(t testing.TB, r strategy.Registration, definition *task.Task, source *rand.ChaCha8) strategy.Exchange {
	t.Helper()
	exchanges, err := r.Disclosure(definition).Exchanges(strategy.Env{Task: definition, Entropy: source})
	if err != nil || len(exchanges) != 1 {
		t.Fatalf("%d exchanges, %v", len(exchanges), err)
	}
	return exchanges[0]
}

// Shown returns the lower bound on ε that an attack on a task gives. Each of the runs has a new
// exchange. The function attack makes the exchange release a vector of one of two worlds, 0 or 1.
// It returns the world that the attacker guesses.
func Shown(t testing.TB, r strategy.Registration, definition *task.Task, runs int, attack func(e strategy.Exchange, world int) int) float64 {
	t.Helper()
	source := rand.NewChaCha8([32]byte{3})
	return Guarantee().Shown(runs, func(world int) int { return attack(PrivateExchange(t, r, definition, source), world) })
}

// CheckAudit audits the published bytes of a strategy that releases one design with noise. The keys
// of the map kept are settings of the section privacy, and its values say whether the settings keep
// the guarantee. The arguments power and attack are those of audit.Guarantee.Check and Shown.
func CheckAudit(t *testing.T, r strategy.Registration, parameters string, runs int, power float64, kept map[string]bool, attack func(definition *task.Task, e strategy.Exchange, world int) int) {
	t.Helper()
	for keys, keeps := range kept {
		definition := PrivateTask(t, r, parameters, "initial_designs: 3", fmt.Sprintf("%s, delta: %g", keys, Guarantee().Delta))
		shown := Shown(t, r, definition, runs, func(e strategy.Exchange, world int) int { return attack(definition, e, world) })
		Guarantee().Check(t, parameters+", "+keys, shown, keeps, power)
	}
}

// DueVector returns the function with which a private exchange computes the vector of its first
// release from a view. In the given view, peer b must be the only present one, and there must be
// enough observations.
func DueVector(t testing.TB, e strategy.Exchange, view strategy.View) func(view strategy.View) []float64 {
	t.Helper()
	for _, output := range e.Step(view, strategy.CaughtUp{Peer: "b"}) {
		if work, ok := output.(strategy.Work); ok {
			return func(view strategy.View) []float64 {
				got, err := work.Run(t.Context(), view, random.SeedOf(1))
				if err != nil {
					t.Fatal(err)
				}
				return got.([]float64)
			}
		}
	}
	t.Fatal("no release is due")
	panic("unreachable")
}
