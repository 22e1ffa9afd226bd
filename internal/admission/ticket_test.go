package admission_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
	"rsc.io/qr"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/invitation"
)

const canonical = `{"fbo":1,"name":"bowl"}`

func taskOf(t testing.TB, text string) cid.Cid {
	t.Helper()
	hash, err := multihash.Sum([]byte(text), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return cid.NewCidV1(0x0200, hash) // JSON
}

func peerOf(t testing.TB, n int) peer.ID {
	t.Helper()
	id, err := peer.IDFromPrivateKey(fbotest.Key(t, n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ticketOf returns a ticket of each kind with a hub and a peer.
func ticketOf(t testing.TB, kind admission.Kind) admission.Ticket {
	t.Helper()
	hub, other := peerOf(t, 1), peerOf(t, 2)
	ticket := admission.Ticket{
		Kind: kind, Task: taskOf(t, canonical),
		Hubs:  []string{"/dns4/hub.example.org/udp/4001/quic-v1/p2p/" + hub.String()},
		Peers: []string{"/ip4/192.0.2.7/udp/4001/quic-v1/p2p/" + other.String()},
	}
	if kind != admission.Open {
		ticket.Secret = invitation.New(ticket.Task)
	}
	if kind == admission.Guest {
		ticket.Admitter, ticket.Reception = other, invitation.New(ticket.Task).Keys().Reception()
	}
	return ticket
}

var kinds = []admission.Kind{admission.Open, admission.Member, admission.Guest}

func TestTextIsReadAgain(t *testing.T) {
	for _, kind := range kinds {
		ticket := ticketOf(t, kind)
		if err := ticket.Check(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{ticket.Text(), " " + ticket.Text() + "\r\n", strings.ToUpper(ticket.Text())} {
			again, err := admission.Parse(text)
			if err != nil || !reflect.DeepEqual(again, ticket) {
				t.Errorf("kind %d: %+v, %v", kind, again, err)
			}
		}
	}
}

// A character that is replaced, left out or doubled, or a cut: one error, which does not quote the text.
func TestParseRefusesMistypedText(t *testing.T) {
	for _, kind := range kinds {
		text := ticketOf(t, kind).Text()
		fbotest.CheckMistyped(t, text, text[80:100], func(typed string) error { _, err := admission.Parse(typed); return err })
	}
}

func TestErrorsNameTheFault(t *testing.T) {
	text := ticketOf(t, admission.Member).Text()
	for typed, want := range map[string]string{
		"":                                    "does not begin with fbo-join-",
		"fbo-join-":                           "cut short",
		"fbo-join-2-" + text[11:]:             "another version than 1",
		strings.Repeat(text, 10):              "the limit is 1500",
		text[:60]:                             "checksum",
		text + text:                           "checksum",
		"F" + text[1:]:                        "does not begin with",
		invitation.New(taskOf(t, "a")).Text(): "does not begin with fbo-join-",
	} {
		if _, err := admission.Parse(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q…: %v, want %q", typed, err, want)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	long := "/dns4/" + strings.Repeat("a.", 100) + "org/tcp/1/p2p/" + peerOf(t, 3).String()
	for name, c := range map[string]struct {
		change func(*admission.Ticket)
		want   string
	}{
		"no address":      {func(k *admission.Ticket) { k.Hubs, k.Peers = nil, nil }, "0 addresses, expected 1 to 8"},
		"many":            {func(k *admission.Ticket) { k.Hubs = make([]string, 9) }, "10 addresses"},
		"no ID":           {func(k *admission.Ticket) { k.Hubs = []string{"/ip4/192.0.2.7/tcp/1"} }, "must end in /p2p/"},
		"relayed hub":     {func(k *admission.Ticket) { k.Hubs = []string{k.Hubs[0] + "/p2p-circuit"} }, ""},
		"another task":    {func(k *admission.Ticket) { k.Task = taskOf(t, "other") }, "secret of task"},
		"no task":         {func(k *admission.Ticket) { k.Task = cid.Undef }, "expected the ID of a task"},
		"another node":    {func(k *admission.Ticket) { k.Admitter = peerOf(t, 3) }, "expected an address of"},
		"no admitter":     {func(k *admission.Ticket) { k.Admitter, k.Peers = "", nil }, "no node that admits"},
		"a wrong meeting": {func(k *admission.Ticket) { k.Reception = k.Task }, "no node that admits"},
		"long":            {func(k *admission.Ticket) { k.Hubs = []string{long, long, long, long, long} }, "leave out addresses"},
	} {
		ticket := ticketOf(t, admission.Guest)
		c.change(&ticket)
		if err := ticket.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPrintingHidesTheSecret(t *testing.T) {
	for _, kind := range kinds[1:] {
		ticket := ticketOf(t, kind)
		secret := ticket.Secret.Secret()
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			printed := fmt.Sprintf(format, ticket) + fmt.Sprintf(format, &ticket)
			if strings.Contains(printed, ticket.Text()[60:90]) || strings.Contains(printed, fmt.Sprint(secret[:4])[1:]) || strings.Contains(printed, "Secret") {
				t.Errorf("%s prints %s", format, printed)
			}
		}
	}
}

// A code of a member string with two addresses fits a terminal of 80 columns, with its margin.
func TestMemberStringFitsACode(t *testing.T) {
	text := ticketOf(t, admission.Member).Text()
	code, err := qr.Encode(strings.ToUpper(text), qr.L)
	if err != nil {
		t.Fatal(err)
	}
	if code.Size+8 > 80 {
		t.Errorf("%d characters make a code of %d columns", len(text), code.Size)
	}
	t.Logf("%d characters, %d columns, %d lines", len(text), code.Size+8, (code.Size+8+1)/2)
}

func FuzzParse(f *testing.F) {
	for _, kind := range kinds {
		f.Add(ticketOf(f, kind).Text())
	}
	f.Add("fbo-join-1-")
	f.Fuzz(func(t *testing.T, typed string) {
		ticket, err := admission.Parse(typed)
		if err != nil {
			return
		}
		if again, err := admission.Parse(ticket.Text()); err != nil || !reflect.DeepEqual(again, ticket) || ticket.Check() != nil {
			t.Errorf("%q is read as %v, then %v: %v", typed, ticket, again, err)
		}
		_ = ticket.Name()
	})
}
