package sums

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Limits of the requests for earlier sums.
const (
	maxAsked      = 16      // rounds in a request; fewer than the direct messages that may wait for one peer
	maxAskedBytes = 1 << 20 // of the sums in all answers of one member to a request
	maxTries      = 8       // requests for one round until another member connects
	settling      = 6       // beats after which the newest round is requested, since it may still be running
)

// past holds the requests for sums of rounds that the node has missed. A sum counts as soon as more
// members have sent the same one than may collude: one of them is honest. Memory is bounded: an
// answer counts only from a member that was asked in this beat, once for each round of the request.
type past struct {
	tries    map[int]int              // by round: number of requests
	asked    map[int]map[int]bool     // by round and roster index: whether the member may still answer
	answers  map[int]map[[32]byte]int // by round and hash: number of members that have sent the same sum
	served   map[int]bool             // members whose request the node has answered in this beat
	turn     int                      // rotates the members that are asked
	newest   int                      // newest round that peers have contributed to
	newestAt int                      // beat at which newest was first seen
}

func (p *past) reset() {
	p.tries = map[int]int{}
	p.forget()
}

// renew allows new requests for all rounds.
func (p *past) renew() { clear(p.tries) }

// forget ends the requests and the limits of a beat.
func (p *past) forget() {
	p.asked, p.answers, p.served = map[int]map[int]bool{}, map[int]map[[32]byte]int{}, map[int]bool{}
}

// beat requests sums that the node lacks from some of the present members.
func (e *Exchange) beat(view strategy.View) (out []strategy.Output) {
	e.beats++
	e.past.forget()
	rounds := e.missing(view)
	if len(rounds) == 0 {
		return nil
	}
	members := slices.DeleteFunc(e.present(view), func(id peer.ID) bool { return id == e.roster[e.self] })
	if len(members) <= e.colluding {
		return nil
	}
	request := binary.AppendUvarint([]byte{ofRequest}, uint64(len(rounds)))
	for _, round := range rounds {
		request = binary.AppendUvarint(request, uint64(round))
		e.past.tries[round]++
		e.past.asked[round], e.past.answers[round] = map[int]bool{}, map[[32]byte]int{}
	}
	for i := range min(2*e.colluding+1, len(members)) {
		id := members[(e.past.turn+i)%len(members)]
		member, _ := e.index(id)
		for _, round := range rounds {
			e.past.asked[round][member] = true
		}
		out = append(out, strategy.Send{To: id, Data: request})
	}
	e.past.turn++
	return out
}

// missing returns the rounds to request: those with the fewest requests, the oldest first.
func (e *Exchange) missing(view strategy.View) (rounds []int) {
	newest := max(e.latest, e.credible(view))
	if newest > e.past.newest {
		e.past.newest, e.past.newestAt = newest, e.beats
	}
	for round := 1; round <= newest; round++ {
		_, known := e.totals[round]
		if known || e.past.tries[round] >= maxTries || round == newest && e.beats-e.past.newestAt < settling {
			continue
		}
		rounds = append(rounds, round)
	}
	slices.SortStableFunc(rounds, func(a, b int) int { return e.past.tries[a] - e.past.tries[b] })
	most := min(maxAsked, max(maxAskedBytes/(8*e.statistic.Numbers()), 1))
	rounds = rounds[:min(len(rounds), most)]
	slices.Sort(rounds)
	return rounds
}

// credible returns the newest round to which more members report a contribution than may collude. A
// false State with a later round would otherwise use up the requests for rounds that are yet to come.
func (e *Exchange) credible(view strategy.View) int {
	var rounds []int
	for _, s := range e.states(view) {
		rounds = append(rounds, s.Round)
	}
	if len(rounds) <= e.colluding {
		return 0
	}
	slices.Sort(rounds)
	return rounds[len(rounds)-1-e.colluding]
}

// answer sends the sums that a member requests, for at most one request in a beat.
func (e *Exchange) answer(member int, request []byte) (out []strategy.Output) {
	r := reader{rest: request}
	count, before := r.number(min(maxAsked, max(maxAskedBytes/(8*e.statistic.Numbers()), 1))), 0
	var rounds []int
	for range count {
		round := r.number(MaxRounds)
		if round <= before { // ascending, so that none is sent twice
			return nil
		}
		rounds, before = append(rounds, round), round
	}
	if r.bad || len(r.rest) > 0 || e.past.served[member] {
		return nil
	}
	e.past.served[member] = true
	for _, round := range rounds {
		if t, ok := e.totals[round]; ok {
			out = append(out, strategy.Send{To: e.roster[member], Data: append([]byte{ofTotal}, t.encode(len(e.roster))...)})
		}
	}
	return out
}

// collect counts a sum that a member has sent on request.
func (e *Exchange) collect(member int, data []byte) []strategy.Output {
	r := reader{rest: data}
	if !e.past.asked[r.number(MaxRounds)][member] {
		return nil // before all numbers are decoded
	}
	t, ok := decodeTotal(data, len(e.roster), e.statistic.Numbers())
	if !ok || !e.plausible(t) {
		return nil
	}
	delete(e.past.asked[t.Round], member)
	sum := sha256.Sum256(data)
	e.past.answers[t.Round][sum]++
	if e.past.answers[t.Round][sum] <= e.colluding {
		return nil
	}
	return e.store(t)
}

// encode returns the round, a set of contributors with one bit for each member of the roster, and
// the numbers with 8 bytes each.
func (t total) encode(roster int) []byte {
	data := binary.AppendUvarint(nil, uint64(t.Round))
	set := make([]byte, (roster+7)/8)
	for _, i := range t.Contributors {
		set[i/8] |= 1 << (i % 8)
	}
	data = append(data, set...)
	for _, v := range t.Vector {
		data = binary.BigEndian.AppendUint64(data, uint64(v))
	}
	return data
}

// decodeTotal is the inverse of encode.
func decodeTotal(data []byte, roster, numbers int) (t total, ok bool) {
	r := reader{rest: data}
	t.Round = r.number(MaxRounds)
	for i, b := range r.take((roster + 7) / 8) {
		for bit := range 8 {
			if b>>bit&1 == 0 {
				continue
			}
			if 8*i+bit >= roster {
				return total{}, false
			}
			t.Contributors = append(t.Contributors, 8*i+bit)
		}
	}
	body := r.take(8 * numbers)
	if r.bad || len(r.rest) > 0 || t.Round < 1 {
		return total{}, false
	}
	for i := range numbers {
		t.Vector = append(t.Vector, int64(binary.BigEndian.Uint64(body[8*i:])))
	}
	return t, true
}
