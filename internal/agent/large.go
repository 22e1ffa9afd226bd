package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// LargeTopic has the limits of announce and fetch. In a topic with more than Above present agents, an
// agent does not gossip its shares. It announces them by its presence messages, and fetches the
// announced shares of at most Authors others. The topic is small again at three quarters of Above.
//
// Only tasks whose exchanges are all strategy.Announceable have large topics, and only if the strategy
// recommends no design for all agents together.
type LargeTopic struct {
	Above   int // default 128
	Authors int // default 32, at most protocol.MaxSyncAuthors-1
}

const (
	defaultLarge   = 128
	defaultAuthors = 32
)

// DefaultLargeTopic returns the default limits.
func DefaultLargeTopic() LargeTopic { return LargeTopic{Above: defaultLarge, Authors: defaultAuthors} }

func (l *LargeTopic) complete() error {
	l.Above, l.Authors = cmp.Or(l.Above, defaultLarge), cmp.Or(l.Authors, defaultAuthors)
	if l.Above < 0 || l.Authors < 0 || l.Authors >= protocol.MaxSyncAuthors {
		return fmt.Errorf("Config.Large is %d agents and %d authors, expected 1 or more agents and 1 to %d authors", l.Above, l.Authors, protocol.MaxSyncAuthors-1)
	}
	return nil
}

// announcing is an agent's state of announce and fetch.
type announcing struct {
	possible bool // the task can have a large topic
	large    bool // the topic is large at present
	rng      *rand.Rand
	choice   largetopic.Choice[peer.ID]

	measured time.Time
	present  int                 // number of present agents at that time
	use      map[peer.ID]float64 // weight of each author at the latest choice that had its shares
	weighing bool
}

func newAnnouncing(seed random.Seed, possible bool) announcing {
	rng := seed.Stream("authors", 0)
	return announcing{possible: possible, rng: rng, choice: largetopic.NewChoice[peer.ID](rng), use: map[peer.ID]float64{}}
}

// mayAnnounce reports whether a task with these exchanges and this strategy can have a large topic.
func mayAnnounce(s strategy.Strategy, byName map[string]strategy.Exchange) bool {
	if _, common := s.(strategy.CommonRecommender); common || len(byName) < 2 {
		return false
	}
	for name, exchange := range byName {
		if name == presence.Kind {
			continue
		}
		e, ok := exchange.(strategy.Announceable)
		if !ok {
			return false
		}
		if yes, err := recoverpanic.Call(nameOf(name), func() (bool, error) { return e.MayAnnounce(), nil }); !yes || err != nil {
			return false
		}
	}
	return true
}

// Large reports whether the topic of the task is large.
func (a *Agent) Large() bool { return a.topic.large }

// measure decides, at most once a second, whether the topic is large.
func (a *Agent) measure(now time.Time) {
	t := &a.topic
	if !t.possible || now.Sub(t.measured) < time.Second && !t.measured.IsZero() {
		return
	}
	t.measured = now
	present := 0
	if !a.keeping {
		present = 1
	}
	for range a.presences(now) {
		present++
	}
	was := t.large
	t.present = present
	t.large = largetopic.IsLarge(was, present, a.cfg.Large.Above)
	if was && !t.large {
		for _, share := range a.shares.own(now) {
			if !a.keeping {
				a.ready.Publish = append(a.ready.Publish, share) // agents that find the topic small expect it
			}
		}
	}
}

// presences iterates over the valid presence messages of authors that have not left.
func (a *Agent) presences(now time.Time) func(yield func(*held, protocol.Presence) bool) {
	return func(yield func(*held, protocol.Presence) bool) {
		for _, h := range a.shares.order {
			if h.Kind != presence.Kind || h.Author == a.self || !h.expires.After(now) || h.Epoch <= a.shares.void[h.Author] {
				continue
			}
			if said, ok := h.Value.(protocol.Presence); ok && !said.Leaving && !yield(h, said) {
				return
			}
		}
	}
}

// contradicts reports whether a share and an announcement of its author have one stamp and differ. The
// share may be the presence message with the announcement. The author has signed both.
func (a *Agent) contradicts(share protocol.Share, value any) bool {
	if !a.topic.possible {
		return false
	}
	if said, ok := value.(protocol.Presence); ok {
		for _, announced := range said.Newest {
			if announced.Stamp.Compare(share.Stamp) >= 0 {
				return true // the author has announced a share that it has not signed yet
			}
			if known, ok := a.shares.held[protocol.Key{Author: share.Author, Kind: announced.Kind, Slot: announced.Slot}]; ok && announced.Contradicts(known.Share.Share) {
				return true
			}
		}
		return false
	}
	for _, announced := range a.announcedBy(share.Author) {
		if announced.Contradicts(share) {
			return true
		}
	}
	return false
}

func (a *Agent) announcedBy(author peer.ID) []protocol.Announcement {
	h, ok := a.shares.held[protocol.Key{Author: author, Kind: presence.Kind}]
	if !ok {
		return nil
	}
	said, _ := h.Value.(protocol.Presence)
	return said.Newest
}

