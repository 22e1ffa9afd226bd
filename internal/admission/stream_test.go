package admission_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/task"
)

const ada, ben, eve = peer.ID("ada"), peer.ID("ben"), peer.ID("eve")

func endsOf(opened, accepted peer.ID) invitation.Ends {
	return invitation.Ends{Opened: opened, Accepted: accepted, Protocol: admission.Protocol}
}

type result struct {
	canonical []byte
	invited   *invitation.Invitation
	err       error
	served    error
}

// exchange runs both sides of a stream between Ada, who opens it, and Ben.
func exchange(t *testing.T, ticket admission.Ticket, find func(cid.Cid) *admission.Entry) (r result) {
	t.Helper()
	opened, accepted := net.Pipe()
	done := make(chan error, 1)
	go func() {
		err := admission.Serve(accepted, endsOf(ada, ben), find)
		accepted.Close()
		done <- err
	}()
	r.canonical, r.invited, r.err = admission.Request(opened, endsOf(ada, ben), ticket)
	opened.Close()
	r.served = <-done
	return r
}

func answers(keys *invitation.Keys, response admission.Response) func(cid.Cid) *admission.Entry {
	return func(cid.Cid) *admission.Entry {
		return &admission.Entry{Keys: keys, Answer: func() admission.Response { return response }}
	}
}

func keysOf(ticket admission.Ticket) *invitation.Keys {
	if ticket.Kind == admission.Open {
		return nil
	}
	return ticket.Secret.Keys()
}

func TestRequestGetsTheTask(t *testing.T) {
	ours := invitation.New(taskOf(t, canonical))
	for _, kind := range kinds {
		ticket := ticketOf(t, kind)
		response := admission.Response{Task: []byte(canonical)}
		if kind == admission.Guest {
			response.Invitation = ours.Text()
		}
		r := exchange(t, ticket, func(name cid.Cid) *admission.Entry {
			if name != ticket.Name() {
				t.Errorf("requests %v", name)
			}
			return answers(keysOf(ticket), response)(name)
		})
		if r.err != nil || r.served != nil || string(r.canonical) != canonical {
			t.Errorf("kind %d: %+v", kind, r)
		}
		switch {
		case kind == admission.Open && r.invited != nil,
			kind == admission.Member && !r.invited.Equal(ticket.Secret),
			kind == admission.Guest && !r.invited.Equal(ours):
			t.Errorf("kind %d: invitation %v", kind, r.invited)
		}
	}
}

