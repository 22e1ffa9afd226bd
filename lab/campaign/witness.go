package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// witness notes what has left the members, and compares their states with it.
type witness struct {
	w        *world
	members  map[*member]*facts
	stamps   map[stamp][32]byte
	due      map[*member]map[protocol.Key]protocol.Stamp // shares that all members must have after Settling
	totals   map[int]string                              // by round: the contributors and the sum
	vectors  map[int]map[int][]int64                     // by round and index on the roster: the contributions
	offers   map[[protocol.SessionBytes]byte]offer       // comparisons that began after Calm
	complete bool                                        // all exchanges have made progress after Calm
}

// facts are about one member.
type facts struct {
	designs  map[uint64]string          // designs that the evaluator has received
	reported map[uint64][]float64       // values that it has reported
	acked    map[uint64]float64         // values that were acknowledged
	replies  map[agent.Once]uint64      // replies that a client has received
	releases map[string]map[string]bool // by kind of share: payloads of releases that have left
	released int                        // number of releases that its journal has counted
	spent    map[uint64]int             // trials in contributions, with the round
	atCalm   progress                   // at Calm
	verdicts map[*member]int            // comparisons after Calm that ended, by peer
}

// offer is a comparison that a member has begun.
type offer struct {
	from, to *member
	at       time.Duration
	ended    bool
}

// progress counts what must grow after Calm.
type progress struct{ ended, released, sums int }

type stamp struct {
	author peer.ID
	protocol.Stamp
}

func newWitness(w *world) witness {
	return witness{
		w: w, members: map[*member]*facts{}, stamps: map[stamp][32]byte{}, totals: map[int]string{},
		vectors: map[int]map[int][]int64{}, offers: map[[protocol.SessionBytes]byte]offer{},
	}
}

func (t *witness) of(m *member) *facts {
	f := t.members[m]
	if f == nil {
		f = &facts{
			designs: map[uint64]string{}, reported: map[uint64][]float64{}, acked: map[uint64]float64{}, replies: map[agent.Once]uint64{},
			releases: map[string]map[string]bool{}, spent: map[uint64]int{}, verdicts: map[*member]int{},
		}
		t.members[m] = f
	}
	return f
}

// answered notes that the evaluator has received a trial.
func (t *witness) answered(m *member, trial strategy.Trial) {
	known, ok := t.of(m).designs[trial.ID]
	if design := trial.Design.Key(); ok && known != design {
		t.w.fail("%v: trial %d has design %s, and had %s before", m, trial.ID, design, known)
	} else {
		t.of(m).designs[trial.ID] = design
	}
}

// replied notes that a client has received the reply to a request with a key.
func (t *witness) replied(m *member, once agent.Once, id uint64) {
	if known, ok := t.of(m).replies[once]; ok && known != id {
		t.w.fail("%v: request %s received trial %d, and trial %d before", m, once.Key, id, known)
	}
	t.of(m).replies[once] = id
}

// reports notes that an outcome is reported, whether it is acknowledged or not.
func (t *witness) reports(m *member, id uint64, outcome strategy.Outcome) {
	f := t.of(m)
	f.reported[id] = append(f.reported[id], outcome.Value)
}

// acknowledged notes that a report of an outcome has returned without an error.
func (t *witness) acknowledged(m *member, id uint64, outcome strategy.Outcome) {
	f := t.of(m)
	if _, known := f.acked[id]; !known {
		t.w.result.Trials++
	}
	f.acked[id] = outcome.Value
	t.trials(m)
}

