// Package ratelimitlog keeps what other peers can cause out of logs: text that does something to
// a terminal or looks like a line of its own, and megabytes of it.
//
// A [Handler] makes all text of a record fit to be shown and bounds its length. A record
// below the level of a warning, or any that names a peer, is one of a kind, its message,
// about a peer, and a [Limit] says how many of these are written. How many were left out
// stands in the next one that is, as left_out, or in a record of its own. At the level of
// debugging nothing is left out: whoever asks for that wants to see it.
package ratelimitlog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/fbo-node/fbo/internal/sanitize"
)

const (
	maxText = 500 // characters of a message or an attribute

	reportInterval = time.Minute // how long nothing is said of what was left out, at least
)

// peerKeys are the attributes that name a peer, in fbo's and libp2p's records.
var peerKeys = map[string]bool{"peer": true, "remote_peer": true, "peerID": true, "peer_id": true, "to": true, "from": true}

// Handler passes records on. Those made of it by With share its limit.
type Handler struct {
	next  slog.Handler
	peer  string // that all records are about
	shown *shown
}

type shown struct {
	limit *Limit
	now   func() time.Time

	mu       sync.Mutex
	reported time.Time
}

var _ slog.Handler = Handler{}

// New returns a handler with a limit of its own.
func New(next slog.Handler) Handler { return newHandler(next, time.Now) }

func newHandler(next slog.Handler, now func() time.Time) Handler {
	return Handler{next: next, shown: &shown{limit: newLimit(now), now: now, reported: now()}}
}

// Enabled implements slog.Handler.
func (h Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// isClosedListener reports whether libp2p logs the orderly close of a TCP listener as an error: its
// upgrader may return an error that is not transport.ErrListenerClosed.
func isClosedListener(record slog.Record) (closed bool) {
	if record.Message != "swarm listener accept error" {
		return false
	}
	record.Attrs(func(a slog.Attr) bool {
		closed = a.Key == "err" && a.Value.String() == "listener closed"
		return !closed
	})
	return closed
}

// Handle implements slog.Handler.
func (h Handler) Handle(ctx context.Context, record slog.Record) error {
	if isClosedListener(record) {
		return nil
	}
	message := sanitize.Text(record.Message, maxText)
	left, ok := h.allow(record, message)
	if !ok {
		return nil
	}
	if stack := stackOf(record); stack != "" {
		message += "\n" + lines(stack)
	}
	clean := slog.NewRecord(record.Time, record.Level, message, record.PC)
	record.Attrs(func(a slog.Attr) bool {
		if a.Key != stackKey {
			clean.AddAttrs(readable(a))
		}
		return true
	})
	if left > 0 {
		clean.AddAttrs(slog.Int("left_out", left))
	}
	h.tell(ctx, false)
	return h.next.Handle(ctx, clean)
}

// allow tells whether a record is to be written, and how many like it were left out before.
func (h Handler) allow(record slog.Record, message string) (left int, ok bool) {
	about := h.peer
	record.Attrs(func(a slog.Attr) bool {
		if peerKeys[a.Key] {
			about = readable(a).Value.String()
		}
		return true
	})
	if record.Level < slog.LevelInfo || about == "" && record.Level >= slog.LevelWarn {
		return 0, true
	}
	return h.shown.limit.Allow(message, about)
}

// Tell writes how many records were left out of which nothing was said yet. Handle does
// so at times; whoever ends a log calls it last.
func (h Handler) Tell(ctx context.Context) { h.tell(ctx, true) }

func (h Handler) tell(ctx context.Context, atOnce bool) {
	s := h.shown
	s.mu.Lock()
	now := s.now()
	due := atOnce || now.Sub(s.reported) >= reportInterval
	if due {
		s.reported = now
	}
	s.mu.Unlock()
	if !due || !h.next.Enabled(ctx, slog.LevelWarn) {
		return
	}
	for message, count := range s.limit.Left() {
		r := slog.NewRecord(now, slog.LevelWarn, "records were left out", 0)
		r.AddAttrs(slog.String("like", message), slog.Int("left_out", count))
		_ = h.next.Handle(ctx, r) // as that of any other record, its error is nobody's
	}
}

// WithAttrs implements slog.Handler.
func (h Handler) WithAttrs(attributes []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attributes))
	for i, a := range attributes {
		clean[i] = readable(a)
		if peerKeys[a.Key] {
			h.peer = clean[i].Value.String()
		}
	}
	h.next = h.next.WithAttrs(clean)
	return h
}

// WithGroup implements slog.Handler.
func (h Handler) WithGroup(name string) slog.Handler {
	h.next = h.next.WithGroup(name)
	return h
}

// readable is the attribute with all that may be text as text that can be shown. Errors
// become what they say: handlers that marshal what they get would write most of them as {}.
func readable(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(sanitize.Text(a.Value.String(), maxText))
	case slog.KindDuration: // which handlers write in nanoseconds
		a.Value = slog.StringValue(rounded(a.Value.Duration()).String())
	case slog.KindGroup:
		group := make([]slog.Attr, len(a.Value.Group()))
		for i, member := range a.Value.Group() {
			group[i] = readable(member)
		}
		a.Value = slog.GroupValue(group...)
	case slog.KindAny:
		switch v := a.Value.Any().(type) {
		case nil:
		case error:
			a.Value = slog.StringValue(sanitize.Text(v.Error(), maxText))
		default:
			a.Value = slog.StringValue(sanitize.Text(fmt.Sprint(v), maxText))
		}
	}
	return a
}

const longestWord = 24

// Shape is the kind of a message for people: its words but for those that have digits or are
// longer than words are, such as numbers and peers' IDs.
func Shape(message string) string {
	var words []string
	for word := range strings.FieldsSeq(message) {
		if len(word) <= longestWord && !strings.ContainsFunc(word, unicode.IsDigit) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
