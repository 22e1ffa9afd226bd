package agent

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
)

// crowd is an agent in a topic of authors that announce weights.
type crowd struct {
	t *testing.T
	*driver
	shares  []protocol.Share // the announced share of each author
	present []protocol.Share // its presence message
}

// newCrowd returns an agent that has received the presence messages of others, in a topic that is large
// above 8 agents and of which it fetches 4 authors.
func newCrowd(t *testing.T, others int, change ...func(*Config)) *crowd {
	t.Helper()
	config := configOf(t, newTask(t, "coin", concurrent), 1)
	config.Large = LargeTopic{Above: 8, Authors: 4}
	for _, f := range change {
		f(&config)
	}
	c := &crowd{t: t, driver: newDriver(t, config)}
	for i := range others {
		key := fbotest.Key(t, 100+i)
		c.shares = append(c.shares, say(t, c.driver, key, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, float64(i+1))))
		payload, err := protocol.Presence{Newest: []protocol.Announcement{protocol.AnnouncementOf(c.shares[i])}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		c.present = append(c.present, say(t, c.driver, key, presence.Kind, 0, protocol.Stamp{Epoch: 1, Sequence: 2}, time.Hour, payload))
		c.now = c.now.Add(time.Second)
		if result, err := c.agent.Receive(c.now, c.present[i], 0); result != Accepted {
			t.Fatalf("presence of author %d is %v, %v", i, result, err)
		}
	}
	return c
}

// fetched advances the clock to the next fetch, and returns the authors to fetch.
func (c *crowd) fetched() []peer.ID {
	c.t.Helper()
	for range 100 {
		ready := c.agent.Ready()
		for _, work := range ready.Work {
			c.agent.Done(c.now, work.ID, work.Run(context.Background()))
		}
		if len(ready.Fetch) > 0 {
			return ready.Fetch
		}
		c.now = c.now.Add(time.Second)
		c.agent.Tick(c.now)
	}
	return nil
}

func (c *crowd) share(author peer.ID) protocol.Share {
	c.t.Helper()
	i := slices.IndexFunc(c.shares, func(s protocol.Share) bool { return s.Author == author })
	if i < 0 {
		c.t.Fatalf("%s is no author of the crowd", author)
	}
	return c.shares[i]
}

func TestTopicIsLargeWithHysteresis(t *testing.T) {
	c := newCrowd(t, 7)
	if c.agent.Large() {
		t.Fatal("a topic of 8 agents is large, the limit is 8")
	}
	c = newCrowd(t, 12)
	if !c.agent.Large() {
		t.Fatal("a topic of 13 agents is small, the limit is 8")
	}
	leave := func(from, to int) {
		for i := from; i < to; i++ {
			payload, err := protocol.Presence{Leaving: true}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			c.now = c.now.Add(time.Second)
			c.agent.Receive(c.now, say(t, c.driver, fbotest.Key(t, 100+i), presence.Kind, 0, protocol.Stamp{Epoch: 1, Sequence: 3}, time.Hour, payload), 0)
		}
	}
	if leave(0, 6); !c.agent.Large() {
		t.Fatal("a topic of 7 agents that was large is small, it should be so at 6")
	}
	if leave(6, 7); c.agent.Large() {
		t.Fatal("a topic of 6 agents is large still")
	}
}

// An agent that finds the topic small again gossips the shares that it has only announced.
func TestSharesAreGossipedWhenTheTopicIsSmallAgain(t *testing.T) {
	c := newCrowd(t, 12)
	c.carryOut()
	c.published = nil
	for range 2 {
		c.tell(c.ask().ID, 0.5)
	}
	if slices.ContainsFunc(c.published, func(s protocol.Share) bool { return s.Kind == "weights" }) {
		t.Fatal("the agent has gossiped weights in a large topic")
	}
	c.now = c.now.Add(2 * time.Hour) // all presence messages have expired
	c.agent.Tick(c.now)
	if ready := c.agent.Ready(); !slices.ContainsFunc(ready.Publish, func(s protocol.Share) bool { return s.Kind == "weights" }) {
		t.Errorf("the agent is alone, large: %v, and publishes %d shares; want its weights among them", c.agent.Large(), len(ready.Publish))
	}
}