// trials compares the trials of a member with those that were acknowledged.
func (t *witness) trials(m *member) {
	f, trials := t.of(m), m.agent.Trials()
	for i, trial := range trials {
		if trial.ID != uint64(i)+1 {
			t.w.fail("%v: trial %d stands at place %d", m, trial.ID, i+1)
		}
		if design, known := f.designs[trial.ID]; known && design != trial.Design.Key() {
			t.w.fail("%v: trial %d has design %s, and its evaluator received %s", m, trial.ID, trial.Design.Key(), design)
		}
		value, acknowledged := f.acked[trial.ID]
		switch {
		case trial.State == strategy.Done && !slices.Contains(f.reported[trial.ID], trial.Outcome.Value):
			t.w.fail("%v: trial %d has outcome %v, and %v were reported", m, trial.ID, trial.Outcome.Value, f.reported[trial.ID])
		case acknowledged && (trial.State != strategy.Done || trial.Outcome.Value != value):
			t.w.fail("%v: outcome %v of trial %d was acknowledged; the trial is %s", m, value, trial.ID, trial.State)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.designs)) {
		if id > uint64(len(trials)) {
			t.w.fail("%v: trial %d was answered, and only %d exist", m, id, len(trials))
		}
	}
}

// started compares a member that has just started with what it did before.
func (t *witness) started(m *member) {
	t.trials(m)
	t.privacy(m)
	for once, id := range t.of(m).replies {
		if reply, known, err := m.agent.Replied(once); err != nil || !known || !slices.Equal(reply.Trials, []uint64{id}) {
			t.w.fail("%v: request %s received trial %d; after a start the reply is %v, %v", m, once.Key, id, reply, err)
		}
	}
}

// spentOf returns the privacy account of a member; ok is false without one.
func (m *member) spentOf() (s strategy.PrivacySpent, ok bool) {
	for _, item := range m.agent.Status() {
		if item.Key == strategy.PrivacyKey {
			data, _ := item.Value.(json.RawMessage)
			return s, json.Unmarshal(data, &s) == nil
		}
	}
	return s, false
}

// privacy checks that the account of releases neither shrinks nor exceeds the plan.
func (t *witness) privacy(m *member) {
	if t.w.task.Privacy == nil {
		return
	}
	f := t.of(m)
	s, ok := m.spentOf()
	switch {
	case !ok:
		t.w.fail("%v has no privacy account", m)
	case s.Refused != "":
		t.w.fail("%v refuses releases: %s", m, s.Refused)
	case s.Released < f.released:
		t.w.fail("%v counts %d releases, and has counted %d", m, s.Released, f.released)
	case s.Released > t.w.task.Privacy.Releases:
		t.w.fail("%v counts %d releases of %d", m, s.Released, t.w.task.Privacy.Releases)
	}
	for kind, payloads := range f.releases {
		if len(payloads) > s.Released {
			t.w.fail("%v counts %d releases, and %d different shares %s have left it", m, s.Released, len(payloads), kind)
		}
	}
}

// published checks a share that leaves a member.
func (t *witness) published(m *member, share protocol.Share) {
	at := stamp{share.Author, share.Stamp}
	if known, ok := t.stamps[at]; ok && known != share.Digest {
		t.w.fail("%v: stamp %v of a share %s is on another share", m, share.Stamp, share.Kind)
	}
	t.stamps[at] = share.Digest
	if (t.w.Task == taskPrivate || t.w.Task == taskSpent) && share.Kind != presence.Kind && share.Kind != protocol.ReceiptKind {
		payloads := t.of(m).releases[share.Kind]
		if payloads == nil {
			payloads = map[string]bool{}
			t.of(m).releases[share.Kind] = payloads
		}
		payloads[string(share.Payload)] = true
	}
}

// wrote checks the records of an append that is on disk.
func (t *witness) wrote(m *member, records []agent.Record) {
	f := t.of(m)
	for _, r := range records {
		if r.Note == nil {
			continue
		}
		switch {
		case r.Note.Exchange == sums.Kind:
			t.contribution(m, r.Note.Data)
		case t.w.task.Privacy != nil && bytes.Contains(r.Note.Data, []byte(`"release":`)):
			var entry struct{ Release int }
			data := r.Note.Data[bytes.IndexByte(r.Note.Data, '{'):]
			if json.Unmarshal(data, &entry) == nil && entry.Release > 0 {
				if entry.Release != f.released+1 {
					t.w.fail("%v makes release %d after release %d", m, entry.Release, f.released)
				}
				f.released = entry.Release
			}
		}
	}
}

