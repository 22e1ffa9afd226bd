package node_test

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/marcopolo/simnet"
)

func TestHalvesThatWereCutShareAgain(t *testing.T) { testCut(t, 10) }

// Two halves of a network that see nothing of each other for two minutes, long
// after all connections between them have died, share again within a minute.
func testCut(t *testing.T, count int) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		var cut atomic.Bool
		half := map[string]int{}
		for i := range count {
			half[simnet.IntToPublicIPv4(i).String()] = i % 2
		}
		between := func(p *simnet.Packet) bool {
			return half[p.From.(*net.UDPAddr).IP.String()] != half[p.To.(*net.UDPAddr).IP.String()]
		}
		f.latency = func(p *simnet.Packet) time.Duration {
			if cut.Load() && between(p) {
				return 1000 * time.Hour
			}
			return oneWay
		}
		f.star(count)
		f.evaluateAll(10 * time.Second)
		if pairs, _ := f.missing(); pairs > 0 {
			t.Fatalf("%d shares have not arrived before the cut", pairs)
		}
		cut.Store(true)
		time.Sleep(2 * time.Minute)
		f.evaluateAll(10 * time.Second)
		if pairs, _ := f.missing(); pairs < count*count/2 {
			t.Fatalf("%d shares are missing in two halves of %d: nothing was cut", pairs, count/2)
		}
		cut.Store(false)
		healed := time.Now()
		for {
			pairs, _ := f.missing()
			if pairs == 0 {
				break
			}
			if time.Since(healed) > time.Minute {
				t.Fatalf("%d shares are missing a minute after the cut was healed", pairs)
			}
			time.Sleep(time.Second)
		}
		t.Logf("all shares had arrived %v after the cut was healed", time.Since(healed))
	})
}

func TestChurn(t *testing.T) { testChurn(t, 10, 2*time.Minute) }

// Three tenths of the nodes leave within ten minutes and others come, who know
// the first. Who is there for a minute is up to date.
func testChurn(t *testing.T, count int, duration time.Duration) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.star(count)
		began := time.Now()
		joined := map[*simulated]time.Time{}
		for _, n := range f.nodes {
			joined[n] = began
		}
		every := 10 * time.Minute / time.Duration(max(1, count*3/10))
		next, changes, checks := began.Add(every/4), 0, 0
		for round := 1; time.Since(began) < duration; round++ {
			if time.Now().After(next) {
				leaver := f.nodes[1+changes%(len(f.nodes)-1)]
				f.nodes = slices.DeleteFunc(f.nodes, func(n *simulated) bool { return n == leaver })
				leaver.close()
				newcomer := f.add()
				newcomer.connectTo(f.nodes[0])
				joined[newcomer] = time.Now()
				next, changes = next.Add(every), changes+1
			}
			f.evaluateAll(10 * time.Second)
			f.mu.Lock()
			for _, receiver := range f.nodes {
				for _, sender := range f.nodes {
					if receiver == sender || time.Since(joined[receiver]) < time.Minute || time.Since(joined[sender]) < time.Minute {
						continue
					}
					checks++
					if receiver.got[sender.node.ID()].Before(f.sent[sender.node.ID()]) {
						t.Errorf("round %d: a share has not arrived after 10s between nodes that are there for a minute", round)
					}
				}
			}
			f.mu.Unlock()
		}
		t.Logf("%d nodes came and went, %d pairs were up to date", changes, checks)
		if changes == 0 || checks == 0 {
			t.Error("nothing was tested")
		}
	})
}
