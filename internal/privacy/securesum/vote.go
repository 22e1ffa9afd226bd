package securesum

import "crypto/sha256"

// This file implements the vote of a round. Members propose in turns. The first turn begins when
// the time to deal is over, or as soon as the member of rank 0 sees that the whole committee holds
// the shares of the whole roster. The member whose turn it is proposes a set by voting for it,
// unless it knows of a vote. All other members vote for the set that was voted for first. Every
// vote is sent to the whole committee at once. So a set with a running member's vote reaches all
// members, even if its proposer has failed.

// statement returns the data that a member signs to vote for a choice.
func (r *round) statement(c choice) []byte {
	m := message{round: r.number}
	return c.append(append([]byte("fbo-securesum-vote-2"), r.e.shape.encode(m)...))
}

// choice returns the choice that consists of a set and the headers of the agent's shares.
func (r *round) choice(s set) choice {
	h := sha256.New()
	for i, name := range r.names {
		if s.has(i) {
			h.Write(name[:])
		}
	}
	return choice{s, [sha256.Size]byte(h.Sum(nil))}
}

// vote casts the agent's only vote of the round, if there is a set to vote for.
func (r *round) vote() {
	if r.mute || r.certificate != nil {
		return
	}
	c, ok := r.choose()
	if !ok {
		return
	}
	r.mute = true
	signature, err := r.e.cfg.Sign(r.statement(c))
	if err != nil || len(signature) != signatureBytes {
		return // the committee continues without this member
	}
	r.e.record(record{kind: recordVoted, round: r.number, digest: r.e.shape.digest, signature: signature, choice: c.append(nil)})
	r.votes[r.rank] = &vote{c, signature}
	r.tell()
}

// choose returns the choice to vote for now. ok is false if there is none. It also follows votes of
// peers for a set with a dealer that was disqualified only after those votes, since members that
// hold fitting parts add them up.
func (r *round) choose() (proposal choice, ok bool) {
	dealing := r.ticks < r.e.cfg.Deal
	if dealing && !r.e.complete(r.held) {
		return choice{}, false
	}
	proposal, votes := r.leading()
	if votes == 0 {
		if !r.turn() {
			return choice{}, false
		}
		ranks := r.fresh()
		if len(ranks) < r.e.cfg.Committee.Quorum {
			return choice{}, false
		}
		proposal = r.choice(r.common(ranks))
	}
	return proposal, proposal.set.count() >= r.e.cfg.MinContributors && r.holds(proposal)
}

// holds reports whether the agent holds all shares of a choice, under the same headers.
func (r *round) holds(c choice) bool { return c.set.within(r.held) && r.choice(c.set).equal(c) }

// turn reports whether it is the agent's turn to propose.
func (r *round) turn() bool {
	if r.ticks >= r.e.cfg.Deal {
		return (r.ticks-r.e.cfg.Deal)/r.e.cfg.Turn%len(r.committee) == r.rank
	}
	for rank, row := range r.rows {
		if row.held == nil || !r.e.complete(r.holding(rank)) {
			return false
		}
	}
	return r.rank == 0
}

// leading returns the choice with the most votes, and the number of its votes. Among choices with
// equally many votes it returns the choice of the member with the lowest rank.
func (r *round) leading() (best choice, most int) {
	for _, v := range r.votes {
		if v == nil {
			continue
		}
		if n := r.voters(v.choice).count(); n > most {
			best, most = v.choice, n
		}
	}
	return best, most
}

// voters returns the ranks of members with a known vote for the choice.
func (r *round) voters(c choice) set {
	voters := newSet(len(r.votes))
	for rank, v := range r.votes {
		if v != nil && v.choice.equal(c) {
			voters.add(rank)
		}
	}
	return voters
}

// common returns contributors whose shares are all held by a quorum of these members. As long as
// shares are missing, it removes a contributor or a member: the one to which the largest fraction
// of shares is missing. So a member that has just restarted costs no contributor.
//
// It removes a member only if the member lacks most contributors and a quorum remains. If a
// contributor has failed while dealing, it thus keeps members whose votes may be needed if others
// fail. If no further contributor can be removed, it removes members.
func (r *round) common(ranks []int) set {
	contributors := fullSet(len(r.e.cfg.Roster))
	for i := range r.e.cfg.Roster {
		if r.e.disqualified.has(i) {
			contributors.remove(i)
		}
	}
	members := newSet(len(r.rows))
	held := make([]set, len(r.rows))            // by rank: contributors whose shares the member holds
	lacking := make([]int, len(r.rows))         // by rank: number of contributors whose shares the member lacks
	missing := make([]int, len(r.e.cfg.Roster)) // by contributor: number of members that lack its share
	for _, rank := range ranks {
		members.add(rank)
		held[rank] = r.holding(rank)
		for i := range missing {
			if contributors.has(i) && !held[rank].has(i) {
				lacking[rank]++
				missing[i]++
			}
		}
	}
	for nContributors, nMembers := contributors.count(), len(ranks); nContributors > 0; {
		column, row := argmax(missing, contributors), argmax(lacking, members)
		if missing[column] == 0 {
			break
		}
		lacksMost := 2*lacking[row] > nContributors && lacking[row]*nMembers > missing[column]*nContributors
		needed := nContributors <= r.e.cfg.MinContributors
		if (lacksMost || needed) && nMembers > r.e.cfg.Committee.Quorum {
			members.remove(row)
			nMembers--
			for i := range missing {
				if !held[row].has(i) {
					missing[i]--
				}
			}
			continue
		}
		contributors.remove(column)
		nContributors--
		for _, rank := range ranks {
			if !held[rank].has(column) {
				lacking[rank]--
			}
		}
	}
	return contributors
}

// argmax returns the first index in the set with the largest value. The set must not be empty.
func argmax(values []int, among set) int {
	best := -1
	for i, v := range values {
		if among.has(i) && (best < 0 || v > values[best]) {
			best = i
		}
	}
	return best
}

// certify creates the certificate if a choice has enough votes.
func (r *round) certify() {
	best, votes := r.leading()
	if r.certificate != nil || votes < r.e.cfg.Committee.Quorum {
		return
	}
	c := certificate{choice: best, voters: r.voters(best)}
	for rank, v := range r.votes {
		if c.voters.has(rank) {
			c.signatures = append(c.signatures, v.signature)
		}
	}
	r.certificate = &c
}

// adopt stores a peer's certificate if it is valid and the agent has none.
func (r *round) adopt(c certificate) {
	if r.certificate != nil || len(c.signatures) < r.e.cfg.Committee.Quorum || c.set.count() < r.e.cfg.MinContributors {
		return
	}
	statement, next := r.statement(c.choice), 0
	for rank, member := range r.committee {
		if !c.voters.has(rank) {
			continue
		}
		if !r.e.cfg.Verify(r.e.cfg.Roster[member], statement, c.signatures[next]) {
			return
		}
		next++
	}
	r.certificate = &c
}