// contribution checks a record of the exchange of sums: of a contribution or of a sum.
func (t *witness) contribution(m *member, data []byte) {
	if len(data) == 0 {
		return
	}
	index, _ := slices.BinarySearch(t.w.task.Roster(), m.id)
	switch tag, body := data[0], data[1:]; tag {
	case 'd':
		var dealt struct {
			Round  int
			Trials []uint64
			Vector []int64
		}
		m.must(json.Unmarshal(body, &dealt))
		for _, id := range dealt.Trials {
			if round, spent := t.of(m).spent[id]; spent {
				t.w.fail("%v contributes trial %d in rounds %d and %d", m, id, round, dealt.Round)
			}
			t.of(m).spent[id] = dealt.Round
		}
		if t.vectors[dealt.Round] == nil {
			t.vectors[dealt.Round] = map[int][]int64{}
		}
		if t.vectors[dealt.Round][index] != nil {
			t.w.fail("%v contributes twice in round %d", m, dealt.Round)
		}
		t.vectors[dealt.Round][index] = dealt.Vector
	case 'a':
		var total struct {
			Round        int
			Contributors []int
			Vector       []int64
		}
		m.must(json.Unmarshal(body, &total))
		text := fmt.Sprint(total.Contributors, total.Vector)
		if known, ok := t.totals[total.Round]; ok && known != text {
			t.w.fail("%v has another sum of round %d: %s, others have %s", m, total.Round, text, known)
		}
		t.totals[total.Round] = text
		want := make([]int64, len(total.Vector))
		for _, i := range total.Contributors {
			vector := t.vectors[total.Round][i]
			if vector == nil {
				t.w.fail("%v: round %d has a contribution of %d, who made none", m, total.Round, i)
				return
			}
			for k, v := range vector {
				want[k] += v
			}
		}
		if !slices.Equal(want, total.Vector) {
			t.w.fail("%v: round %d has the sum %v, its contributions add up to %v", m, total.Round, total.Vector, want)
		}
	case 'r':
		t.w.fail("%v contributes nothing more: %s", m, body)
	}
}

// direct notes the comparisons that begin and end after Calm.
func (t *witness) direct(from, to *member, d protocol.Direct) {
	if t.w.Task != taskThreshold || t.w.now() < Calm {
		return
	}
	c, err := protocol.DecodeComparison(d.Data, t.w.task.Space)
	if from.must(err); err != nil {
		return
	}
	switch o := t.offers[c.Session]; {
	case c.Offer != nil && o.from == nil:
		t.offers[c.Session] = offer{from: from, to: to, at: t.w.now()}
	case (c.Verdict != nil || c.Refusal != 0) && o.from != nil:
		if c.Verdict != nil && !o.ended {
			t.of(from).verdicts[to]++
		}
		o.ended = true
		t.offers[c.Session] = o
	}
}

// own returns the valid shares of a member itself that it sends to a peer that asks for them.
func (t *witness) own(m *member) map[protocol.Key]protocol.Stamp {
	own := map[protocol.Key]protocol.Stamp{}
	for _, item := range m.agent.Since(m.clock(), nil) {
		share, err := protocol.Open(item.Envelope)
		if m.must(err); err == nil && share.Author == m.id && share.Kind != presence.Kind && share.Kind != protocol.ReceiptKind {
			own[share.Key] = share.Stamp
		}
	}
	return own
}

// calm notes the state at the end of the faults.
func (t *witness) calm() {
	t.due = map[*member]map[protocol.Key]protocol.Stamp{}
	for _, m := range t.w.members {
		if !m.up() {
			t.w.fail("%v is down after the faults", m)
			return
		}
		t.due[m] = t.own(m)
		t.of(m).atCalm = t.progress(m)
	}
}

