package agent

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

var update = flag.Bool("update", false, "write the answers in testdata anew")

// TestTranscripts replays the transcripts in testdata: a command per line and, indented below
// it, its results. `go test ./internal/agent -run Transcripts -update` rewrites the results;
// review the changes before committing them.
//
//	agents N TASK KEYS    N agents; KEYS are those of the task's strategy, with @1 for the
//	                      name of agent 1 and so on
//	ask N                 the request numbers count from 1 for each agent
//	tell N ID VALUE       fail N ID REASON   return N ID   cancel N REQUEST
//	run N COUNT           ask and tell the bowl's value
//	deliver [to N]        what is on the network reaches its receivers, in order
//	drop [to N]           what is on the network is lost
//	sync N FROM           N fetches from FROM what it lacks
//	pass SPAN             time passes for all, with a Tick at every Wake
//	sleep SPAN            the clock jumps for all, as over a night; then one Tick each
//	first N DESIGN…       what agent N, which is down, is to evaluate first; JSON
//	crash N  stop N  start N  forget N     forget loses the journal of an agent that is down
//	status
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(data))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(data) {
				t.Errorf("%s\n%s", file, firstDifference(string(data), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return fmt.Sprintf("line %d:\nwant %s\ngot  %s", i+1, wants[i], gots[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(gots), len(wants))
}

const indent = "    "

func play(t *testing.T, script string) string {
	s := &stage{t: t, names: map[peer.ID]int{}}
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, indent) {
			continue // an earlier answer
		}
		fmt.Fprintln(&s.out, line)
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			s.command(words)
		}
	}
	return s.out.String()
}

// stage is where agents meet.
type stage struct {
	t       *testing.T
	task    *task.Task
	now     time.Time
	agents  []*driver // nil while it is down
	backs   []*driver // the same, never nil
	names   map[peer.ID]int
	network []letter
	out     strings.Builder
}

type letter struct {
	from, to int
	share    protocol.Share
	direct   *Direct // instead of a share
}

func (s *stage) say(format string, args ...any) {
	fmt.Fprintf(&s.out, indent+format+"\n", args...)
}

func (s *stage) command(words []string) {
	number := func(i int) int {
		if i >= len(words) {
			s.t.Fatalf("%v: too few words", words)
		}
		n, err := strconv.Atoi(words[i])
		if err != nil {
			s.t.Fatalf("%v: %v", words, err)
		}
		return n
	}
	switch words[0] {
	case "agents":
		s.open(number(1), words[2], strings.Join(words[3:], " "))
	case "deliver", "drop":
		to := 0
		if len(words) > 1 {
			to = number(2)
		}
		s.deliver(to, words[0] == "drop")
	case "pass", "sleep":
		span, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		if words[0] == "sleep" {
			s.now = s.now.Add(span)
			span = 0
		}
		s.pass(span)
	case "status":
		s.status()
	case "sync":
		s.sync(number(1), number(2))
	case "start":
		s.start(number(1))
	case "first":
		s.first(number(1), words[2:])
	case "forget":
		s.backs[number(1)-1].journal = nil
	default:
		n := number(1)
		d := s.agents[n-1]
		if d == nil {
			s.t.Fatalf("%v: agent %d is down", words, n)
		}
		s.one(n, d, words, number)
	}
}

// one carries out a command to one agent.
func (s *stage) one(n int, d *driver, words []string, number func(int) int) {
	var err error
	switch words[0] {
	case "ask":
		d.requests++
		d.agent.Ask(d.now, d.requests)
	case "tell":
		value, bad := strconv.ParseFloat(words[3], 64)
		if bad != nil {
			s.t.Fatal(bad)
		}
		err = d.agent.Tell(d.now, uint64(number(2)), strategy.Outcome{Value: value})
	case "fail":
		err = d.agent.Fail(d.now, uint64(number(2)), strings.Join(words[3:], " "))
	case "return":
		err = d.agent.Requeue(d.now, uint64(number(2)))
	case "cancel":
		d.agent.Cancel(uint64(number(2)))
	case "run":
		for range number(2) {
			trial := d.ask()
			d.tell(trial.ID, bowl(trial.Design))
		}
	case "stop":
		d.agent.Stop(d.now)
		d.carryOut()
		s.tellOf(n, d)
		s.agents[n-1] = nil
		return
	case "crash":
		s.agents[n-1] = nil
		return
	default:
		s.t.Fatalf("unknown command %v", words)
	}
	if err != nil {
		s.say("error: %v", err)
	}
	d.carryOut()
	s.tellOf(n, d)
}

func (s *stage) open(n int, name, keys string) {
	for i := range n {
		id, err := peer.IDFromPrivateKey(fbotest.Key(s.t, i+1))
		if err != nil {
			s.t.Fatal(err)
		}
		s.names[id] = i + 1
		keys = strings.ReplaceAll(keys, fmt.Sprintf("@%d", i+1), id.String())
	}
	spec := newTask(s.t, name, keys)
	s.task, s.now = spec, epochStart
	s.agents, s.backs = make([]*driver, n), make([]*driver, n)
	for i := range n {
		cfg := configOf(s.t, spec, byte(i+1))
		cfg.Lease = time.Minute
		d := &driver{t: s.t, cfg: cfg, stamps: map[protocol.Stamp][32]byte{}}
		s.backs[i] = d
	}
	for i := range n {
		s.start(i + 1)
	}
}

