package admission

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/peeraddr"
)

const (
	prefix        = "fbo-join-"
	version       = "1"
	checksumBytes = 4 // one in 4·10⁹ mistyped strings is not detected

	// MaxTextBytes is the maximum length of a string.
	MaxTextBytes = 1500

	// MaxAddresses is the maximum number of addresses in a string.
	MaxAddresses = 8
)

// accepted is the last part of errors about a text.
const accepted = "expected the string that `fbo-node task invite` has printed"

// ErrTable means that the task of a string lists its designs in a table.
var ErrTable = errors.New("the task lists its designs in a table, which a string does not carry; expected copies of the task file, of the table and of the file that `fbo-node task invite TASK --out FILE` writes")

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Kind is the kind of a string.
type Kind byte

// Kinds of strings.
const (
	Open   Kind = iota // to an open task
	Member             // with the invitation's secret
	Guest              // with a token that one node admits
)

// Ticket is the content of a string. Printing a Ticket with package fmt does not show the secret;
// Text returns it.
type Ticket struct {
	Kind  Kind
	Task  cid.Cid
	Hubs  []string // addresses, each ending in /p2p/ID
	Peers []string

	// Secret is the task's invitation in a member string. In a guest string it is the token, in the
	// form of an invitation that no other node has.
	Secret invitation.Invitation

	Admitter  peer.ID // node that admits the holder of a guest string
	Reception cid.Cid // name by which hubs introduce the holder of a guest string to that node
}

// Check returns an error if Parse would not read the ticket's text.
func (t Ticket) Check() error {
	if t.Kind > Guest {
		return fmt.Errorf("kind %d, expected %d to %d", t.Kind, Open, Guest)
	}
	if n := len(t.Hubs) + len(t.Peers); n == 0 || n > MaxAddresses {
		return fmt.Errorf("%d addresses, expected 1 to %d", n, MaxAddresses)
	}
	if _, err := peeraddr.ParseHubs(t.Hubs); err != nil {
		return err
	}
	for _, text := range t.Peers {
		infos, err := peeraddr.ParsePeers([]string{text})
		if err != nil {
			return err
		}
		if t.Kind == Guest && infos[0].ID != t.Admitter {
			return fmt.Errorf("peer address %q, expected an address of %v, the node that admits", text, t.Admitter)
		}
	}
	if !t.Task.Defined() || invitation.IsName(t.Task) {
		return fmt.Errorf("task %v, expected the ID of a task", t.Task)
	}
	if t.Kind != Open && t.Secret.Task() != t.Task {
		return fmt.Errorf("secret of task %v, expected one of task %v", t.Secret.Task(), t.Task)
	}
	if t.Kind == Guest && (t.Admitter.Validate() != nil || !invitation.IsName(t.Reception)) {
		return errors.New("no node that admits, expected its peer ID and its name at hubs")
	}
	if n := len(t.Text()); n > MaxTextBytes {
		return fmt.Errorf("the string has %d bytes, expected at most %d: leave out addresses", n, MaxTextBytes)
	}
	return nil
}

// Text returns the ticket as one line without a line break.
func (t Ticket) Text() string {
	content := t.content()
	return prefix + version + "-" + encoding.EncodeToString(append(content, checksum(content)...))
}

func (t Ticket) content() []byte {
	out := appendPart([]byte{byte(t.Kind)}, t.Task.Bytes())
	if t.Kind != Open {
		secret := t.Secret.Secret()
		out = append(out, secret[:]...)
	}
	if t.Kind == Guest {
		out = appendPart(out, []byte(t.Admitter))
		out = appendPart(out, t.Reception.Bytes())
	}
	for _, list := range [][]string{t.Hubs, t.Peers} {
		out = append(out, byte(len(list)))
		for _, text := range list {
			address, err := multiaddr.NewMultiaddr(text)
			if err != nil {
				continue // Check reports it
			}
			out = appendPart(out, address.Bytes())
		}
	}
	return out
}

func appendPart(out, part []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(part))), part...)
}

// checksum detects typing errors. It does not protect against attackers.
func checksum(content []byte) []byte {
	sum := sha256.Sum256([]byte(prefix + version + "-" + string(content)))
	return sum[:checksumBytes]
}

// Parse is the inverse of Text. It allows surrounding white space, and a text that is all in upper
// case, as some programs read QR codes. Errors do not quote the text, which may contain a secret.
func Parse(text string) (Ticket, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxTextBytes {
		return Ticket{}, fmt.Errorf("string: it has %d bytes, the limit is %d; %s", len(text), MaxTextBytes, accepted)
	}
	if text == strings.ToUpper(text) {
		text = strings.ToLower(text)
	}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return Ticket{}, fmt.Errorf("string: it does not begin with %s; %s", prefix, accepted)
	}
	number, body, ok := strings.Cut(rest, "-")
	switch {
	case !ok:
		return Ticket{}, fmt.Errorf("string: it is cut short; %s", accepted)
	case number != version:
		return Ticket{}, fmt.Errorf("string: it is of another version than %s, which this program reads", version)
	}
	t, ok := decode(body)
	if !ok || t.Text() != text || t.Check() != nil {
		return Ticket{}, fmt.Errorf("string: mistyped or cut short: its checksum is wrong; %s", accepted)
	}
	return t, nil
}

func decode(body string) (t Ticket, ok bool) {
	raw, err := encoding.DecodeString(body)
	if err != nil || len(raw) < 1+checksumBytes {
		return Ticket{}, false
	}
	content, sum := raw[:len(raw)-checksumBytes], raw[len(raw)-checksumBytes:]
	if string(checksum(content)) != string(sum) {
		return Ticket{}, false
	}
	r := reader{rest: content[1:], ok: true}
	t.Kind = Kind(content[0])
	t.Task = r.cid()
	if t.Kind != Open && r.ok {
		t.Secret = invitation.FromSecret(t.Task, [invitation.SecretBytes]byte(r.take(invitation.SecretBytes)))
	}
	if t.Kind == Guest {
		t.Admitter = peer.ID(r.part())
		t.Reception = r.cid()
	}
	for _, list := range []*[]string{&t.Hubs, &t.Peers} {
		for range min(int(r.take(1)[0]), MaxAddresses) {
			address, err := multiaddr.NewMultiaddrBytes(r.part())
			if err != nil {
				return Ticket{}, false
			}
			*list = append(*list, address.String())
		}
	}
	return t, r.ok && len(r.rest) == 0
}

// reader takes parts from the content of a string; ok becomes false if there is too little.
type reader struct {
	rest []byte
	ok   bool
}

// take returns the next n bytes, and n zero bytes if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.ok = nil, false
		return make([]byte, n)
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) part() []byte {
	size, read := binary.Uvarint(r.rest)
	if read <= 0 || size > uint64(len(r.rest)-read) {
		r.rest, r.ok = nil, false
		return nil
	}
	r.rest = r.rest[read:]
	return r.take(int(size))
}

func (r *reader) cid() cid.Cid {
	id, err := cid.Cast(r.part())
	if err != nil {
		r.ok = false
		return cid.Undef
	}
	return id
}

// Invitation returns the task's invitation if the ticket has it: nil for the others.
func (t Ticket) Invitation() *invitation.Invitation {
	if t.Kind != Member {
		return nil
	}
	return &t.Secret
}

// String returns a description without the secret.
func (t Ticket) String() string { return fmt.Sprintf("string to join task %v", t.Task) }

// GoString returns String, so that no verb of package fmt shows the secret.
func (t Ticket) GoString() string { return t.String() }
