package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// valleys is members of whom the first has a deeper valley than all others, with private
// thresholds.
func valleys(t *testing.T, members, comparisons int) sim.Scenario {
	t.Helper()
	spec, err := all.Strategies().NewTask(task.Spec{
		Name: "valleys", Goal: task.Minimize,
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}},
		Strategy:   task.Strategy{Type: "constrained-gp", Settings: task.Settings{"threshold": "private", "comparisons_per_hour": comparisons}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Scenario{Task: spec, Seed: random.SeedOf(3), Network: sim.Network{Delay: 50 * time.Millisecond}}
	for i := range members {
		depth := 100.0
		if i > 0 {
			depth = 1
		}
		s.Members = append(s.Members, sim.Member{
			Evaluations: 8, Duration: evaluation,
			Objective: func(d task.Design, _ uint64) float64 {
				return -depth - math.Exp(-10*(math.Pow(d.Float("x")-0.8, 2)+math.Pow(d.Float("y")-0.3, 2)))
			},
		})
	}
	return s
}

// Nothing is published. The member that is better than all others tells them and hears of
// nobody; also with messages that get lost, and then with any number of workers alike.
func TestPrivateThresholds(t *testing.T) {
	for name, network := range map[string]sim.Network{
		"still": {Delay: 50 * time.Millisecond},
		"rough": {Delay: 50 * time.Millisecond, Jitter: time.Second, Loss: 0.3},
	} {
		s := valleys(t, 3, 3600)
		s.Network, s.Workers = network, 1
		first := run(t, s)
		for i, m := range first.Members {
			if m.Shares != 0 || m.Direct == 0 {
				t.Errorf("%s: member %d published %d shares and sent %d messages", name, i, m.Shares, m.Direct)
			}
			if received := m.PeerInformedTrials > 0; received != (i > 0) {
				t.Errorf("%s: member %d has %d designs given those of peers", name, i, m.PeerInformedTrials)
			}
			for _, trial := range m.Trials {
				if i > 0 && trial.Why.PeerCount > 2 {
					t.Errorf("%s: member %d listened to %d peers", name, i, trial.Why.PeerCount)
				}
			}
		}
		if network.Loss == 0 {
			continue
		}
		s = valleys(t, 3, 3600)
		s.Network, s.Workers = network, 3
		if again := run(t, s); text(t, again) != text(t, first) {
			t.Errorf("%s: with 3 workers another result", name)
		}
	}
}

// With one comparison of each peer within an hour two members that are done within it
// compare once, and refuse one offer each. Then they rest.
func TestPrivateThresholdsWithFewComparisons(t *testing.T) {
	bytes := map[int]int64{}
	for _, comparisons := range []int{1, 3600} {
		for _, m := range run(t, valleys(t, 2, comparisons)).Members {
			bytes[comparisons] += m.DirectBytes
		}
	}
	const whole, refused, room = protocol.OfferBytes + protocol.AnswerBytes, protocol.OfferBytes, 200
	if few := bytes[1]; few < 2*(whole+refused) || few > 2*(whole+refused+room) {
		t.Errorf("with one comparison %d bytes", few)
	}
	if many := bytes[3600]; many < 2*4*whole {
		t.Errorf("with many comparisons %d bytes", many)
	}
}
