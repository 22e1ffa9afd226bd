package democmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/random"
)

// sites is the number of sites of the demo. The last one joins when the others have finished.
const sites = 4

// federation holds the nodes of one seed.
type federation struct {
	options
	program string
	dir     string
	peers   []*site // with peers
	solo    []*site // the same sites alone
	started func(*site)
	warn    func(string)
}

// newFederation returns the sites of a seed with their data; no node has started.
func newFederation(o options, program, dir string, seed uint64) (*federation, error) {
	f := &federation{options: o, program: program, dir: dir}
	f.seed = seed
	for i := range sites {
		data, err := o.data(seed, i)
		if err != nil {
			return nil, err
		}
		for _, group := range []struct {
			of   *[]*site
			with string
		}{{&f.peers, "with peers"}, {&f.solo, "alone"}} {
			*group.of = append(*group.of, &site{
				name:      fmt.Sprintf("site %d %s", i+1, group.with),
				dir:       filepath.Join(dir, fmt.Sprintf("%d-%s", i+1, group.with[:5])),
				data:      data,
				trainSeed: seed,
				seed:      1000*seed + uint64(i),
				warn:      func(text string) { f.warn(text) },
			})
		}
	}
	return f, nil
}

// data returns the data of a site.
func (o options) data(seed uint64, index int) (*synthetic.Data, error) {
	c := synthetic.Config{Seed: seed, Node: index, Samples: samples, Common: common}
	if o.dissimilar {
		c.Common, c.Alpha, c.Beta = 0, 1, 1
	}
	data, err := synthetic.Generate(c)
	if err == nil {
		data.Standardize()
	}
	return data, err
}

// start starts the nodes of sites. Each dials the peers that have started.
func (f *federation) start(ctx context.Context, from, until int) error {
	var group errgroup.Group
	group.Go(func() error {
		for i := from; i < until; i++ {
			if err := f.startOne(ctx, f.peers[i], f.strategy, i, f.peers[:i]); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for i := from; i < until; i++ {
			if err := f.startOne(ctx, f.solo[i], "alone", sites+i, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

func (f *federation) startOne(ctx context.Context, s *site, strategy string, index int, peers []*site) error {
	var addresses []string
	for _, peer := range peers {
		addresses = append(addresses, peer.addresses[0])
	}
	if err := s.start(ctx, f.program, random.SeedOf(f.seed).Derive("demo identity", uint64(index)), addresses); err != nil {
		return err
	}
	if err := s.join(ctx, taskText(strategy)); err != nil {
		return err
	}
	f.started(s)
	return nil
}

// play runs both scenes.
//
// Scene one is in rounds: all sites choose, then all evaluate, then each waits for the shares of all
// others. Therefore each choice depends on the same shares in every run of a seed, whatever the time
// of their arrival. In scene two the shares of the three do not change while the fourth chooses.
func (f *federation) play(ctx context.Context) error {
	const last = sites - 1
	if err := f.start(ctx, 0, last); err != nil {
		return err
	}
	if err := settle(ctx, f.peers[:last], connected); err != nil {
		return err
	}
	for range f.evals {
		if err := round(ctx, f.peers[:last], f.solo[:last]); err != nil {
			return err
		}
		if err := settle(ctx, f.peers[:last], received); err != nil {
			return err
		}
	}
	if err := f.start(ctx, last, sites); err != nil {
		return err
	}
	if err := settle(ctx, f.peers, joined); err != nil {
		return err
	}
	for range f.joinerEvals() {
		if err := round(ctx, f.peers[last:], f.solo[last:]); err != nil {
			return err
		}
	}
	return settle(ctx, slices.Concat(f.peers, f.solo), func([]state) bool { return true })
}

// round evaluates one trial at each site: no training begins before all sites have chosen.
func round(ctx context.Context, groups ...[]*site) error {
	for _, step := range []func(*site, context.Context) error{(*site).choose, (*site).evaluate} {
		group, ctx := errgroup.WithContext(ctx)
		for _, sites := range groups {
			for _, s := range sites {
				group.Go(func() error { return step(s, ctx) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// state is the part of a node's status on which the demo waits.
type state struct {
	PeerID     string   `json:"peer_id"`
	TopicPeers []string `json:"topic_peers"`
	Computing  bool     `json:"computing"`
	Sent       int      `json:"shares_sent"`
	Received   int      `json:"shares_received"`
	BytesSent  int64    `json:"bytes_sent"`
	Stored     struct {
		PeerShares int `json:"peer_shares"`
		OwnShares  int `json:"own_shares"`
	} `json:"stored"`
}

// connected reports whether each node is connected to all others.
func connected(states []state) bool {
	for _, s := range states {
		if len(s.TopicPeers) < len(states)-1 {
			return false
		}
	}
	return true
}

// received reports whether each node has received every share that the others have sent.
func received(states []state) bool {
	sent := 0
	for _, s := range states {
		sent += s.Sent
	}
	for _, s := range states {
		if s.Received < sent-s.Sent {
			return false
		}
	}
	return true
}

// joined reports whether the last node holds the shares of all others.
func joined(states []state) bool {
	own, last := 0, states[len(states)-1]
	for _, s := range states[:len(states)-1] {
		own += s.Stored.OwnShares
	}
	return len(last.TopicPeers) == len(states)-1 && last.Stored.PeerShares >= own
}

// Limits of settle. A lost share arrives within a minute.
const (
	poll     = 5 * time.Millisecond
	patience = 3 * time.Minute
)

// settle waits until no node computes and their states fulfil a condition.
func settle(ctx context.Context, of []*site, condition func([]state) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("demo: shares did not arrive within "+patience.String()))
	defer cancel()
	for {
		var states []state
		for _, s := range of {
			var now state
			if err := s.ask(ctx, "/"+s.task+"/status", nil, &now); err != nil {
				return err
			}
			if now.Computing {
				break
			}
			s.run.PeerID, s.run.BytesSent = now.PeerID, now.BytesSent
			states = append(states, now)
		}
		if len(states) == len(of) && condition(states) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// end ends all nodes at once, so that none dials a peer that has ended.
func (f *federation) end() (err error) {
	var running []*site
	for i := range f.peers {
		for _, s := range []*site{f.peers[i], f.solo[i]} {
			if s.command != nil {
				s.end()
				running = append(running, s)
			}
		}
	}
	for _, s := range running {
		err = errors.Join(err, s.wait())
	}
	return err
}

// temporary returns a directory for a seed's nodes, and a function that removes it.
func (o options) temporary() (dir string, remove func() error, err error) {
	if o.dir != "" {
		return o.dir, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "fbo-demo-"); err != nil {
		return "", nil, fmt.Errorf("demo: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}