func TestTasksWithoutLargeTopics(t *testing.T) {
	for keys, want := range map[string]bool{
		concurrent:         true,
		"type: peer-prior": true,
		"type: constrained-gp, initial_designs: 2": true,
		"type: logei":                         false, // shares nothing
		"type: average-objective":             false, // one design for all agents
		"type: consensus, initial_designs: 2": false, // waits for all
	} {
		d := newDriver(t, configOf(t, newTask(t, "cup", keys), 1))
		if d.agent.topic.possible != want {
			t.Errorf("a task with %s can have a large topic: %v, want %v", keys, d.agent.topic.possible, want)
		}
	}
}

func TestLargeTopicHasNoGossipOfShares(t *testing.T) {
	published := func(others int) (kinds []string, announced []protocol.Announcement) {
		c := newCrowd(t, others)
		c.carryOut()
		c.published = nil
		for range 2 {
			c.tell(c.ask().ID, 0.5)
		}
		c.pass(30 * time.Second)
		for _, share := range c.published {
			kinds = append(kinds, share.Kind)
			if said, err := protocol.DecodePresence(share.Payload); err == nil && share.Kind == presence.Kind {
				announced = said.Newest
			}
		}
		return kinds, announced
	}
	if kinds, announced := published(3); !slices.Contains(kinds, "weights") || len(announced) > 0 {
		t.Errorf("in a small topic the agent gossips %v and announces %v, want weights and nothing", kinds, announced)
	}
	kinds, announced := published(12)
	if slices.Contains(kinds, "weights") || len(announced) != 1 || announced[0].Kind != "weights" {
		t.Errorf("in a large topic the agent gossips %v and announces %v, want no weights gossiped, and them announced", kinds, announced)
	}
}

func TestChosenAuthorsAreFetchedUntilTheyServe(t *testing.T) {
	c := newCrowd(t, 12)
	first := c.fetched()
	if len(first) == 0 || len(c.agent.Chosen()) != 4 {
		t.Fatalf("the agent fetches %d of %d chosen authors, want some of 4", len(first), len(c.agent.Chosen()))
	}
	never := first[0] // it never serves
	for range 20 {
		for _, id := range c.fetched() {
			if id != never {
				c.agent.Receive(c.now, c.share(id), 0)
			}
		}
	}
	if chosen := c.agent.Chosen(); slices.Contains(chosen, never) || len(chosen) != 4 {
		t.Errorf("after 20 fetches the chosen authors are %d, an author that never serves among them: %v; want 4 and false", len(chosen), slices.Contains(chosen, never))
	}
	for _, id := range c.agent.Chosen() {
		if c.agent.lacks(id) {
			t.Errorf("the share of the chosen author %s is missing", id)
		}
	}
}

func TestLargeStatusCountsAnnouncedShares(t *testing.T) {
	if got := newCrowd(t, 7).agent.LargeStatus(); got != nil {
		t.Errorf("a small topic has the status %+v, want none", *got)
	}
	c := newCrowd(t, 12)
	check := func(stored int) {
		t.Helper()
		if got := c.agent.LargeStatus(); got == nil || len(got.Authors) != 4 || got.Announced != 4 || got.Stored != stored {
			t.Errorf("the status is %+v, want %d stored of 4 shares that 4 authors announce", got, stored)
		}
	}
	check(0)
	chosen := c.agent.Chosen()
	c.agent.Receive(c.now, c.share(chosen[2]), 0)
	check(1)
	for _, share := range c.shares {
		if !slices.Contains(chosen, share.Author) {
			c.agent.Receive(c.now, share, 0)
		}
	}
	check(1)
}