func (t *witness) progress(m *member) (p progress) {
	for _, trial := range m.agent.Trials() {
		if trial.State.Ended() {
			p.ended++
		}
	}
	s, _ := m.spentOf()
	p.released = s.Released
	p.sums = len(t.totals)
	return p
}

// settled checks that the shares from before Calm have arrived.
func (t *witness) settled() {
	t.delivered(t.due)
	t.review()
}

func (t *witness) delivered(due map[*member]map[protocol.Key]protocol.Stamp) {
	for _, from := range t.w.members {
		for _, to := range t.w.members {
			if from == to || !to.up() {
				continue
			}
			held := map[protocol.Key]protocol.Stamp{}
			highest := map[string]protocol.Stamp{}
			for _, id := range to.agent.Digest() {
				held[id.Key] = id.Stamp
				if id.Author == from.id && highest[id.Kind].Compare(id.Stamp) < 0 {
					highest[id.Kind] = id.Stamp
				}
			}
			for key, stamp := range due[from] {
				if held[key].Compare(stamp) < 0 && highest[key.Kind].Compare(stamp) < 0 {
					t.w.fail("%v lacks share %s %v of %v, %v after the faults", to, key.Kind, stamp, from, t.w.now()-Calm)
				}
			}
		}
	}
}

// review ends the run once all exchanges have made progress, and looks again later otherwise.
func (t *witness) review() {
	if len(t.missing()) == 0 {
		t.complete = true
		return
	}
	t.w.after(10*time.Second, func() error { t.review(); return nil })
}

// missing lists what must still happen after Calm.
func (t *witness) missing() (list []string) {
	complete := len(t.w.members) == rosterOf(t.w.Task)
	for _, m := range t.w.members {
		if !m.up() {
			return append(list, fmt.Sprintf("%v is down", m))
		}
		f, now := t.of(m), t.progress(m)
		add := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("%v ", m)+fmt.Sprintf(format, args...))
		}
		if now.ended < f.atCalm.ended+2 {
			add("has ended %d trials", now.ended-f.atCalm.ended)
		}
		switch {
		case t.w.Task == taskPrivate && t.remembered(m):
			if now.released < t.w.task.Privacy.Releases && now.released == f.atCalm.released {
				add("has made no release")
			}
		case t.w.Task == taskThreshold:
			for _, peer := range t.w.members {
				if peer != m && f.verdicts[peer] == 0 {
					add("has ended no comparison with %v", peer)
				}
			}
		case t.w.Task == taskSum && complete:
			if now.sums == f.atCalm.sums {
				add("has received no sum")
			}
		case t.w.Task == taskAggregate && complete:
			if now.released < t.w.task.Privacy.Releases && now.released == f.atCalm.released {
				add("has made no contribution")
			}
		}
	}
	for _, o := range t.offers {
		if !o.ended && t.w.now()-o.at > 2*time.Minute {
			list = append(list, fmt.Sprintf("the comparison of %v with %v from %v has no end", o.from, o.to, o.at))
		}
	}
	slices.Sort(list)
	return list
}

// remembered reports whether another member has never lost what it stored about a member. Without such
// a peer, a member whose peers have forgotten its releases makes no further ones, by design.
func (t *witness) remembered(m *member) bool {
	return slices.ContainsFunc(t.w.members, func(other *member) bool { return other != m && !other.damaged })
}

// end checks the state at the end of the run.
func (t *witness) end() {
	for _, m := range t.w.members {
		if m.up() {
			t.w.logf("%v: %+v now, %+v at calm, verdicts %v, spent %d, released %d", m, t.progress(m), t.of(m).atCalm, t.of(m).verdicts, len(t.of(m).spent), t.of(m).released)
		}
		if m.up() {
			t.trials(m)
			t.privacy(m)
		}
	}
	if list := t.missing(); len(list) > 0 {
		t.w.fail("%v after the faults: %s", t.w.now()-Calm, strings.Join(list, "; "))
	}
}
