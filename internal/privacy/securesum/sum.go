package securesum

import (
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Reasons for a round without a sum, in addition to ErrInconsistent.
var (
	ErrTooFewContributors = errors.New("too few contributions reached a quorum of the committee")
	ErrNoCertificate      = errors.New("no set of contributors got a quorum of the committee's votes in time")
	ErrTooFewSums         = errors.New("too few of the committee's sums arrived in time")
	ErrLeftBehind         = errors.New("the peers are rounds ahead")
)

// addUp sends the sum of the certified shares, once there is a certificate. A member that lacks one
// of the shares sends no sum.
func (r *round) addUp() {
	if r.certificate == nil || r.sums[r.rank] != nil || !r.holds(r.certificate.choice) {
		return
	}
	sum := make([]element, r.e.cfg.Dimension)
	for i, share := range r.shares {
		if r.certificate.set.has(i) {
			addTo(sum, share)
		}
	}
	r.sums[r.rank] = sum
	r.sendSum(r.everybody)
}

func (r *round) sendSum(receivers []int) {
	var due []int
	for _, i := range receivers {
		if i != r.e.self && r.sumsSent[i].due(r.ticks) {
			due = append(due, i)
		}
	}
	if len(due) == 0 {
		return
	}
	r.e.sendTo(due, message{round: r.number, kind: kindSum, certificate: *r.certificate, vector: r.sums[r.rank]})
}

// finish ends the round when the sums of a quorum have arrived. If fewer, but enough, have arrived,
// it ends the round a turn later with these: [Config.MinAnswers] that agree are enough. If the sums
// contradict each other, it waits for further ones that outvote the wrong ones. At the deadline it ends the round in any case.
func (r *round) finish(deadline bool) {
	if r.over() {
		return
	}
	var answers []answer
	var ranks []int
	for rank, sum := range r.sums {
		if sum != nil {
			ranks = append(ranks, rank)
			answers = append(answers, answer{point: element(rank + 1), values: sum})
		}
	}
	if len(answers) < r.e.cfg.MinAnswers {
		if deadline {
			r.abort(r.shortage())
		}
		return
	}
	if r.enoughAt < 0 {
		r.enoughAt = r.ticks
	}
	if !deadline && len(answers) < r.e.cfg.Committee.Quorum && r.ticks-r.enoughAt < r.e.cfg.Turn {
		return
	}
	if len(answers) == r.contradicted && !deadline {
		return // no further sums have arrived since those that contradicted each other
	}
	total, wrong, err := correct(answers, r.e.cfg.Committee.Threshold, r.e.cfg.Random)
	if errors.Is(err, ErrInconsistent) && !deadline && len(answers) < len(r.committee) {
		r.contradicted = len(answers) // further sums may outvote the wrong ones
		return
	}
	if err != nil {
		r.abort(err)
		return
	}
	if len(answers)-len(wrong) < r.e.cfg.MinAnswers {
		if r.contradicted = len(answers); deadline {
			r.abort(ErrTooFewSums)
		}
		return
	}
	outcome := Outcome{Round: r.number, Sum: make([]int64, len(total)), Answers: len(answers) - len(wrong)}
	for _, i := range wrong {
		outcome.Outvoted = append(outcome.Outvoted, r.e.cfg.Roster[r.committee[ranks[i]]])
	}
	for i, x := range total {
		outcome.Sum[i] = decode(x)
	}
	for i, id := range r.e.cfg.Roster {
		if r.certificate.set.has(i) {
			outcome.Contributors = append(outcome.Contributors, id)
		}
	}
	r.end(outcome)
}

// shortage returns the error for a round with too few sums at its deadline.
func (r *round) shortage() error {
	if r.certificate != nil {
		return ErrTooFewSums
	}
	var ranks []int
	for rank, row := range r.rows {
		if row.held != nil {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) >= r.e.cfg.Committee.Quorum && r.common(ranks).count() < r.e.cfg.MinContributors {
		return ErrTooFewContributors
	}
	return ErrNoCertificate
}

func (r *round) abort(reason error) {
	r.end(Outcome{Round: r.number, Err: fmt.Errorf("round %d: %w", r.number, reason), Dealt: r.dealers()})
}

// dealers returns the contributors whose parts a quorum of the committee reports to hold.
func (r *round) dealers() (ids []peer.ID) {
	for i, id := range r.e.cfg.Roster {
		holders := 0
		for _, row := range r.rows {
			if row.held != nil && row.held.has(i) {
				holders++
			}
		}
		if holders >= r.e.cfg.Committee.Quorum {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *round) end(o Outcome) {
	for i, id := range r.e.cfg.Roster {
		if r.e.disqualified.has(i) {
			o.Disqualified = append(o.Disqualified, id)
		}
	}
	r.outcome = &o
	clear(r.shares) // the shares and headers are no longer needed
	clear(r.headers)
	r.e.emit(strategy.Result{Value: o})
}
