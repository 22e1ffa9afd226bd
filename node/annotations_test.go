package node_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// wiretap records all bytes that are written to the streams of hosts, before their encryption.
type wiretap struct {
	mu      sync.Mutex
	streams map[network.Stream]*bytes.Buffer
	by      map[libp2pprotocol.ID]int // number of bytes
}

func newWiretap() *wiretap {
	return &wiretap{streams: map[network.Stream]*bytes.Buffer{}, by: map[libp2pprotocol.ID]int{}}
}

// host returns a host whose streams are recorded.
func (w *wiretap) host(h host.Host) host.Host { return tappedHost{h, w} }

type tappedHost struct {
	host.Host
	tap *wiretap
}

func (h tappedHost) NewStream(ctx context.Context, p peer.ID, protocols ...libp2pprotocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, protocols...)
	if err != nil {
		return nil, err
	}
	return tappedStream{s, h.tap}, nil
}

func (h tappedHost) SetStreamHandler(id libp2pprotocol.ID, handler network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) { handler(tappedStream{s, h.tap}) })
}

func (h tappedHost) SetStreamHandlerMatch(id libp2pprotocol.ID, match func(libp2pprotocol.ID) bool, handler network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(id, match, func(s network.Stream) { handler(tappedStream{s, h.tap}) })
}

type tappedStream struct {
	network.Stream
	tap *wiretap
}

func (s tappedStream) Write(p []byte) (int, error) {
	s.tap.mu.Lock()
	written := s.tap.streams[s.Stream]
	if written == nil {
		written = &bytes.Buffer{}
		s.tap.streams[s.Stream] = written
	}
	written.Write(p)
	s.tap.by[s.Protocol()] += len(p)
	s.tap.mu.Unlock()
	return s.Stream.Write(p)
}

// forms returns the encodings in which a text could be sent: as it is, which is the form of protobuf
// and JSON too, in hexadecimal digits, and in base64 at each offset.
func forms(text string) map[string][]byte {
	all := map[string][]byte{
		"text": []byte(text), "hex": []byte(hex.EncodeToString([]byte(text))), "HEX": []byte(strings.ToUpper(hex.EncodeToString([]byte(text)))),
	}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString(append(make([]byte, offset), text...))
		// Only the characters that no neighbouring byte has a part in.
		first, last := (offset*8+5)/6, (offset+len(text))*8/6
		all[fmt.Sprintf("base64 at %d", offset)] = []byte(encoded[first:last])
		all[fmt.Sprintf("base64url at %d", offset)] = []byte(strings.NewReplacer("+", "-", "/", "_").Replace(encoded[first:last]))
	}
	return all
}

// TestFormsAreFound shows that the search finds a text in each encoding at each offset.
func TestFormsAreFound(t *testing.T) {
	const marker = "kept-marker-7f3a"
	for offset := range 6 {
		text := strings.Repeat("x", offset) + marker + "yz"
		for _, sent := range []string{text, hex.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text))} {
			found := false
			for _, form := range forms(marker) {
				found = found || strings.Contains(sent, string(form))
			}
			if !found {
				t.Errorf("the marker is not found in %q", sent)
			}
		}
	}
}

// TestNothingKeptForTheUserIsSent: two nodes on one task, whose files differ in all that is not part
// of the ID, exchange shares through a hub that keeps the task. No stream of the three contains a
// text from the description or the annotations, or, unless designs are what the strategy shares, the
// default.
func TestNothingKeptForTheUserIsSent(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"fts", "peer-prior", "density"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			nothingKeptIsSent(t, kind)
		})
	}
}

