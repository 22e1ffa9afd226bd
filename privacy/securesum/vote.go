package securesum

// The vote of a round. Members speak in turns, the first when the time to deal
// is over, or as soon as it sees that the whole committee holds the shares of the
// whole roster. Whose turn it is proposes a set by voting for it, unless it knows
// of a vote; everybody else votes for what was voted for first. Since every vote
// goes to the whole committee at once, a set that one living member has voted for
// spreads to all, although its proposer be gone.

// statement is what a vote signs.
func (r *round) statement(s set) []byte {
	m := message{round: r.number}
	data := append([]byte("fbo-securesum-vote-1"), r.e.shape.encode(m)...)
	return append(data, s...)
}

// vote casts the agent's only vote when there is a set to vote for.
func (r *round) vote() {
	if r.mute || r.certificate != nil {
		return
	}
	s := r.choose()
	if s == nil {
		return
	}
	r.mute = true
	signature, err := r.e.cfg.Sign(r.statement(s))
	if err != nil || len(signature) != signatureBytes {
		return // the committee goes on without this member
	}
	v := vote{set: s, signature: signature}
	r.e.record(record{kind: recordVoted, round: r.number, digest: r.e.shape.digest, vote: v})
	r.votes[r.rank] = &v
	r.e.sendTo(r.committee, r.status())
}

// choose returns the set to vote for now, or nil.
func (r *round) choose() set {
	dealing := r.ticks < r.e.cfg.Deal
	if dealing && r.held.count() < len(r.e.cfg.Roster) {
		return nil
	}
	proposal, votes := r.leading()
	if votes == 0 {
		if !r.turn() {
			return nil
		}
		ranks := r.fresh()
		if len(ranks) < r.e.cfg.Committee.Quorum {
			return nil
		}
		proposal = r.common(ranks)
	}
	if proposal.count() < r.e.cfg.MinContributors || !proposal.within(r.held) {
		return nil
	}
	return proposal
}

// turn tells whether the agent may propose.
func (r *round) turn() bool {
	if r.ticks >= r.e.cfg.Deal {
		return (r.ticks-r.e.cfg.Deal)/r.e.cfg.Turn%len(r.committee) == r.rank
	}
	for _, row := range r.rows {
		if row.held == nil || row.held.count() < len(r.e.cfg.Roster) {
			return false
		}
	}
	return r.rank == 0
}

// leading returns the set with most votes, among equals the one that the member
// of lowest rank voted for, and how many it has.
func (r *round) leading() (best set, most int) {
	for _, v := range r.votes {
		if v == nil {
			continue
		}
		if n := r.voters(v.set).count(); n > most {
			best, most = v.set, n
		}
	}
	return best, most
}

// voters are those whose vote for the set the agent knows, by rank.
func (r *round) voters(s set) set {
	voters := newSet(len(r.votes))
	for rank, v := range r.votes {
		if v != nil && v.set.equal(s) {
			voters.add(rank)
		}
	}
	return voters
}

// common returns contributors whose shares all of a quorum of these members
// hold. While shares are missing it strikes off whichever, contributor or
// member, lacks the largest part, so that a member which has just come back
// costs no contributor; but a member only if it lacks most and a quorum remains:
// for a contributor who vanished while dealing, no member is given up whose vote
// may be needed when others fail. Where there is no contributor to spare, it is
// the members that go.
func (r *round) common(ranks []int) set {
	contributors := fullSet(len(r.e.cfg.Roster))
	members := newSet(len(r.rows))
	lacking := make([]int, len(r.rows))         // by rank, contributors
	missing := make([]int, len(r.e.cfg.Roster)) // by contributor, members
	for _, rank := range ranks {
		members.add(rank)
		for i := range missing {
			if !r.rows[rank].held.has(i) {
				lacking[rank]++
				missing[i]++
			}
		}
	}
	for nContributors, nMembers := len(missing), len(ranks); nContributors > 0; {
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
				if !r.rows[row].held.has(i) {
					missing[i]--
				}
			}
			continue
		}
		contributors.remove(column)
		nContributors--
		for _, rank := range ranks {
			if !r.rows[rank].held.has(column) {
				lacking[rank]--
			}
		}
	}
	return contributors
}

// argmax returns the first index in the set, which is not empty, with the largest
// value.
func argmax(values []int, among set) int {
	best := -1
	for i, v := range values {
		if among.has(i) && (best < 0 || v > values[best]) {
			best = i
		}
	}
	return best
}

// certify makes the certificate when the votes suffice.
func (r *round) certify() {
	s, votes := r.leading()
	if r.certificate != nil || votes < r.e.cfg.Committee.Quorum {
		return
	}
	c := certificate{set: s, voters: r.voters(s)}
	for rank, v := range r.votes {
		if c.voters.has(rank) {
			c.signatures = append(c.signatures, v.signature)
		}
	}
	r.certificate = &c
}

// adopt takes over a peer's certificate if it is valid and the agent has none.
func (r *round) adopt(c certificate) {
	if r.certificate != nil || len(c.signatures) < r.e.cfg.Committee.Quorum || c.set.count() < r.e.cfg.MinContributors {
		return
	}
	statement, next := r.statement(c.set), 0
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