func TestForgedAnnouncements(t *testing.T) {
	c := newCrowd(t, 12)
	author := c.shares[0].Author
	key := fbotest.Key(t, 100)
	other := say(t, c.driver, key, "weights", 0, c.shares[0].Stamp, time.Hour, weights(t, 3, 99))
	if result, err := c.agent.Receive(c.now, other, 0); result != Equivocation {
		t.Errorf("a share that differs from its announcement is %v, %v; want equivocation", result, err)
	}
	if result, _ := c.agent.Receive(c.now, c.shares[0], 0); result != Stale {
		t.Errorf("a further share of %s in this epoch is %v, want stale", author, result)
	}

	c.agent.Receive(c.now, c.shares[1], 0)
	announcement := protocol.AnnouncementOf(c.shares[1])
	announcement.Digest[0]++
	for name, said := range map[string]protocol.Announcement{
		"of a share that the agent has, with another digest": announcement,
		"of a share that is not signed yet":                  {Kind: "weights", Stamp: protocol.Stamp{Epoch: 1, Sequence: 9}, TTL: time.Hour},
	} {
		c := newCrowd(t, 12)
		c.agent.Receive(c.now, c.shares[1], 0)
		payload, err := protocol.Presence{Newest: []protocol.Announcement{said}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		share := say(t, c.driver, fbotest.Key(t, 101), presence.Kind, 0, protocol.Stamp{Epoch: 1, Sequence: 3}, time.Hour, payload)
		if result, err := c.agent.Receive(c.now, share, 0); result != Equivocation {
			t.Errorf("an announcement %s is %v, %v; want equivocation", name, result, err)
		}
	}
}

// The request of an agent, and the answer to a newcomer, do not grow with the number of authors.
func TestSyncInLargeTopicIsBounded(t *testing.T) {
	size := func(others int) (request, answer int) {
		c := newCrowd(t, others)
		for _, share := range c.shares {
			c.agent.Receive(c.now, share, 0)
		}
		var written bytes.Buffer
		asked := c.agent.SyncRequest()
		if err := protocol.WriteSyncRequest(&written, asked); err != nil {
			t.Fatal(err)
		}
		if len(asked.Authors) != 5 {
			t.Errorf("the request is for %d authors, want 4 and the agent", len(asked.Authors))
		}
		return written.Len(), len(c.agent.Answer(c.now, "newcomer", protocol.SyncRequest{}))
	}
	request20, answer20 := size(20)
	request60, answer60 := size(60)
	if request60 > request20+8 || answer60 > answer20 {
		t.Errorf("with 20 authors a request has %d bytes and an answer %d items, with 60 %d and %d", request20, answer20, request60, answer60)
	}
	if answer20 < 12 || answer20 > 17 {
		t.Errorf("the answer to a newcomer has %d items, want presence messages of 12 authors and the shares of 4", answer20)
	}
}

func TestAnswersToAuthorsOnly(t *testing.T) {
	c := newCrowd(t, 12)
	for _, share := range c.shares {
		c.agent.Receive(c.now, share, 0)
	}
	items := c.agent.Answer(c.now, "reader", protocol.SyncRequest{Authors: []peer.ID{c.shares[3].Author}})
	if len(items) != 1 || !bytes.Equal(items[0].Envelope, c.shares[3].Envelope) {
		t.Errorf("a request for one author gets %d items, want its share", len(items))
	}
}

func TestKeeperFetchesAllAndSuggestsTheNearest(t *testing.T) {
	c := newCrowd(t, 12, func(c *Config) { c.Keep = true })
	for range 5 {
		for _, id := range c.fetched() {
			c.agent.Receive(c.now, c.share(id), 0)
		}
	}
	if authors, _ := c.agent.Knowledge(c.now); authors != 12 {
		t.Errorf("the keeper has the shares of %d authors, want 12", authors)
	}
	reader := c.shares[5].Author
	items := c.agent.Answer(c.now, reader, protocol.SyncRequest{Authors: []peer.ID{reader}, Suggest: true, Have: []protocol.ShareID{}})
	if len(items) == 0 || len(items[0].Suggested) != 4 || slices.Contains(items[0].Suggested, reader) {
		t.Fatalf("the keeper answers %+v, want four suggested authors first, without the reader", items)
	}
	if items := c.agent.Answer(c.now, reader, protocol.SyncRequest{Authors: []peer.ID{reader}}); len(items) > 0 && len(items[0].Suggested) > 0 {
		t.Error("the keeper suggests authors unasked")
	}
	if got := newCrowd(t, 12).agent.Answer(c.now, reader, protocol.SyncRequest{Suggest: true}); len(got[0].Suggested) > 0 {
		t.Error("an agent that keeps nothing suggests authors")
	}
}

func TestPossibleKeepersSendNoPresence(t *testing.T) {
	c := newCrowd(t, 12)
	if got := c.agent.PossibleKeepers(c.now, []peer.ID{c.shares[3].Author, "keeper", c.shares[7].Author}); !slices.Equal(got, []peer.ID{"keeper"}) {
		t.Errorf("the possible keepers are %q, want keeper", got)
	}
	for what, other := range map[string]*crowd{"a small topic": newCrowd(t, 7), "a keeper": newCrowd(t, 12, func(c *Config) { c.Keep = true })} {
		if got := other.agent.PossibleKeepers(other.now, []peer.ID{"keeper"}); len(got) > 0 {
			t.Errorf("%s has the possible keepers %q, want none", what, got)
		}
	}
}

// TestFloodsOfAuthors: in a large topic an author that gossips much is accepted as often as agents of such a topic
// send. Shares that the agent requests, those of listed authors, and repeated old ones do not count.
func TestFloodsOfAuthors(t *testing.T) {
	flood := func(c *crowd, author int, kind string, by Source) (accepted int) {
		t.Helper()
		for i := range 300 {
			c.now = c.now.Add(100 * time.Millisecond)
			payload := weights(t, 3, float64(i))
			if kind == presence.Kind {
				var err error
				if payload, err = (protocol.Presence{}).Encode(); err != nil {
					t.Fatal(err)
				}
			}
			share := say(t, c.driver, fbotest.Key(t, 100+author), kind, 0, protocol.Stamp{Epoch: 1, Sequence: uint64(3 + i)}, time.Hour, payload)
			switch result, err := c.agent.ReceiveBy(c.now, share, 0, by); result {
			case Accepted:
				accepted++
			case Excess:
			default:
				t.Fatalf("message %d of a flood is %v, %v; want accepted or excess", i, result, err)
			}
			if result, _ := c.agent.ReceiveBy(c.now, c.present[author], 0, by); result != Stale && result != Duplicate {
				t.Fatalf("an old message is %v, want stale or duplicate", result)
			}
		}
		return accepted
	}
	// The agent's own pause is 10 s, so it accepts ten messages at once and one in 2.5 s.
	const most = 10 + 30/2.5
	gossip := Source{Gossiped: true}
	for _, kind := range []string{presence.Kind, "weights"} {
		if got := flood(newCrowd(t, 12), 0, kind, gossip); got < most-2 || got > most+1 {
			t.Errorf("%d of 300 %s messages in half a minute are accepted, want about %d", got, kind, int(most))
		}
	}
	if got := flood(newCrowd(t, 12), 0, "weights", Source{}); got != 300 {
		t.Errorf("%d of 300 shares that the agent has requested are accepted, want all", got)
	}
	if got := flood(newCrowd(t, 7), 0, presence.Kind, gossip); got != 300 {
		t.Errorf("%d of 300 messages are accepted in a small topic, want all", got)
	}
	listed, err := peer.IDFromPrivateKey(fbotest.Key(t, 100))
	if err != nil {
		t.Fatal(err)
	}
	if got := flood(newCrowd(t, 12, func(c *Config) { c.Listed = []peer.ID{listed} }), 0, presence.Kind, gossip); got != 300 {
		t.Errorf("%d of 300 messages of a listed author are accepted, want all", got)
	}
}

// TestAuthorsInReachAreChosen: an agent fetches shares of authors that it can connect to, if there are enough.
func TestAuthorsInReachAreChosen(t *testing.T) {
	var near []peer.ID
	c := newCrowd(t, 30, func(c *Config) {
		c.Reaches = func(author peer.ID) bool { return slices.Contains(near, author) }
	})
	for i := range 6 {
		near = append(near, c.shares[5*i].Author)
	}
	c.now = c.now.Add(6 * time.Minute) // until the next choice
	c.agent.Receive(c.now, say(t, c.driver, fbotest.Key(t, 100), presence.Kind, 0, protocol.Stamp{Epoch: 1, Sequence: 3}, time.Hour, c.present[0].Payload), 0)
	chosen := c.agent.Chosen()
	for _, id := range chosen {
		if !slices.Contains(near, id) {
			t.Errorf("the agent chooses %s, which it cannot connect to; the authors in reach are %v", id, near)
		}
	}
	if len(chosen) != 4 {
		t.Errorf("the agent chooses %d authors, want 4", len(chosen))
	}
}
