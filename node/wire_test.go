package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fbo-node/fbo/protocol"
)

// listener is a peer that keeps everything that is said to it.
type listener struct {
	mu       sync.Mutex
	messages [][]byte
}

func (l *listener) hear(message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, bytes.Clone(message))
}

// During a whole run a peer hears all gossip, and all that the sync stream tells
// those who ask; none of it holds a measured value or, unless designs are what
// the strategy shares, a coordinate of an evaluated design in any usual encoding.
//
// The test cannot show that nobody can work values out: a share is a function
// that was fitted to them, and without added noise it can be inverted. It shows
// only that they are not sent as such.
func TestNothingMeasuredIsSentAsSuch(t *testing.T) {
	for _, strategy := range []string{"fts", "peer-prior", "constrained-gp, threshold: private"} {
		t.Run(strategy, func(t *testing.T) { nothingMeasuredIsSent(t, strategy, false) })
	}
	for _, strategy := range []string{"consensus", "constrained-gp", "density"} {
		t.Run(strategy, func(t *testing.T) { nothingMeasuredIsSent(t, strategy, true) })
	}
}

// nothingMeasuredIsSent looks for values, and for the coordinates of designs
// unless the strategy shares designs.
func nothingMeasuredIsSent(t *testing.T, strategy string, designs bool) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.task = parse(t, fmt.Sprintf(`
name: watched
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 10}
  - {name: y, type: float, low: 1, high: 1000, scale: log}
surrogate: {features: 16}
strategy: {type: %s, initial_designs: 2}
`, strategy))
		f.star(3)
		received := &listener{}
		var fetched atomic.Int64
		tap := f.attackBy(0, attack{polite: true, turn: func(a *attacker, n uint64) {
			if message := a.received.Load(); message != nil {
				received.hear(*message)
			}
			if n%10 == 0 {
				if answer := a.fetchEverything(); len(answer) > 0 {
					fetched.Add(1)
					received.hear(answer)
				}
			}
		}})
		var secrets []float64
		for range 6 {
			for _, n := range f.nodes {
				trial, err := n.session.Ask(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				x, y := trial.Design.Float("x"), trial.Design.Float("y")
				value := math.Sin(x) + math.Log(y) + 0.123456789
				if err := n.session.Tell(context.Background(), trial.ID, value); err != nil {
					t.Fatal(err)
				}
				look := []float64{value, -value}
				if !designs {
					look = append(look, x, y, math.Log(y), x/10, math.Log(y)/math.Log(1000))
				}
				for _, v := range look {
					if len(encodings(v)["text"]) > 5 { // a bound is on the wire for other reasons
						secrets = append(secrets, v)
					}
				}
				time.Sleep(time.Second)
			}
		}
		time.Sleep(2 * time.Second)
		tap.close()
		received.mu.Lock()
		defer received.mu.Unlock()
		size := 0
		for _, message := range received.messages {
			size += len(message)
			for _, secret := range secrets {
				for form, encoded := range encodings(secret) {
					if bytes.Contains(message, encoded) {
						t.Errorf("%v was sent as %s", secret, form)
					}
				}
			}
		}
		t.Logf("%d messages, %d bytes, %d numbers to look for", len(received.messages), size, len(secrets))
		if fetched.Load() < 5 || len(received.messages) < 50 || len(secrets) < 30 {
			t.Error("too little was heard to be a test")
		}
	})
}

func encodings(v float64) map[string][]byte {
	double, single := math.Float64bits(v), math.Float32bits(float32(v))
	return map[string][]byte{
		"float64, little-endian": binary.LittleEndian.AppendUint64(nil, double),
		"float64, big-endian":    binary.BigEndian.AppendUint64(nil, double),
		"float32, little-endian": binary.LittleEndian.AppendUint32(nil, single),
		"float32, big-endian":    binary.BigEndian.AppendUint32(nil, single),
		"text":                   []byte(strconv.FormatFloat(v, 'g', 6, 64)),
	}
}

// fetchEverything asks the first node for all its shares; nil when it does not
// answer.
func (a *attacker) fetchEverything() []byte {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := a.host.NewStream(ctx, a.fleet.nodes[0].host.ID(), a.syncProtocol())
	if err != nil {
		return nil
	}
	defer s.Close()
	if err := protocol.WriteSyncRequest(s, protocol.SyncRequest{}); err != nil {
		return nil
	}
	_ = s.CloseWrite()
	answer, err := io.ReadAll(s)
	if err != nil {
		return nil
	}
	return answer
}
