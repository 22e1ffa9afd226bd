package invitation_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/fbo-node/fbo/internal/invitation"
)

// outcome is what the two sides found.
type outcome struct{ opened, accepted error }

// converse lets both sides prove over a pipe that ends when one of them does.
func converse(opened, accepted func(io.ReadWriter) error) (o outcome) {
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); o.accepted = accepted(b); b.Close() }()
	o.opened = opened(a)
	a.Close()
	<-done
	return o
}

func TestProofBindsEndsAndProtocol(t *testing.T) {
	i := invitation.New(taskOf(t, "a"))
	k := i.Keys()
	ends := invitation.Ends{Opened: ada, Accepted: ben, Protocol: "/fbo/sync/1/tag"}
	other := func(change func(*invitation.Ends)) invitation.Ends { e := ends; change(&e); return e }
	for _, c := range []struct {
		name     string
		keys     *invitation.Keys
		accepted invitation.Ends // as that side sees it
		fine     bool
	}{
		{"both know", i.Keys(), ends, true},
		{"another secret", invitation.New(i.Task()).Keys(), ends, false},
		{"another task", invitation.New(taskOf(t, "b")).Keys(), ends, false},
		{"another protocol", k, other(func(e *invitation.Ends) { e.Protocol = "/fbo/direct/1/tag" }), false},
		{"passed on by another peer", k, other(func(e *invitation.Ends) { e.Opened = eve }), false},
		{"passed on to another peer", k, other(func(e *invitation.Ends) { e.Accepted = eve }), false},
		{"the sides exchanged", k, invitation.Ends{Opened: ben, Accepted: ada, Protocol: ends.Protocol}, false},
	} {
		o := converse(
			func(s io.ReadWriter) error { return k.Prove(s, ends) },
			func(s io.ReadWriter) error { return c.keys.Answer(s, c.accepted) })
		if c.fine && (o.opened != nil || o.accepted != nil) {
			t.Errorf("%s: %+v", c.name, o)
		}
		// The side that has opened finds out first, and proves nothing.
		if !c.fine && (!errors.Is(o.opened, invitation.ErrForeign) || o.accepted == nil || errors.Is(o.accepted, invitation.ErrForeign)) {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

// A stranger answers, or asks, with what it has recorded of a conversation of two nodes.
func TestRecordedProofIsOfNoUse(t *testing.T) {
	k := invitation.New(taskOf(t, "a")).Keys()
	ends := invitation.Ends{Opened: ada, Accepted: ben, Protocol: "/fbo/sync/1/tag"}
	var toBen, toAda bytes.Buffer
	o := converse(
		func(s io.ReadWriter) error { return k.Prove(recorded{s, &toAda, &toBen}, ends) },
		func(s io.ReadWriter) error { return k.Answer(s, ends) })
	if o.opened != nil || o.accepted != nil || toBen.Len() != 64 || toAda.Len() != 64 {
		t.Fatalf("%+v, %d and %d bytes", o, toBen.Len(), toAda.Len())
	}
	replay := func(what []byte) func(io.ReadWriter) error {
		return func(s io.ReadWriter) error {
			go io.Copy(io.Discard, s)
			_, err := s.Write(what)
			return err
		}
	}
	if o := converse(func(s io.ReadWriter) error { return k.Prove(s, ends) }, replay(toAda.Bytes())); !errors.Is(o.opened, invitation.ErrForeign) {
		t.Errorf("a recorded answer: %+v", o)
	}
	if o := converse(replay(toBen.Bytes()), func(s io.ReadWriter) error { return k.Answer(s, ends) }); !errors.Is(o.accepted, invitation.ErrForeign) {
		t.Errorf("a recorded question: %+v", o)
	}
	// What was said is said back.
	if o := converse(func(s io.ReadWriter) error { return k.Prove(s, ends) }, func(s io.ReadWriter) error {
		nonce := make([]byte, 32)
		_, _ = io.ReadFull(s, nonce)
		_, err := s.Write(append(nonce, nonce...))
		return err
	}); !errors.Is(o.opened, invitation.ErrForeign) {
		t.Errorf("an echo: %+v", o)
	}
}

type recorded struct {
	io.ReadWriter
	in, out *bytes.Buffer
}

func (r recorded) Read(p []byte) (int, error) {
	n, err := r.ReadWriter.Read(p)
	r.in.Write(p[:n])
	return n, err
}

func (r recorded) Write(p []byte) (int, error) {
	r.out.Write(p)
	return r.ReadWriter.Write(p)
}

// A stream that ends is no fault of anybody, and nothing is read beyond the proof.
func TestProofOnABrokenStream(t *testing.T) {
	k := invitation.New(taskOf(t, "a")).Keys()
	ends := invitation.Ends{Opened: ada, Accepted: ben, Protocol: "/fbo/sync/1/tag"}
	for n := range 64 {
		s := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(make([]byte, n)), io.Discard}
		if err := k.Prove(s, ends); err == nil || errors.Is(err, invitation.ErrForeign) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if err := k.Answer(s, ends); err == nil || errors.Is(err, invitation.ErrForeign) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	rest := ""
	o := converse(
		func(s io.ReadWriter) error {
			err := k.Prove(s, ends)
			_, _ = s.Write([]byte("what follows"))
			return err
		},
		func(s io.ReadWriter) error {
			err := k.Answer(s, ends)
			read, _ := io.ReadAll(s)
			rest = string(read)
			return err
		})
	if o.opened != nil || o.accepted != nil || rest != "what follows" {
		t.Errorf("%+v, %q", o, rest)
	}
}

func FuzzProof(f *testing.F) {
	k := invitation.New(taskOf(f, "a")).Keys()
	ends := invitation.Ends{Opened: ada, Accepted: ben, Protocol: "/fbo/sync/1/tag"}
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, said []byte) {
		s := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(said), io.Discard}
		if k.Prove(s, ends) == nil {
			t.Errorf("%x proves that the peer knows the secret", said)
		}
		s.Reader = bytes.NewReader(said)
		if k.Answer(s, ends) == nil {
			t.Errorf("%x proves that the peer knows the secret", said)
		}
	})
}
