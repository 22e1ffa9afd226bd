// Package ratelimitlog limits what peers can write into logs: control characters for terminals, text
// that looks like a separate line, and large amounts.
//
// A [Handler] makes all text of a record printable and limits its length. It also limits the rate of
// records about peers, and of all records below the level of warnings, by a [Limit] for each message
// and peer. The next record of that kind has the number of omitted records in the attribute left_out;
// without a next record, a separate record reports it. Records of debug level are never omitted.
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
	maxText = 500 // maximum number of characters of a message or an attribute

	reportInterval = time.Minute // minimum time between reports of omitted records
)

// peerKeys has the attributes that contain a peer in records of fbo and libp2p.
var peerKeys = map[string]bool{"peer": true, "remote_peer": true, "peerID": true, "peer_id": true, "to": true, "from": true}

// Handler is a slog.Handler that passes limited records to another one. Handlers from WithAttrs and
// WithGroup share its limit.
type Handler struct {
	next  slog.Handler
	peer  string // peer from WithAttrs, which all records of this handler are about
	shown *shown
}

type shown struct {
	limit *Limit
	now   func() time.Time

	mu       sync.Mutex
	reported time.Time
}

var _ slog.Handler = Handler{}

// New returns a handler with its own limit.
func New(next slog.Handler) Handler { return newHandler(next, time.Now) }

func newHandler(next slog.Handler, now func() time.Time) Handler {
	return Handler{next: next, shown: &shown{limit: newLimit(now), now: now, reported: now()}}
}

// Enabled implements slog.Handler.
func (h Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// isClosedListener reports whether a record is libp2p's error about the regular close of a TCP
// listener. libp2p logs it because its upgrader may return an error that is not
// transport.ErrListenerClosed.
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

// allow reports whether to write a record, and the number of similar records that were omitted
// before it.
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

// Tell writes the numbers of omitted records that no other record has reported. Handle does the
// same once per reportInterval. The owner of a log must call Tell at the end.
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
		_ = h.next.Handle(ctx, r) // errors are ignored, as for other records
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

// readable returns the attribute with printable text only. It replaces errors by their texts,
// because handlers that marshal values write most errors as {}.
func readable(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(sanitize.Text(a.Value.String(), maxText))
	case slog.KindDuration: // handlers write durations in nanoseconds
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

// Shape returns the kind of a message for users: its words, without those that vary. These are
// words that have digits or more than longestWord bytes, such as numbers and peer IDs.
func Shape(message string) string {
	var words []string
	for word := range strings.FieldsSeq(message) {
		if len(word) <= longestWord && !strings.ContainsFunc(word, unicode.IsDigit) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
