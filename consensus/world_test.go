package consensus

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// world lets the exchanges of several agents talk over a network that delays,
// reorders and loses what they say.
type world struct {
	t       *rapid.T
	task    *task.Task
	rng     *rand.Rand
	now     time.Duration
	agents  []*member
	events  []event
	loss    float64
	slowest time.Duration // delivery
}

type event struct {
	at time.Duration
	do func()
}

type member struct {
	id       peer.ID
	exchange *rounds
	trials   []strategy.Trial
	received []*strategy.Share
	timers   map[string]time.Duration
	duration time.Duration
	gone     bool
	spoke    time.Duration // when the candidate of the open round was made
	closed   []Round
}

func (w *world) after(span time.Duration, do func()) {
	w.events = append(w.events, event{w.now + span, do})
}

// upTo is at least 1, so that no two agents act in a fixed order.
func (w *world) upTo(most time.Duration) time.Duration {
	return 1 + time.Duration(w.rng.Int64N(int64(most)))
}

func (w *world) run() {
	for len(w.events) > 0 {
		i := 0
		for j, e := range w.events {
			if e.at < w.events[i].at {
				i = j
			}
		}
		e := w.events[i]
		w.events = slices.Delete(w.events, i, i+1)
		if w.now = e.at; w.now > 24*time.Hour {
			w.t.Fatal("somebody waits for ever")
		}
		e.do()
	}
}

// view of an agent, which hears of everybody that has left at once.
func (w *world) view(m *member) strategy.View {
	seen := presence.Result{Agreed: true}
	for _, other := range w.agents {
		if !other.gone || other == m {
			seen.Present = append(seen.Present, other.id)
		}
	}
	return strategy.View{
		Task: w.task, Self: m.id, Trials: slices.Clone(m.trials), Observations: 1, Shares: m.received,
		Results: map[string]any{presence.Kind: seen},
	}
}

func (w *world) step(m *member, in strategy.Input) {
	if m.gone {
		return
	}
	for _, output := range m.exchange.Step(w.view(m), in) {
		switch output := output.(type) {
		case strategy.Work:
			number := m.exchange.round.Number
			w.after(w.upTo(time.Second), func() { w.publishCandidate(m, number) })
		case strategy.Publish:
			w.send(m, output)
		case strategy.SetTimer:
			at := w.now + output.After
			m.timers[output.Name] = at
			w.after(output.After, func() {
				if m.timers[output.Name] == at { // otherwise it was replaced
					w.step(m, strategy.Timer{Name: output.Name})
				}
			})
		case strategy.Result:
			w.result(m, output.Value.(Round))
		}
	}
}

func (w *world) publishCandidate(m *member, number int) {
	m.spoke = w.now
	if w.rng.IntN(10) == 0 {
		w.step(m, strategy.WorkDone{}) // it has failed
		return
	}
	point := protocol.Point{Coordinates: []float64{w.rng.Float64(), w.rng.Float64()}, Choices: []int{w.rng.IntN(3)}}
	w.step(m, strategy.WorkDone{Result: protocol.Candidate{Round: number, Point: point, VisiblePeers: len(w.agents) - 1}})
}

func (w *world) send(m *member, p strategy.Publish) {
	value, err := m.exchange.Decode(p.Payload)
	if err != nil {
		w.t.Fatal(err)
	}
	share := strategy.Share{Value: value}
	share.Author, share.Kind, share.Slot = m.id, protocol.CandidateKind, p.Slot
	for _, other := range w.agents {
		if other != m && w.rng.Float64() >= w.loss {
			w.after(w.upTo(w.slowest), func() { w.deliver(other, share) })
		}
	}
}

// deliver keeps the three highest slots of an author, in order, as an agent does.
func (w *world) deliver(to *member, share strategy.Share) {
	to.received = append(slices.Clone(to.received), &share)
	slices.SortFunc(to.received, func(a, b *strategy.Share) int {
		return cmp.Or(cmp.Compare(a.Author, b.Author), cmp.Compare(a.Slot, b.Slot))
	})
	for i, last := 0, 0; i < len(to.received); i++ {
		if to.received[i].Author != to.received[last].Author {
			last = i
		}
		if i-last == 3 {
			to.received = slices.Delete(to.received, last, last+1)
			break
		}
	}
	w.step(to, strategy.Received{Share: share})
}