func (s *stage) first(n int, texts []string) {
	d := s.backs[n-1]
	d.cfg.Enqueue = nil
	for _, text := range texts {
		design, err := d.cfg.Task.Space.UnmarshalDesign([]byte(text))
		if err != nil {
			s.t.Fatal(err)
		}
		d.cfg.Enqueue = append(d.cfg.Enqueue, design)
	}
}

func (s *stage) start(n int) {
	d := s.backs[n-1]
	d.now, d.events = s.now, nil
	d.journal = compact(s.t, d.journal)
	s.agents[n-1] = d
	d.start()
	s.tellOf(n, d)
}

// tellOf writes what an agent has done since it was last asked.
func (s *stage) tellOf(n int, d *driver) {
	for _, r := range d.records[d.shown:] {
		if text := s.record(r); text != "" {
			s.say("%d journals %s", n, text)
		}
	}
	d.shown = len(d.records)
	for _, share := range d.take() {
		s.say("%d publishes %s %v, %d bytes", n, share.Kind, share.Stamp, len(share.Envelope))
		for to := range s.agents {
			if to+1 != n {
				s.network = append(s.network, letter{from: n, to: to + 1, share: share})
			}
		}
	}
	for _, message := range d.sent {
		s.say("%d says to %d: %s", n, s.names[message.To], s.message(message.Data))
		s.network = append(s.network, letter{from: n, to: s.names[message.To], direct: &message})
	}
	d.sent = nil
	for _, answer := range d.answers {
		if answer.Err != nil {
			s.say("%d answers request %d: %v", n, answer.Request, answer.Err)
			continue
		}
		s.say("%d answers request %d: trial %d, attempt %d: %v (%s)", n, answer.Request, answer.Trial.ID,
			answer.Trial.Attempts, answer.Trial.Design, s.why(answer.Trial.Why))
	}
	d.answers = nil
	for _, event := range d.events {
		if event.Type == Warning {
			s.say("%d warns: %s", n, event.Message)
		}
	}
	d.events = nil
}

func (s *stage) record(r Record) string {
	switch {
	case r.Task != nil: // with every start, and always the same
		return ""
	case r.Epoch != nil:
		return fmt.Sprintf("epoch %d", r.Epoch.Epoch)
	case r.Trial != nil:
		return fmt.Sprintf("trial %d %s", r.Trial.ID, r.Trial.Design)
	case r.Offer != nil:
		return fmt.Sprintf("offer of trial %d", r.Offer.ID)
	case r.Return != nil:
		return fmt.Sprintf("return of trial %d", r.Return.ID)
	case r.Tell != nil:
		return fmt.Sprintf("outcome %.3g of trial %d", r.Tell.Outcome.Value, r.Tell.ID)
	case r.Fail != nil:
		return fmt.Sprintf("failure of trial %d: %s", r.Fail.ID, r.Fail.Reason)
	case r.Fit != nil && r.Fit.Hyperparameters.Prior != nil:
		return fmt.Sprintf("fit to %d observations, by a prior of peers", r.Fit.Observations)
	case r.Fit != nil:
		return fmt.Sprintf("fit to %d observations", r.Fit.Observations)
	case r.Sent != nil:
		return fmt.Sprintf("share of kind %s", r.Sent.Kind)
	case r.Note != nil && r.Note.Exchange == protocol.FairKind:
		return fmt.Sprintf("note of fair: %s", s.note(r.Note.Data))
	case r.Note != nil:
		return fmt.Sprintf("note of %s: %s", r.Note.Exchange, r.Note.Data)
	}
	return "nothing"
}

// note says what an exchange of fair batches has taken down: a letter, for own evaluations
// the number of the trial, and a statement.
func (s *stage) note(data []byte) string {
	body := data[1:]
	if data[0] == 'o' {
		_, size := binary.Uvarint(body)
		body = body[size:]
	}
	return s.statement(body)
}

// message is what one agent says to another about fair batches.
func (s *stage) message(data []byte) string {
	m, err := protocol.DecodeFairMessage(data, len(s.agents))
	if err != nil {
		s.t.Fatal(err)
	}
	var parts []string
	for _, envelope := range m.Shares {
		parts = append(parts, s.statement(envelope))
	}
	if h := m.Progress; h != nil {
		text := fmt.Sprintf("has round %d and %v evaluations", h.Round, s.inOrder(h.Counts))
		if h.Waiting {
			text += ", waits"
		}
		parts = append(parts, text)
	}
	for _, n := range m.Notices {
		parts = append(parts, fmt.Sprintf("names agent %d for %d", s.names[s.roster()[n.Party]], n.Reason))
	}
	return strings.Join(parts, "; ")
}