func TestRequestRefusesAnswers(t *testing.T) {
	ours, others := invitation.New(taskOf(t, canonical)), invitation.New(taskOf(t, "other"))
	for name, c := range map[string]struct {
		kind     admission.Kind
		response admission.Response
	}{
		"another task":                  {admission.Open, admission.Response{Task: []byte("other")}},
		"tampered":                      {admission.Member, admission.Response{Task: []byte(canonical + " ")}},
		"no task":                       {admission.Open, admission.Response{}},
		"huge":                          {admission.Open, admission.Response{Task: make([]byte, task.MaxFileBytes+1)}},
		"no invitation":                 {admission.Guest, admission.Response{Task: []byte(canonical)}},
		"an invitation to another task": {admission.Guest, admission.Response{Task: []byte(canonical), Invitation: others.Text()}},
		"another task for a guest":      {admission.Guest, admission.Response{Task: []byte("other"), Invitation: ours.Text()}},
		"an unknown status":             {admission.Open, admission.Response{Status: 77}},
	} {
		ticket := ticketOf(t, c.kind)
		if r := exchange(t, ticket, answers(keysOf(ticket), c.response)); !errors.Is(r.err, admission.ErrMalformed) || r.canonical != nil || r.invited != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestRefusalsNameTheRemedy(t *testing.T) {
	ticket := ticketOf(t, admission.Guest)
	for status, want := range map[admission.Status]string{
		admission.Unknown: "does not know", admission.Expired: "has expired", admission.UsedUp: "used up",
		admission.Revoked: "was revoked", admission.Unavailable: "cannot record",
	} {
		r := exchange(t, ticket, answers(keysOf(ticket), admission.Response{Status: status, Task: []byte(canonical)}))
		var refusal *admission.Refusal
		if !errors.As(r.err, &refusal) || refusal.Status != status || !strings.Contains(r.err.Error(), want) || !strings.Contains(r.err.Error(), "ask its sender") || r.served != nil {
			t.Errorf("%v: %+v", status, r)
		}
	}
}

// A node that does not know the name looks like one that does, to a peer without the secret: both send
// nonce and proof, and neither ends before the peer's proof.
func TestStrangersSeeOneAnswer(t *testing.T) {
	ticket := ticketOf(t, admission.Guest)
	wrong := ticket
	wrong.Secret = invitation.New(ticket.Task)
	for name, find := range map[string]func(cid.Cid) *admission.Entry{
		"unknown": func(cid.Cid) *admission.Entry { return nil },
		"known":   answers(keysOf(ticket), admission.Response{Task: []byte(canonical)}),
	} {
		if r := exchange(t, wrong, find); !errors.Is(r.err, invitation.ErrForeign) || r.canonical != nil {
			t.Errorf("%s: an honest peer gets %+v", name, r)
		}
		opened, accepted := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- admission.Serve(accepted, endsOf(ada, ben), find); accepted.Close() }()
		if err := admission.WriteRequest(opened, ticket.Name()); err != nil {
			t.Fatal(err)
		}
		go opened.Write(make([]byte, 64)) // nonce and a wrong proof
		said, err := io.ReadAll(opened)
		if served := <-done; !errors.Is(served, invitation.ErrForeign) || len(said) != 64 {
			t.Errorf("%s: %d bytes, %v, %v", name, len(said), err, served)
		}
	}
}

// A recorded proof is wrong on the next stream, and a proof for one peer is wrong for another.
func TestProofsOfOtherStreams(t *testing.T) {
	ticket := ticketOf(t, admission.Guest)
	asked := false
	find := func(cid.Cid) *admission.Entry {
		return &admission.Entry{Keys: keysOf(ticket), Answer: func() admission.Response { asked = true; return admission.Response{} }}
	}
	opened, accepted := net.Pipe()
	var sent bytes.Buffer
	go func() { _ = admission.Serve(accepted, endsOf(ada, ben), find); accepted.Close() }()
	_, _, err := admission.Request(struct {
		io.Reader
		io.Writer
	}{opened, io.MultiWriter(opened, &sent)}, endsOf(ada, ben), ticket)
	if !asked {
		t.Fatalf("the honest request fails: %v", err)
	}
	for name, ends := range map[string]invitation.Ends{"replayed": endsOf(ada, ben), "by another peer": endsOf(eve, ben)} {
		asked = false
		stream := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(sent.Bytes()), io.Discard}
		if err := admission.Serve(stream, ends, find); !errors.Is(err, invitation.ErrForeign) || asked {
			t.Errorf("%s: %v, answered %v", name, err, asked)
		}
	}
	// Eve forwards what Ada sends to her to Ben. The names of the connections differ.
	opened, between := net.Pipe()
	between2, accepted2 := net.Pipe()
	asked = false
	done := make(chan error, 1)
	go func() { done <- admission.Serve(accepted2, endsOf(eve, ben), find); accepted2.Close() }()
	go func() { _, _ = io.Copy(between2, between); between2.Close() }()
	go func() { _, _ = io.Copy(between, between2); between.Close() }()
	_, _, err = admission.Request(opened, endsOf(ada, eve), ticket)
	opened.Close()
	if served := <-done; !errors.Is(err, invitation.ErrForeign) || served == nil || asked {
		t.Errorf("relayed: %v, %v, answered %v", err, served, asked)
	}
}

func FuzzReadRequest(f *testing.F) {
	var buffer bytes.Buffer
	if err := admission.WriteRequest(&buffer, taskOf(f, "a")); err != nil {
		f.Fatal(err)
	}
	f.Add(buffer.Bytes())
	f.Add([]byte{255})
	f.Fuzz(func(t *testing.T, data []byte) {
		name, err := admission.ReadRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := admission.WriteRequest(&again, name); err != nil || !bytes.HasPrefix(data, again.Bytes()) {
			t.Errorf("%x is read as %v: %v", data, name, err)
		}
	})
}

func FuzzReadResponse(f *testing.F) {
	for _, response := range []admission.Response{{Task: []byte(canonical), Invitation: "i"}, {Status: admission.Expired}} {
		var buffer bytes.Buffer
		if err := admission.WriteResponse(&buffer, response); err != nil {
			f.Fatal(err)
		}
		f.Add(buffer.Bytes())
	}
	f.Add([]byte{0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		response, err := admission.ReadResponse(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(response.Task) > task.MaxFileBytes || len(response.Invitation) > invitation.MaxTextBytes {
			t.Errorf("%d and %d bytes", len(response.Task), len(response.Invitation))
		}
		var again bytes.Buffer
		if err := admission.WriteResponse(&again, response); err != nil || !bytes.HasPrefix(data, again.Bytes()) {
			t.Errorf("%x is read as %+v: %v", data, response, err)
		}
	})
}

// No bytes prove the secret.
func FuzzServe(f *testing.F) {
	ticket := ticketOf(f, admission.Guest)
	var buffer bytes.Buffer
	if err := admission.WriteRequest(&buffer, ticket.Name()); err != nil {
		f.Fatal(err)
	}
	f.Add(buffer.Bytes())
	f.Add(append(buffer.Bytes(), make([]byte, 64)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		stream := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(data), io.Discard}
		_ = admission.Serve(stream, endsOf(ada, ben), func(cid.Cid) *admission.Entry {
			return &admission.Entry{Keys: ticket.Secret.Keys(), Answer: func() admission.Response {
				t.Errorf("%x proves the secret", data)
				return admission.Response{}
			}}
		})
	})
}