// newestOf returns the newest stamp that an author announces.
func (a *Agent) newestOf(author peer.ID) (newest protocol.Stamp) {
	for _, announced := range a.announcedBy(author) {
		if announced.Stamp.Compare(newest) > 0 {
			newest = announced.Stamp
		}
	}
	return newest
}

// countAnnounced returns the number of shares that an author announces and that the agent can use, and
// how many of them it has.
func (a *Agent) countAnnounced(author peer.ID) (announced, stored int) {
	for _, share := range a.announcedBy(author) {
		if _, talks := a.exchanges.byName[share.Kind]; !talks || share.Epoch <= a.shares.void[author] {
			continue
		}
		announced++
		known, ok := a.shares.held[protocol.Key{Author: author, Kind: share.Kind, Slot: share.Slot}]
		if ok && share.Stamp.Compare(known.Stamp) <= 0 {
			stored++
		}
	}
	return announced, stored
}

// lacks reports whether an author announces a share that the agent does not have, and can use.
func (a *Agent) lacks(author peer.ID) bool {
	announced, stored := a.countAnnounced(author)
	return stored < announced
}

// consider schedules a fetch after a presence message, if there is something to fetch.
func (a *Agent) consider(now time.Time, author peer.ID) {
	t := &a.topic
	if !t.possible || len(a.announcedBy(author)) == 0 {
		return
	}
	if t.choice.IsDue(now) {
		a.turn(now)
	} else {
		t.choice.Offer(now, author, a.authorLimit())
	}
	if t.choice.Chosen[author] && a.lacks(author) {
		t.choice.Schedule(now)
	}
}

// authorLimit returns the maximum number of authors to fetch. A keeper stores the shares of all.
func (a *Agent) authorLimit() int {
	if a.keeping {
		return maxAuthors
	}
	return a.cfg.Large.Authors
}

// turn chooses the authors anew. If the strategy weights peers, it first weights those whose shares the
// agent has fetched.
func (a *Agent) turn(now time.Time) {
	t := &a.topic
	if t.weighing {
		return
	}
	t.choice.Turned = now
	if _, weighs := a.strategy.(strategy.PeerWeigher); !weighs || a.keeping || a.trials.done == 0 || len(t.choice.Chosen) == 0 {
		a.chooseAuthors(now)
		return
	}
	t.weighing = true
	view, chosen := a.view(now), a.Chosen()
	a.startWork(job{name: "weights of peers", who: "the strategy", run: func(context.Context) (any, error) {
		return a.weigh(view, chosen)
	}, undo: func() {
		t.weighing, t.choice.Turned = false, time.Time{}
	}, finish: func(now time.Time, value any, err error) {
		t.weighing = false
		if err != nil {
			a.warnOf(err, "the strategy cannot weight peers, so their choice is random: %v", err)
		}
		weights, _ := value.(map[peer.ID]float64)
		for _, id := range chosen {
			t.use[id] = weights[id]
		}
		a.chooseAuthors(now)
	}})
}

// weigh returns the weights of authors. It may run concurrently with the agent.
func (a *Agent) weigh(view strategy.View, authors []peer.ID) (map[peer.ID]float64, error) {
	shares := view.Shares
	view.Shares = nil
	for _, share := range shares {
		if slices.Contains(authors, share.Author) {
			view.Shares = append(view.Shares, share)
		}
	}
	list, err := a.PeerWeights(view)
	weights := map[peer.ID]float64{}
	for _, w := range list {
		weights[w.Peer] = w.Use
	}
	return weights, err
}

// announcers implements largetopic.Known at a time.
type announcers struct {
	*Agent
	now time.Time
}

// Announcers implements largetopic.Known.
func (a announcers) Announcers() (all []largetopic.Candidate[peer.ID]) {
	for h, said := range a.presences(a.now) {
		if len(said.Newest) > 0 {
			all = append(all, largetopic.Candidate[peer.ID]{
				ID: h.Author, Group: a.shares.origins[h.Author].group, Use: a.topic.use[h.Author], Remote: a.cfg.Reaches != nil && !a.cfg.Reaches(h.Author),
			})
		}
	}
	return all
}

// Lacks implements largetopic.Known.
func (a announcers) Lacks(author peer.ID) (bool, protocol.Stamp) {
	h, ok := a.shares.held[protocol.Key{Author: author, Kind: presence.Kind}]
	if !ok || !h.expires.After(a.now) || !a.lacks(author) {
		return false, protocol.Stamp{}
	}
	return true, a.newestOf(author)
}

func (a *Agent) chooseAuthors(now time.Time) {
	t := &a.topic
	all := t.choice.Turn(now, a.authorLimit(), announcers{a, now})
	maps.DeleteFunc(t.use, func(id peer.ID, _ float64) bool {
		return !slices.ContainsFunc(all, func(c largetopic.Candidate[peer.ID]) bool { return c.ID == id })
	})
}