// result checks what a round closes on and then evaluates for a while.
func (w *world) result(m *member, round Round) {
	if round.Open {
		return
	}
	if deadline := time.Duration(settingsOf(w.task).RoundTimeout) * time.Second; w.now-m.spoke > deadline {
		w.t.Fatalf("%s: round %d closes %v after the own candidate", m.id, round.Number, w.now-m.spoke)
	}
	for i, voice := range round.Candidates {
		_, there := slices.BinarySearch(round.Present, voice.Peer)
		if !there || voice.Peer == m.id || i > 0 && round.Candidates[i-1].Peer >= voice.Peer {
			w.t.Fatalf("%s: voices %+v among %v", m.id, round.Candidates, round.Present)
		}
	}
	if round.Own != nil {
		sum := 0.0
		for id, weight := range round.Weights(w.view(m), settingsOf(w.task)) {
			if sum += weight; weight < -tolerance {
				w.t.Fatalf("%s: round %d weighs %s with %g", m.id, round.Number, id, weight)
			}
		}
		if sum < 1-tolerance || sum > 1+tolerance {
			w.t.Fatalf("%s: the weights of round %d sum to %g", m.id, round.Number, sum)
		}
	}
	m.closed = append(m.closed, round)
	m.trials = append(m.trials, strategy.Trial{State: strategy.Running})
	trial := len(m.trials) - 1
	w.after(w.upTo(m.duration), func() {
		m.trials[trial].State = strategy.Done
		w.step(m, strategy.TrialsEnded{})
	})
}

// Whatever is delayed, reordered and lost, whoever leaves: all others finish all
// their rounds, none waits beyond its deadline, and no candidate counts twice.
func TestRoundsSurviveAnyNetwork(t *testing.T) {
	tasks := map[string]*task.Task{}
	for _, weights := range []string{"uniform", "metropolis"} {
		tasks[weights] = newTask(t, ", round_timeout: 30, weights: "+weights)
	}
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			t:       t,
			task:    tasks[rapid.SampledFrom([]string{"uniform", "metropolis"}).Draw(t, "weights")],
			rng:     rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
			loss:    rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "loss"),
			slowest: rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "slowest"),
		}
		for _, id := range members(rapid.IntRange(1, 5).Draw(t, "agents")) {
			exchange, err := newRounds(w.task)
			if err != nil {
				t.Fatal(err)
			}
			w.agents = append(w.agents, &member{
				id: id, exchange: exchange, trials: make([]strategy.Trial, 2), timers: map[string]time.Duration{},
				duration: rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 5 * time.Minute}).Draw(t, "duration"),
			})
		}
		for _, m := range w.agents {
			w.after(w.upTo(time.Minute), func() { w.step(m, strategy.Start{}) })
		}
		if leaver := rapid.IntRange(-1, len(w.agents)-1).Draw(t, "leaver"); leaver >= 0 {
			w.after(w.upTo(10*time.Minute), func() { w.agents[leaver].gone = true })
		}
		w.run()
		for _, m := range w.agents {
			if rounds := settingsOf(w.task).Rounds; !m.gone && len(m.closed) != rounds {
				t.Fatalf("%s has closed %d rounds of %d", m.id, len(m.closed), rounds)
			}
			if len(m.exchange.counted) > len(w.agents) {
				t.Fatalf("%s remembers %v", m.id, m.exchange.counted)
			}
			checkCounts(t, m)
		}
	})
}

func checkCounts(t *rapid.T, m *member) {
	type published struct {
		id    peer.ID
		round int
	}
	counts := map[published]int{}
	for _, round := range m.closed {
		for _, voice := range round.Candidates {
			counts[published{voice.Peer, voice.Candidate.Round}]++
		}
	}
	for s, n := range counts {
		if n > 1 {
			t.Fatalf("%s counts the candidate of %s of round %d in %d rounds", m.id, s.id, s.round, n)
		}
	}
}