func (s *stage) statement(envelope []byte) string {
	share, err := protocol.Open(envelope)
	if err != nil {
		s.t.Fatal(err)
	}
	text := fmt.Sprintf("%s %d of agent %d", share.Kind, share.Slot, s.names[share.Author])
	switch share.Kind {
	case "batch":
		b, err := protocol.DecodeBatch(share.Payload, s.task.Space, len(s.agents))
		if err != nil {
			s.t.Fatal(err)
		}
		served := make([]int, len(b.Assigned))
		for i, a := range b.Assigned {
			served[i] = s.names[s.roster()[a.Party]]
		}
		slices.Sort(served)
		return fmt.Sprintf("%s on %v evaluations, turn %d, for %v", text, s.inOrder(b.Counts), b.Turn, served)
	case "assignment":
		a, err := protocol.DecodeAssignment(share.Payload, s.task.Space)
		if err != nil {
			s.t.Fatal(err)
		}
		return fmt.Sprintf("%s for agent %d, one of %d", text, s.names[a.Party], a.Parties)
	}
	return text
}

func (s *stage) roster() []peer.ID {
	var form struct{ Strategy struct{ Roster []peer.ID } }
	if err := json.Unmarshal(s.task.Canonical(), &form); err != nil {
		s.t.Fatal(err)
	}
	return form.Strategy.Roster
}

// inOrder sorts what is in order of the roster by agents.
func (s *stage) inOrder(counts []int) []int {
	sorted := make([]int, len(counts))
	for party, count := range counts {
		sorted[s.names[s.roster()[party]]-1] = count
	}
	return sorted
}

func (s *stage) why(w strategy.Why) string {
	text := string(w.Source)
	if w.Stamp != nil {
		text += fmt.Sprintf(", draw %v of agent %d on %d observations", w.Stamp, s.names[w.Peer], w.Observations)
	}
	if w.OwnProbability != nil {
		text += fmt.Sprintf(", own chance %.3g", *w.OwnProbability)
	}
	return text
}

func (s *stage) deliver(to int, lost bool) {
	letters := s.network
	s.network = nil
	for _, l := range letters {
		d := s.agents[l.to-1]
		switch {
		case to != 0 && l.to != to:
			s.network = append(s.network, l)
		case l.direct != nil && (lost || d == nil):
			s.say("%d -> %d: %s lost", l.from, l.to, s.message(l.direct.Data))
		case l.direct != nil:
			s.say("%d -> %d: %s", l.from, l.to, s.message(l.direct.Data))
			d.agent.Direct(d.now, s.backs[l.from-1].self(), l.direct.Exchange, l.direct.Data)
			d.carryOut()
			s.tellOf(l.to, d)
		case lost || d == nil:
			s.say("%d -> %d: %s %v lost", l.from, l.to, l.share.Kind, l.share.Stamp)
		default:
			result := d.receive(l.share)
			s.say("%d -> %d: %s %v %s", l.from, l.to, l.share.Kind, l.share.Stamp, result)
			s.tellOf(l.to, d)
		}
	}
}

func (s *stage) sync(n, from int) {
	receiver, sender := s.agents[n-1], s.agents[from-1]
	for _, item := range sender.agent.Since(s.now, receiver.agent.Digest()) {
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			s.t.Fatal(err)
		}
		result, _ := receiver.agent.Receive(s.now, share, item.Age)
		receiver.carryOut()
		s.say("%d -> %d: %s %v of agent %d, %v old: %s", from, n, share.Kind, share.Stamp, s.names[share.Author], item.Age, result)
		s.tellOf(n, receiver)
	}
}

// pass wakes the agents in the order of their Wakes.
func (s *stage) pass(span time.Duration) {
	end := s.now.Add(span)
	for range 10000 {
		next := 0
		for i, d := range s.agents {
			if d != nil && !d.wake.IsZero() && !d.wake.After(end) && (next == 0 || d.wake.Before(s.agents[next-1].wake)) {
				next = i + 1
			}
		}
		if next == 0 {
			break
		}
		d := s.agents[next-1]
		s.now = later(s.now, d.wake)
		d.now = s.now
		d.agent.Tick(d.now)
		d.carryOut()
		if len(d.records)-d.shown+len(d.published)+len(d.sent)+len(d.events) > 0 {
			s.say("(%v)", s.now.Sub(epochStart))
		}
		s.tellOf(next, d)
	}
	s.now = end
	for _, d := range s.agents {
		if d != nil {
			d.now = end
		}
	}
}

func (s *stage) status() {
	for i, d := range s.agents {
		if d == nil {
			s.say("%d is down", i+1)
			continue
		}
		var present []int
		result := d.agent.Present(s.now)
		for _, id := range result.Present {
			present = append(present, s.names[id])
		}
		slices.Sort(present)
		agreed := "agreed"
		if !result.Agreed {
			agreed = "not agreed"
		}
		states := map[strategy.State]int{}
		for _, trial := range d.agent.Trials() {
			states[trial.State]++
		}
		best := "none"
		if b := d.agent.Best(); b != nil {
			best = fmt.Sprintf("%.3g in trial %d", b.Outcome.Value, b.ID)
		}
		s.say("%d: epoch %d, trials %v, best %s, present %v (%s)", i+1, d.agent.Epoch(), states, best, present, agreed)
	}
}
