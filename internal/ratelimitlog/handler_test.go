package ratelimitlog

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestErrorsAreReadable: a handler that marshals what it gets, as go-log does,
// would show {} for an error.
func TestErrorsAreReadable(t *testing.T) {
	var out bytes.Buffer
	plain := slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if _, ok := a.Value.Any().(error); ok {
			return slog.String(a.Key, "{}")
		}
		return a
	}})
	log := slog.New(New(plain))
	log.With("error", errors.New("out of luck")).Info("first", "peer", "p")
	log.WithGroup("g").Info("second", "error", errors.New("no disk"), "none", nil)
	for _, want := range []string{`"error":"out of luck","peer":"p"`, `"g":{"error":"no disk","none":null}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %s", want, out.String())
		}
	}
}

// libp2p reports the orderly close of a listener as an error; other errors of listeners are written.
func TestTheCloseOfAListenerIsNoError(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(New(slog.NewTextHandler(&out, nil))).With("logger", "swarm2")
	log.Error("swarm listener accept error", "addr", "/ip4/127.0.0.1/tcp/0", "err", errors.New("listener closed"))
	if out.Len() > 0 {
		t.Errorf("written: %s", &out)
	}
	log.Error("swarm listener accept error", "addr", "/ip4/127.0.0.1/tcp/0", "err", errors.New("too many open files"))
	if !strings.Contains(out.String(), "too many open files") {
		t.Errorf("not written: %q", &out)
	}
}
