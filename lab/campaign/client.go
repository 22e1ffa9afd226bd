package campaign

import (
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
)

// client evaluates the trials of a member in a process of its own, which survives crashes of the
// member. It repeats each request, with the same key, until it is acknowledged.
type client struct {
	member  *member
	number  int             // number of the current request
	trial   *strategy.Trial // the trial that it evaluates; nil while it asks for one
	due     time.Duration   // time at which the evaluation ends
	pending bool            // an Ask in this life of the member has no answer yet
	life    int
}

// Times of a client.
const (
	clientLease = 10 * time.Minute
	clientRetry = 5 * time.Second
)

func (c *client) name() string { return fmt.Sprintf("client %d", c.member.number) }

func (c *client) once(what string) agent.Once {
	return agent.Once{Key: fmt.Sprintf("%s-%d", what, c.number), Digest: what}
}

// ask continues after a start of the member or a finished trial.
func (c *client) ask() error {
	m := c.member
	if c.trial != nil { // the member has started again during the evaluation
		m.later(max(c.due-m.w.now(), 0), c.report)
		return nil
	}
	reply, known, err := m.agent.Replied(c.once("ask"))
	switch held := m.agent.HeldBy(m.clock(), c.name()); {
	case err != nil:
		m.w.fail("%v: %v", m, err)
	case known:
		c.accept(reply.Trials[0])
	case len(held) > 0:
		return c.remember()
	case !c.pending || c.life != m.life:
		c.pending, c.life = true, m.life
		m.requests++
		m.asking = true
		if err := m.agent.AskFor(m.clock(), m.requests, agent.Claim{Client: c.name(), Lease: clientLease}); err != nil {
			m.w.fail("%v: %v", m, err)
			return nil
		}
		m.carryOut()
	}
	return nil
}

// remember stores the reply to the request, and then returns it to the client.
func (c *client) remember() error {
	m := c.member
	c.pending = false
	if c.trial != nil {
		return nil
	}
	held := m.agent.HeldBy(m.clock(), c.name())
	if len(held) == 0 { // the lease has ended
		m.later(clientRetry, m.work)
		return nil
	}
	id := held[0].ID
	m.agent.Remember(c.once("ask"), agent.Reply{Trials: []uint64{id}})
	if m.carryOut() {
		c.accept(id)
	}
	return nil
}

// accept begins the evaluation of a trial.
func (c *client) accept(id uint64) {
	m := c.member
	trial := m.agent.Trials()[id-1]
	m.w.witness.answered(m, trial)
	m.w.witness.replied(m, c.once("ask"), id)
	c.trial, c.due = &trial, m.w.now()+between(m.w.rng, minEvaluation, maxEvaluation)
	m.later(c.due-m.w.now(), c.report)
}

// report reports the outcome, once for each key.
func (c *client) report() error {
	m := c.member
	if c.trial == nil {
		return nil
	}
	id, once, outcome := c.trial.ID, c.once("tell"), m.evaluate(*c.trial)
	_, known, err := m.agent.Replied(once)
	if err == nil && !known {
		m.w.witness.reports(m, id, outcome)
		if err = m.agent.Tell(m.clock(), id, outcome); err == nil {
			m.agent.Remember(once, agent.Reply{Trials: []uint64{id}})
		}
	}
	ended := errors.Is(err, agent.ErrFinished) // it was interrupted too often
	if err != nil && !ended {
		m.w.fail("%v: trial %d: %v", m, id, err)
		return nil
	}
	if !m.carryOut() {
		return nil // the client repeats the request after the next start
	}
	if !ended {
		m.w.witness.acknowledged(m, id, outcome)
		m.w.witness.replied(m, once, id)
	}
	c.trial = nil
	c.number++
	m.later(time.Second, m.work)
	return nil
}
