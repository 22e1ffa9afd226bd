package fair

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// sign returns a statement of a member.
func (w *world) sign(m *member, kind string, slot int, payload []byte, err error) []byte {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	share, ok := m.exchange.seal(kind, slot, payload)
	if !ok {
		w.t.Fatalf("a %s of member %d cannot be signed", kind, m.index)
	}
	return share.Envelope
}

func (w *world) evaluation(m *member, e protocol.Evaluation) []byte {
	w.t.Helper()
	payload, err := e.Encode(w.task.Space)
	return w.sign(m, evaluationKind, e.Number, payload, err)
}

// tell has a member say something to another, which answers at once.
func (w *world) tell(from, to *member, m protocol.FairMessage) (answers []strategy.Output) {
	w.t.Helper()
	data, err := m.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	return to.exchange.Step(w.view(to), strategy.Direct{From: from.id, Data: data})
}

// sends counts messages and their bytes.
func sends(outputs []strategy.Output) (count, bytes int) {
	for _, o := range outputs {
		if send, ok := o.(strategy.Send); ok {
			count++
			bytes += len(send.Data)
		}
	}
	return count, bytes
}

// point is a design of the tasks with two parameters, as it travels.
func (w *world) point(x, y float64) protocol.Point {
	return protocol.PointOf(w.task.Space, w.task.Space.Decode([]float64{x, y}))
}

// checkSpent fails unless these members have spent their budgets on what batches had for
// them.
func (w *world) checkSpent(name string, members ...*member) {
	w.t.Helper()
	for _, m := range members {
		if m.ended() != m.budget || m.assigned() != m.budget-2 {
			w.t.Errorf("%s: member %d has evaluated %d designs of %d, %d assigned; warnings %q", name, m.index, m.ended(), m.budget, m.assigned(), m.warnings)
		}
	}
}

// A party whose messages are nonsense, of any kind, is named by all whom they reach, and the
// others go on.
func TestFairBlamesAuthorsOfMalformedMessages(t *testing.T) { checkNonsense(t, "none") }

func checkNonsense(t *testing.T, modes ...string) {
	for way, mediator := range ways() {
		if !slices.Contains(modes, way) {
			continue
		}
		for name, say := range map[string]func(w *world, liar *member) []byte{
			"no message": func(*world, *member) []byte { return []byte{0xff, 0xff} },
			"no envelope": func(w *world, _ *member) []byte {
				data, _ := protocol.FairMessage{Shares: [][]byte{[]byte("signed")}}.Encode()
				return data
			},
			"another roster": func(*world, *member) []byte {
				data, _ := protocol.FairMessage{Progress: &protocol.Progress{Counts: make([]int, 9)}}.Encode()
				return data
			},
			"an evaluation in the slot of another": func(w *world, liar *member) []byte {
				payload, err := protocol.Evaluation{Number: 1, Point: w.point(0.5, 0.5)}.Encode(w.task.Space)
				data, _ := protocol.FairMessage{Shares: [][]byte{w.sign(liar, evaluationKind, 2, payload, err)}}.Encode()
				return data
			},
			"an evaluation of nothing": func(w *world, liar *member) []byte {
				data, _ := protocol.FairMessage{Shares: [][]byte{w.sign(liar, evaluationKind, 1, []byte{1, 2, 3}, nil)}}.Encode()
				return data
			},
			"a result that the process refuses": func(w *world, liar *member) []byte {
				far := -protocol.MaxUnit
				e := protocol.Evaluation{Number: 1, Point: w.point(0.5, 0.5), Value: &far}
				data, _ := protocol.FairMessage{Shares: [][]byte{w.evaluation(liar, e)}}.Encode()
				return data
			},
		} {
			definition := cheapTask(t, 3, mediator)
			if strings.Contains(name, "refuses") {
				definition = taskOf(t, 3, mediator, "hyperparameters: fixed, lengthscales: [0.4, 0.4], mean: 6, signal_std: 0.5, noise_std: 0.1", "")
			}
			w := newWorld(t, definition, 6)
			liar := w.members[2]
			w.bootAll()
			data := say(w, liar)
			for _, m := range w.members[:2] {
				w.step(m, strategy.Direct{From: liar.id, Data: data})
			}
			w.play(3 * time.Hour)
			w.checkSpent(way+", "+name, w.members...)
			for _, m := range w.members[:2] {
				if listens := mediator < 0 || m.index == mediator; listens && !m.warned("no honest party") {
					t.Errorf("%s, %s: member %d warns %q", way, name, m.index, m.warnings)
				}
			}
		}
	}
}

