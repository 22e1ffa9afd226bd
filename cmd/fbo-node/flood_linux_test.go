//go:build linux && long

package main_test

import (
	"context"
	"crypto/rand"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// flooder is a libp2p host that subscribes to topics that it makes up, as fast
// as its connection takes them, and comes back whenever it is cut off.
type flooder struct {
	target  peer.AddrInfo
	topic   func() string
	renames bool          // comes back under a new name
	pause   time.Duration // before it comes back

	sent, cut atomic.Int64 // subscriptions, and how often it was cut off
}

func (f *flooder) run(ctx context.Context) error {
	h, err := newFlooderHost()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		f.flood(ctx, h)
		f.cut.Add(1)
		time.Sleep(f.pause)
		if !f.renames {
			continue
		}
		_ = h.Close()
		if h, err = newFlooderHost(); err != nil {
			return err
		}
	}
	return h.Close()
}

func newFlooderHost() (host.Host, error) {
	return libp2p.New(libp2p.NoListenAddrs, libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.DisableMetrics())
}

// flood returns when it is cut off.
func (f *flooder) flood(ctx context.Context, h host.Host) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := h.Connect(ctx, f.target); err != nil {
		time.Sleep(10 * time.Millisecond) // libp2p refuses to dial again at once
		return
	}
	s, err := h.NewStream(ctx, f.target.ID, pubsub.GossipSubID_v11)
	if err != nil {
		return
	}
	defer func() { _ = s.Reset() }()
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	for {
		rpc := &pb.RPC{}
		for range 1000 {
			topic, subscribe := f.topic(), true
			rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &subscribe})
		}
		if _, err := protodelim.MarshalTo(s, rpc); err != nil {
			return
		}
		f.sent.Add(1000)
	}
}

func madeUp() string { return rand.Text() }

// wellFormed is a topic of a task that does not exist.
func wellFormed() string {
	hash, err := multihash.Sum([]byte(rand.Text()), multihash.SHA2_256, -1)
	if err != nil {
		panic(err)
	}
	return "/fbo/task/1/" + cid.NewCidV1(cid.Raw, hash).String()
}

// A node that somebody floods with subscriptions to topics that do not exist
// keeps its memory, goes on with its trials and ends when it is told to.
func TestLongFloodOfSubscriptions(t *testing.T) {
	const duration, maxMB = 15 * time.Second, 150
	const often = time.Second / 2 // as a node lets one address connect, its own machine apart
	for _, c := range []struct {
		name    string
		topic   func() string
		pause   time.Duration
		renames bool
	}{
		{"made-up names", madeUp, often, false},
		{"well-formed names", wellFormed, often, false},
		{"one that does not wait", madeUp, 0, false},
		{"one name after another", madeUp, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := writeFile(t, "task.yaml", bowlTask)
			p := start(t, join(runLine(file, shortTempDir(t), "--json"), objective("steady"))...)
			target, err := peer.AddrInfoFromString(p.tcpAddress(t))
			if err != nil {
				t.Fatal(err)
			}
			f := &flooder{target: *target, topic: c.topic, pause: c.pause, renames: c.renames}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			flooded := make(chan error, 1)
			go func() { flooded <- f.run(ctx) }()

			most, trials := 0.0, len(p.of("trial_finished"))
			for began := time.Now(); time.Since(began) < duration; time.Sleep(100 * time.Millisecond) {
				most = max(most, residentMB(t, p.command.Process.Pid))
			}
			trials = len(p.of("trial_finished")) - trials
			p.signal(t, os.Interrupt)
			disclosed := time.Now()
			if code := p.wait(t); code != base.ExitDone {
				t.Errorf("exit code %d, want %d", code, base.ExitDone)
			}
			took := time.Since(disclosed)
			cancel()
			if err := <-flooded; err != nil {
				t.Error(err)
			}
			used := p.command.ProcessState.SysUsage().(*syscall.Rusage)
			t.Logf("%d subscriptions, cut off %d times; at most %.0f MB resident, %d trials meanwhile, ended %v after the signal, %v of processor time in all",
				f.sent.Load(), f.cut.Load(), most, trials, took.Round(time.Millisecond), time.Duration(used.Utime.Nano()+used.Stime.Nano()).Round(time.Millisecond))
			if most > maxMB {
				t.Errorf("%.0f MB resident, want at most %d", most, maxMB)
			}
			if trials == 0 {
				t.Error("no trial while the flood went on")
			}
			if f.cut.Load() == 0 {
				t.Error("the sender was not cut off")
			}
		})
	}
}