func nothingKeptIsSent(t *testing.T, kind string) {
	var markers []string
	mark := func(what string) string {
		marker := fmt.Sprintf("kept-%s-7f3a%02d", what, len(markers))
		markers = append(markers, marker)
		return marker
	}
	const text = `name: watched
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2%s}
  - {name: y, type: float, low: -2, high: 2}
constraints:
  - {name: ram, high: 100%s}
surrogate: {features: 16}
strategy: {type: %s, initial_designs: 1}
%s`
	whole := func(x, ram, rest string) string {
		made := fmt.Sprintf(text, x, ram, kind, rest)
		if kind == "fts" { // it has no constraints
			made = strings.Replace(made, "constraints:\n  - {name: ram, high: 100"+ram+"}\n", "", 1)
		}
		return made
	}
	const byDefault = 0.123456789
	described := func() string {
		remark := func(what string) string {
			return fmt.Sprintf(", description: %s, unit: %s", mark(what), mark(what+"-unit"))
		}
		return whole(remark("parameter"), remark("constraint"), fmt.Sprintf("description: %s\nunit: %s\ntags: [%s]\ndefault: {x: %v, y: 1.1}\n", mark("about"), mark("unit"), mark("tag"), byDefault))
	}
	tap := newWiretap()
	h := &node.Hub{Strategies: all.Strategies()}
	h.Wrap(tap.host)
	hub := startHub(t, h)
	if _, err := h.Keep(t.Context(), parse(t, described())); err != nil {
		t.Fatal(err)
	}
	var members []*node.Session
	got := make([]int, 2)
	var mu sync.Mutex
	for i, file := range []string{described(), whole("", "", "")} {
		n := through(t, hub)
		n.Dir, n.Listen = t.TempDir(), loopbackAddresses()
		n.Wrap(tap.host)
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		s, err := n.Join(t.Context(), parse(t, file), node.JoinOptions{Wait: -1, OnEvent: func(e node.Event) {
			if e.Type == node.ShareReceived && e.Peer != h.ID() {
				mu.Lock()
				got[i]++
				mu.Unlock()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, s)
	}
	annotated := func() strategy.Annotations {
		return strategy.Annotations{
			Attributes: map[string]string{mark("name"): mark("attribute")}, Tags: []string{mark("tag")},
			Files: []strategy.File{{Path: mark("path"), SHA256: strings.Repeat("7f3a", 16)}}, Notes: []strategy.Note{{Text: mark("note"), Author: mark("author")}},
		}
	}
	ctx := t.Context()
	exchanged := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return got[0] > 1 && got[1] > 1
	}
	first := true
	for round := 0; round < 4 || !exchanged() && round < 100; round++ {
		for _, s := range members {
			trial, err := s.Ask(ctx)
			if err != nil {
				t.Fatal(err)
			}
			x := trial.Design.Float("x")
			if first && x != byDefault {
				t.Errorf("the first design is %v, expected the task's default", trial.Design)
			}
			first = false
			if err := s.Annotate(ctx, trial.ID, strategy.Adding(annotated())); err != nil {
				t.Fatal(err)
			}
			outcome := strategy.Outcome{Value: x * x, Annotations: annotated()}
			if kind != "fts" {
				outcome = strategy.Outcome{Value: x * x, Annotations: outcome.Annotations, Constraints: map[string]task.Reading{"ram": task.Number(10)}}
			}
			if round%3 == 2 {
				err = s.Fail(ctx, trial.ID, mark("reason"))
			} else {
				err = s.TellOutcome(ctx, trial.ID, outcome)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Settle(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !exchanged() {
		t.Fatalf("the nodes did not exchange shares: %v", got)
	}
	for _, s := range members {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	look := map[string]map[string][]byte{strings.Repeat("7f3a", 16): forms(strings.Repeat("7f3a", 16))}
	for _, marker := range markers {
		look[marker] = forms(marker)
	}
	if kind != "density" { // it shares designs
		look["the default"] = encodings(byDefault)
		delete(look["the default"], "text")
	}
	tap.mu.Lock()
	defer tap.mu.Unlock()
	size := 0
	for s, written := range tap.streams {
		size += written.Len()
		for marker, encoded := range look {
			for form, one := range encoded {
				if bytes.Contains(written.Bytes(), one) {
					t.Errorf("%s was sent as %s over %s", marker, form, s.Protocol())
				}
			}
		}
	}
	t.Logf("%d markers in %d bytes on %d streams: %v", len(look), size, len(tap.streams), tap.by)
	if size < 5000 || len(tap.by) < 2 {
		t.Error("too little was sent to be a test")
	}
}