// taskOf is the task of cheapTask with another process or other keys of the strategy.
func taskOf(t testing.TB, n, mediator int, process, keys string) *task.Task {
	t.Helper()
	plain := cheapTask(t, n, mediator)
	if process == "" {
		process = "hyperparameters: fixed, lengthscales: [0.4, 0.4], mean: 6, signal_std: 4, noise_std: 0.1"
	}
	if c := settingsOf(plain); c.Mediator != "" {
		keys += ", mediator: " + c.Mediator.String()
	}
	var names []string
	for _, id := range settingsOf(plain).Roster {
		names = append(names, id.String())
	}
	return strategytest.Task(t, strategy.Set{Register()}, `
name: fair
goal: maximize
parameters:
  - {name: x, type: float, low: 0, high: 1, step: 0.125}
  - {name: y, type: float, low: 0, high: 1, step: 0.125}
surrogate: {features: 32, %s}
strategy: {type: fair, initial_designs: 2, round_timeout: 100, roster: [%s]%s}`, process, strings.Join(names, ", "), keys)
}

// A statement counts for its author, whoever passes it on, and to repeat what somebody has
// said makes nobody look bad.
func TestRepeatedStatements(t *testing.T) {
	w := newWorld(t, cheapTask(t, 3, noMediator), 5)
	liar := w.members[2]
	var received [][]byte
	liar.tamper = func(o strategy.Output) []strategy.Output {
		if send, ok := o.(strategy.Send); ok {
			m, err := protocol.DecodeFairMessage(send.Data, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range liar.exchange.book.entries {
				for _, e := range list {
					received = append(received, e.envelope)
				}
			}
			if liar.exchange.latest != nil {
				received = append(received, liar.exchange.latest)
			}
			m.Shares = append(m.Shares, received[max(0, len(received)-300):]...)
			if send.Data, err = m.Encode(); err != nil {
				t.Fatal(err)
			}
			return []strategy.Output{send}
		}
		return []strategy.Output{o}
	}
	w.bootAll()
	w.play(3 * time.Hour)
	w.settle(time.Minute)
	w.checkBooks()
	w.checkNoWarnings()
	w.checkSpent("repeated", w.members...)
}

// However many results of one evaluation a party signs, the others tell each other of it
// once a tick, and end up with the same.
func TestManyResultsOfOneEvaluation(t *testing.T) {
	w := newWorld(t, cheapTask(t, 4, noMediator), 5)
	w.bootAll()
	liar, victim := w.members[3], w.members[0]
	var all []entry
	for i := range 300 {
		value := float64(i)
		e := protocol.Evaluation{Number: 1, Point: w.point(0.5, 0.5), Value: &value}
		payload, _ := e.Encode(w.task.Space)
		all = append(all, entry{Evaluation: e, payload: payload, envelope: w.evaluation(liar, e)})
	}
	count := 0
	for _, e := range all {
		n, _ := sends(w.tell(liar, victim, protocol.FairMessage{Shares: [][]byte{e.envelope}}))
		count += n
	}
	if count > 0 {
		t.Errorf("%d messages about 300 results", count)
	}
	if count, bytes := sends(victim.exchange.Step(w.view(victim), strategy.Timer{Name: tickTimer})); count > 2*len(w.members) || bytes > 4000 {
		t.Errorf("%d messages with %d bytes at a tick", count, bytes)
	}
	// The largest hash is heard by another, which learns of the smallest.
	w.tell(liar, w.members[1], protocol.FairMessage{Shares: [][]byte{all[0].envelope}})
	for _, m := range w.members[:2] {
		for range 3 {
			w.step(m, strategy.Timer{Name: tickTimer})
			w.settle(time.Second)
		}
	}
	if a, b := w.members[0].exchange.book.entries[3], w.members[1].exchange.book.entries[3]; len(b) < 1 || !bytes.Equal(a[0].payload, b[0].payload) {
		t.Error("members 0 and 1 hold different results")
	}
}

// What a party says that it has, or has not, makes the others say no more than one message
// of bounded size between two ticks.
func TestTrafficForHoldingIsBounded(t *testing.T) {
	for way, mediator := range ways() {
		w := newWorld(t, cheapTask(t, 4, mediator), 8)
		w.bootAll()
		w.play(time.Hour)
		liar, victim := w.members[3], w.members[0] // the mediator, where there is one
		for _, h := range []protocol.Progress{
			{Counts: make([]int, 4)},
			{Counts: slices.Repeat([]int{1 << 24}, 4)},
			{Round: 1 << 24, Counts: make([]int, 4), Waiting: true},
			{Round: 1 << 24, Counts: slices.Repeat([]int{1 << 24}, 4)},
		} {
			victim.exchange.Step(w.view(victim), strategy.Timer{Name: tickTimer})
			count, size := 0, 0
			for range 50 {
				n, bytes := sends(w.tell(liar, victim, protocol.FairMessage{Progress: &h}))
				count, size = count+n, size+bytes
			}
			if count > 1 || size > maxSent+2000 {
				t.Errorf("%s: %+v, 50 times, is answered by %d messages with %d bytes", way, h, count, size)
			}
		}
	}
}

// Batches of rounds that cannot have been are neither followed nor computed, though two
// parties together can say that there were such rounds.
func TestBatchesOfFarRounds(t *testing.T) {
	for _, colluding := range []bool{false, true} {
		w := newWorld(t, cheapTask(t, 4, noMediator), 8)
		w.bootAll()
		w.play(time.Minute)
		liar, friend := w.members[3], w.members[2]
		round := 1<<24 - 16
		for w.members[0].exchange.turns.Leader(round, 0) != liar.id {
			round++
		}
		if colluding {
			e := protocol.Evaluation{Number: len(friend.exchange.book.entries[2]) + 1, Round: round - 1, Point: w.point(0.5, 0.5)}
			for _, m := range []*member{w.members[0], w.members[1], liar} {
				w.step(m, strategy.Direct{From: friend.id, Data: encode(t, protocol.FairMessage{Shares: [][]byte{w.evaluation(friend, e)}})})
			}
			friend.alive = false
		}
		counts := liar.exchange.book.counts()
		b := protocol.Batch{Round: round, Counts: counts, Heads: liar.exchange.book.heads(counts), Lengthscales: []float64{0.4, 0.4}, Noise: 0.000625}
		for party := range 4 {
			b.Assigned = append(b.Assigned, protocol.Assigned{Party: party, Point: w.point(0.5, 0.5)})
		}
		payload, err := b.Encode(w.task.Space)
		data := encode(t, protocol.FairMessage{Shares: [][]byte{w.sign(liar, batchKind, round, payload, err)}})
		liar.alive = false
		for _, m := range w.members[:2] {
			w.step(m, strategy.Direct{From: liar.id, Data: data})
		}
		w.play(3 * time.Hour)
		for _, m := range w.members[:2] {
			if m.ended() != 8 || m.result.Number > 20 {
				t.Errorf("colluding %v: member %d has evaluated %d designs of 8 and is in round %d; warnings %q", colluding, m.index, m.ended(), m.result.Number, m.warnings)
			}
			if colluding && !m.warned("cannot be of more than") {
				t.Errorf("member %d warns %q", m.index, m.warnings)
			}
		}
	}
}

func encode(t testing.TB, m protocol.FairMessage) []byte {
	t.Helper()
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// forge has a member alter the batches that it proposes.
func (w *world) forge(liar *member, alter func(b *protocol.Batch)) {
	n := len(w.members)
	liar.tamper = func(o strategy.Output) []strategy.Output {
		send, ok := o.(strategy.Send)
		if !ok {
			return []strategy.Output{o}
		}
		m, err := protocol.DecodeFairMessage(send.Data, n)
		if err != nil {
			w.t.Fatal(err)
		}
		for i, envelope := range m.Shares {
			share, _, _ := liar.exchange.open(envelope)
			if share.Kind != batchKind || share.Author != liar.id {
				continue
			}
			b, err := protocol.DecodeBatch(share.Payload, w.task.Space, n)
			if err != nil {
				w.t.Fatal(err)
			}
			alter(&b)
			payload, err := b.Encode(w.task.Space)
			m.Shares[i] = w.sign(liar, batchKind, b.Round, payload, err)
		}
		if send.Data, err = m.Encode(); err != nil {
			w.t.Fatal(err)
		}
		return []strategy.Output{send}
	}
}

// A design has to be one of the task's as it stands: another point of the same design would
// make whoever evaluates the design look disobedient, and is worth what no design is.
func TestPointsThatAreNoDesigns(t *testing.T) {
	w := newWorld(t, cheapTask(t, 3, noMediator), 6)
	w.forge(w.members[1], func(b *protocol.Batch) {
		for i := range b.Assigned {
			point := &b.Assigned[i].Point
			point.Coordinates = slices.Clone(point.Coordinates)
			point.Coordinates[0] += 1.0 / (1 << 20)
			if point.Coordinates[0] > 1 {
				point.Coordinates[0] = 1 - 1.0/(1<<20)
			}
		}
	})
	w.bootAll()
	w.play(3 * time.Hour)
	w.checkSpent("points between designs", w.members...)
	for _, m := range w.members {
		if m.index != 1 && !m.warned("none of those that it can evaluate") {
			t.Errorf("member %d warns %q", m.index, m.warnings)
		}
	}
}

// Where the batch of the largest sum is dealt out, whoever proposes may not deal to itself.
func TestTwoStepsAreDealtOut(t *testing.T) {
	w := newWorld(t, taskOf(t, 3, noMediator, "", ", batch: two-step"), 8)
	swapped := 0
	w.forge(w.members[1], func(b *protocol.Batch) {
		if len(b.Assigned) == 3 {
			a := b.Assigned
			a[0].Point, a[1].Point, a[2].Point = a[2].Point, a[0].Point, a[1].Point
			swapped++
		}
	})
	w.bootAll()
	w.play(3 * time.Hour)
	w.checkSpent("dealt out", w.members...)
	for _, m := range w.members {
		if m.index != 1 && !m.warned("not for who has gained least") {
			t.Errorf("member %d warns %q; %d batches were dealt otherwise", m.index, m.warnings, swapped)
		}
	}
}

// A computation that fails is not tried again before the next tick.
func TestAFailureIsFollowedByAPause(t *testing.T) {
	for way, mediator := range ways() {
		w := newWorld(t, cheapTask(t, 2, mediator), 5)
		w.bootAll()
		w.play(12 * time.Second)
		m := w.members[0]
		works := 0
		in := strategy.Input(strategy.WorkDone{Name: "batch", Err: fmt.Errorf("no")})
		m.exchange.working = true
		for range 20 {
			for _, o := range m.exchange.Step(w.view(m), in) {
				if _, ok := o.(strategy.Work); ok {
					works++
				}
			}
			in = strategy.TrialsEnded{}
		}
		if works > 0 {
			t.Errorf("%s: %d further computations", way, works)
		}
	}
}

// FuzzExchange gives an exchange any inputs: each command is a byte for what happens and two
// for whom and how much, with as many bytes of data behind it. Statements can be signed
// properly, so that fuzzing reaches what is behind signatures.
func FuzzExchange(f *testing.F) {
	f.Add([]byte{0, 1, 3, 1, 2, 3, 1, 0, 0, 2, 1, 0, 3, 0, 0, 4, 0, 0})
	f.Add(binary.AppendUvarint([]byte{5, 1, 8}, 1<<40))
	worlds := []*task.Task{cheapTask(f, 3, noMediator), cheapTask(f, 3, 0)}
	w := newWorld(f, worlds[0], 4)
	w.bootAll()
	w.play(time.Minute)
	for _, message := range []protocol.FairMessage{
		{Shares: [][]byte{w.members[1].exchange.latest}},
		{Progress: &protocol.Progress{Counts: []int{1, 2, 3}}, Notices: []protocol.Notice{{Party: 1, Reason: 3}}},
	} {
		data := encode(f, message)
		f.Add(append([]byte{0, 1, byte(min(len(data), 255))}, data...))
	}
	for _, list := range w.members[0].exchange.book.entries {
		f.Add(append([]byte{5, 1, byte(len(list[0].payload))}, list[0].payload...))
	}
	share, _, _ := w.members[0].exchange.open(w.members[0].exchange.latest)
	f.Add(append([]byte{6, 1, byte(min(len(share.Payload), 255))}, share.Payload...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		for _, definition := range worlds {
			w := newWorld(t, definition, 4)
			for i := range w.members {
				w.boot(i)
			}
			m := w.members[len(data)%2] // with a mediator, it or another party
			script := data
			for len(script) >= 3 {
				what, who, size := script[0]%9, w.members[int(script[1])%3], int(script[2])
				script = script[3:]
				text := script[:min(size, len(script))]
				script = script[len(text):]
				switch what {
				case 0:
					w.step(m, strategy.Direct{From: who.id, Data: text})
				case 1:
					w.settle(time.Duration(size) * time.Second)
				case 2:
					w.step(m, strategy.Timer{Name: string(text)})
				case 3:
					w.step(m, strategy.Timer{Name: fmt.Sprintf("%s %d", deadlineTimer, m.exchange.barrier.Number())})
				case 4:
					w.step(m, strategy.Timer{Name: turnTimer + " " + m.exchange.turnName()})
				case 5, 6, 7:
					kind := []string{evaluationKind, batchKind, assignmentKind}[what-5]
					slot := max(1, int(slotOf(text)))
					if share, ok := who.exchange.seal(kind, slot, text); ok {
						message := protocol.FairMessage{Shares: [][]byte{share.Envelope}}
						w.step(m, strategy.Direct{From: w.members[(who.index+size)%3].id, Data: encode(t, message)})
					}
				case 8:
					w.crash(m.index)
					if size%2 == 1 {
						m.journal = append(m.journal, text)
					}
					w.boot(m.index)
				}
			}
			w.settle(10 * time.Second)
		}
	})
}

// slotOf returns the number in the first field of a payload, which is its slot.
func slotOf(text []byte) uint64 {
	if len(text) < 2 {
		return 0
	}
	n, _ := binary.Uvarint(text[1:])
	return min(n, 1<<25)
}
