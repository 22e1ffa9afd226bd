package node_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// TestHostileFormerShares: a cached share of the former task counts only if a peer of that task could
// have published it. All others are refused before they are mapped, and no design depends on them.
func TestHostileFormerShares(t *testing.T) {
	t.Parallel()
	const maxAuthors = 1024 // of an agent, also of that which validates the former shares
	dir := t.TempDir()
	own, err := store.LoadIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, warnings := startWarned(t, dir)

	honest := func() *pb.Density {
		return &pb.Density{Observations: 9, Components: []*pb.Component{{Weight: 1, Std: 0.2, Center: &pb.Point{Coordinates: []float32{0.3}}}}}
	}
	with := func(change func(d *pb.Density)) []byte {
		d := honest()
		change(d)
		payload, err := proto.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return payload
	}
	valid := with(func(*pb.Density) {})
	center := func(coordinates ...float32) []byte {
		return with(func(d *pb.Density) { d.Components[0].Center.Coordinates = coordinates })
	}
	now := time.Now()
	seal := func(of *task.Task, key crypto.PrivKey, kind string, sequence uint64, ttl time.Duration, payload []byte) []byte {
		share, err := protocol.Seal(protocol.Share{
			Task: of.ID(), Key: protocol.Key{Kind: kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence}, TTL: ttl, Payload: payload,
		}, key)
		if err != nil {
			t.Fatal(err)
		}
		return share.Envelope
	}
	day := 24 * time.Hour
	one := func(payload []byte) func(of *task.Task) sharecache.Contents {
		return func(of *task.Task) sharecache.Contents {
			return sharecache.Contents{Shares: []sharecache.Share{{Envelope: seal(of, fbotest.Key(t, 1), protocol.DensityKind, 1, day, payload), Sent: now}}}
		}
	}
	changed := func(change func(of *task.Task, c *sharecache.Contents)) func(of *task.Task) sharecache.Contents {
		return func(of *task.Task) sharecache.Contents {
			c := one(valid)(of)
			change(of, &c)
			return c
		}
	}
	replaced := func(envelope func(of *task.Task) []byte) func(of *task.Task) sharecache.Contents {
		return changed(func(of *task.Task, c *sharecache.Contents) { c.Shares[0].Envelope = envelope(of) })
	}
	author, err := peer.IDFromPrivateKey(fbotest.Key(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name  string
		cache func(of *task.Task) sharecache.Contents
		used  int
	}{
		{"a peer's", one(valid), 1},
		{"a changed byte", changed(func(_ *task.Task, c *sharecache.Contents) {
			c.Shares[0].Envelope[len(c.Shares[0].Envelope)-1] ^= 1 // of the signature
		}), 0},
		{"no envelope", replaced(func(*task.Task) []byte { return []byte("no envelope") }), 0},
		{"of another task", replaced(func(of *task.Task) []byte {
			return seal(parse(t, continuedTask), fbotest.Key(t, 1), protocol.DensityKind, 1, day, valid)
		}), 0},
		{"by this node", replaced(func(of *task.Task) []byte { return seal(of, own, protocol.DensityKind, 1, day, valid) }), 0},
		{"of an unknown kind", replaced(func(of *task.Task) []byte { return seal(of, fbotest.Key(t, 1), "unknown", 1, day, valid) }), 0},
		{"of another kind", replaced(func(of *task.Task) []byte {
			return seal(of, fbotest.Key(t, 1), protocol.NearOptimalKind, 1, day, valid)
		}), 0},
		{"short-lived", replaced(func(of *task.Task) []byte {
			return seal(of, fbotest.Key(t, 1), protocol.DensityKind, 1, time.Minute, valid)
		}), 0},
		{"expired", changed(func(_ *task.Task, c *sharecache.Contents) { c.Shares[0].Sent = now.Add(-day) }), 0},
		{"sent in the future", changed(func(_ *task.Task, c *sharecache.Contents) { c.Shares[0].Sent = now.Add(1000 * day) }), 1},
		{"of an ignored author", changed(func(_ *task.Task, c *sharecache.Contents) { c.Distrusted = map[string]uint64{author.String(): 1} }), 0},
		{"of an equivocator", changed(func(of *task.Task, c *sharecache.Contents) {
			c.Shares = append(c.Shares, sharecache.Share{Envelope: c.Shares[0].Envelope, ConflictingShare: seal(of, fbotest.Key(t, 1), protocol.DensityKind, 1, day, center(0.9)), Sent: now})
		}), 0},
		{"a replayed older share", changed(func(of *task.Task, c *sharecache.Contents) {
			c.Shares = append(c.Shares, sharecache.Share{Envelope: seal(of, fbotest.Key(t, 1), protocol.DensityKind, 2, day, valid), Sent: now}, c.Shares[0])
		}), 1},
		{"no density", one([]byte("no density")), 0},
		{"no components", one(with(func(d *pb.Density) { d.Components = nil })), 0},
		{"two components", one(with(func(d *pb.Density) {
			d.Components[0].Weight = 0.5
			d.Components = append(d.Components, d.Components[0])
		})), 0},
		{"no coordinates", one(center()), 0},
		{"two coordinates", one(center(0.3, 0.3)), 0},
		{"a choice", one(with(func(d *pb.Density) { d.Components[0].Center.Choices = []uint32{0} })), 0},
		{"NaN", one(center(float32(math.NaN()))), 0},
		{"infinite", one(center(float32(math.Inf(1)))), 0},
		{"above the cube", one(center(math.Nextafter32(1, 2))), 0},
		{"below the cube", one(center(-0.1)), 0},
		{"a weight that is NaN", one(with(func(d *pb.Density) { d.Components[0].Weight = float32(math.NaN()) })), 0},
		{"a weight of 2", one(with(func(d *pb.Density) { d.Components[0].Weight = 2 })), 0},
		{"a spread that is NaN", one(with(func(d *pb.Density) { d.Components[0].Std = float32(math.NaN()) })), 0},
		{"a spread of 0", one(with(func(d *pb.Density) { d.Components[0].Std = 0 })), 0},
		{"no observations", one(with(func(d *pb.Density) { d.Observations = 0 })), 0},
		{"too many observations", one(with(func(d *pb.Density) { d.Observations = math.MaxUint32 })), 0},
		{"a private release", one(with(func(d *pb.Density) { d.Release = 1 })), 0},
		{"too many", func(of *task.Task) (all sharecache.Contents) {
			for k := range maxAuthors + 50 {
				all.Shares = append(all.Shares, sharecache.Share{Envelope: seal(of, fbotest.Key(t, k+1), protocol.DensityKind, 1, day, valid), Sent: now})
			}
			return all
		}, maxAuthors},
	} {
		text := fmt.Sprintf("name: line%d\ngoal: minimize\nsurrogate: {features: 16}\nstrategy: {type: density, components: 1, spread: 0.2}\nparameters:\n  - {name: x, type: float, low: 0, high: ", i)
		former := parse(t, text+"1}\n")
		evaluateLine(t, joinTask(t, n, former), 1)
		contents := c.cache(former)
		contents.Task = former.ID().String()
		if err := sharecache.Write(filepath.Join(dir, "peer-shares", former.ID().String()+".jsonl"), contents); err != nil {
			t.Fatal(err)
		}
		session := joinTask(t, n, parse(t, text+"2}\ncontinues: "+former.ID().String()+"\n"))
		if got := session.Continued(); got == nil || got.PeerShares != c.used || len(got.DroppedShares) > 0 {
			t.Errorf("%s: %+v, expected %d shares of peers", c.name, got, c.used)
		}
		evaluateLine(t, session, 4)
		trials, err := session.Trials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last := trials[len(trials)-1]; last.Why.FromPeers() != (c.used > 0) || last.Why.PeerCount > c.used {
			t.Errorf("%s: the last design has the reason %+v, expected one with %d peers", c.name, last.Why, c.used)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(*warnings) > 0 {
		t.Errorf("warnings: %q", *warnings)
	}
}