// fetchDue adds the authors whose announced shares are to be fetched now to Ready.
func (a *Agent) fetchDue(now time.Time) {
	a.ready.Fetch = append(a.ready.Fetch, a.topic.choice.Fetch(now, a.authorLimit(), announcers{a, now})...)
}

// Suggest passes the authors that a keeper suggests to the agent. They are part of the next choice.
func (a *Agent) Suggest(authors []peer.ID) {
	if a.topic.possible && !a.keeping {
		a.topic.choice.Suggested = slices.Clone(authors[:min(len(authors), a.cfg.Large.Authors)])
	}
}

// Chosen returns the authors whose announced shares the agent fetches, sorted.
func (a *Agent) Chosen() []peer.ID { return slices.Sorted(maps.Keys(a.topic.choice.Chosen)) }

// LargeStatus is the state of announce and fetch in a large topic.
type LargeStatus struct {
	Authors   []peer.ID `json:"authors"`   // chosen authors, whose shares the agent fetches
	Announced int       `json:"announced"` // shares that these announce
	Stored    int       `json:"stored"`    // of the announced shares, those that the agent has
}

// LargeStatus returns nil while the topic is small.
func (a *Agent) LargeStatus() *LargeStatus {
	if !a.topic.large {
		return nil
	}
	status := LargeStatus{Authors: a.Chosen()}
	for _, id := range status.Authors {
		announced, stored := a.countAnnounced(id)
		status.Announced, status.Stored = status.Announced+announced, status.Stored+stored
	}
	return &status
}

// SyncRequest returns the request for the shares that the agent does not have. In a large topic it is
// for shares of the chosen authors and its own only.
func (a *Agent) SyncRequest() protocol.SyncRequest {
	if !a.topic.large {
		return protocol.SyncRequest{Have: a.Digest()}
	}
	authors := a.Chosen()
	if len(authors) >= protocol.MaxSyncAuthors { // a keeper's
		a.topic.rng.Shuffle(len(authors), func(i, j int) { authors[i], authors[j] = authors[j], authors[i] })
		authors = authors[:protocol.MaxSyncAuthors-1]
	}
	request := a.RequestOf(append(authors, a.self))
	request.Suggest = !a.keeping
	return request
}

// RequestOf returns the request for shares of the given authors, such as those of Ready.Fetch.
func (a *Agent) RequestOf(authors []peer.ID) protocol.SyncRequest {
	request := protocol.SyncRequest{Authors: authors, Have: a.evidence.digest()}
	for _, id := range authors {
		for _, h := range a.shares.of(id) {
			if (h.Kind != presence.Kind || id == a.self) && !a.withholdsRelease(h.Share.Share) {
				request.Have = append(request.Have, protocol.ShareIDOf(h.Share.Share))
			}
		}
	}
	return request
}

// Answer returns the items of the response to a sync request. In a large topic a request for shares of
// all authors, as a newcomer sends it, gets the latest presence messages and the shares of some authors.
func (a *Agent) Answer(now time.Time, from peer.ID, request protocol.SyncRequest) []protocol.SyncItem {
	var items []protocol.SyncItem
	if authors := a.suggestedTo(now, from); request.Suggest && len(authors) > 0 {
		items = append(items, protocol.SyncItem{Suggested: authors})
	}
	items = append(items, a.evidence.since(request.Have, now)...)
	accepts := func(protocol.Share) bool { return true }
	switch {
	case len(request.Authors) > 0:
		asked := map[peer.ID]bool{}
		for _, id := range request.Authors {
			asked[id] = true
		}
		accepts = func(s protocol.Share) bool { return asked[s.Author] && (s.Kind != presence.Kind || s.Author == from) }
	case a.topic.large:
		present := a.latest(a.cfg.Large.Above*3/2, from, func(h *held) bool { return h.Kind == presence.Kind && h.expires.After(now) })
		read := a.latest(a.cfg.Large.Authors, from, func(h *held) bool { return h.Kind != presence.Kind })
		accepts = func(s protocol.Share) bool {
			return s.Kind == presence.Kind && present[s.Author] || s.Kind != presence.Kind && read[s.Author]
		}
	}
	return append(items, a.shares.since(request.Have, now, func(s protocol.Share) bool { return !accepts(s) || a.withholdsRelease(s) })...)
}

// latest returns the authors of the latest accepted shares of those that filter accepts, and the author
// also.
func (a *Agent) latest(count int, also peer.ID, filter func(*held) bool) map[peer.ID]bool {
	list := slices.DeleteFunc(slices.Clone(a.shares.order), func(h *held) bool { return !filter(h) })
	slices.SortStableFunc(list, func(a, b *held) int { return b.accepted.Compare(a.accepted) })
	authors := map[peer.ID]bool{also: true}
	for _, h := range list {
		if len(authors) > count {
			break
		}
		authors[h.Author] = true
	}
	return authors
}
