package invitation

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/ipfs/go-cid"
)

const (
	checksumBytes = 4   // one in 4·10⁹ mistyped lines is not detected
	maxTaskBytes  = 128 // maximum size of a task's ID
	prefix        = "fbo-invite-"
	version       = "1"

	// MaxTextBytes is the maximum length of an invitation's text.
	MaxTextBytes = 512

	// SecretBytes is the length of a secret.
	SecretBytes = 32
)

// accepted is the last part of errors about a text.
const accepted = "expected the line that `fbo-node task invite` has made"

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Invitation is the secret with which nodes join a task. The zero value means no invitation.
// Printing an Invitation with package fmt does not show the secret; Text returns it.
type Invitation struct {
	task   cid.Cid
	secret [SecretBytes]byte
}

// New returns an invitation to a task, with a new random secret.
func New(task cid.Cid) Invitation {
	i := Invitation{task: task}
	_, _ = rand.Read(i.secret[:]) // Read of crypto/rand never returns an error
	return i
}

// FromSecret returns the invitation to a task with the secret that Secret has returned.
func FromSecret(task cid.Cid, secret [SecretBytes]byte) Invitation {
	return Invitation{task: task, secret: secret}
}

// Parse is the inverse of Text, and allows surrounding white space. Errors do not quote the text,
// which may contain most of a secret.
func Parse(text string) (Invitation, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxTextBytes {
		return Invitation{}, fmt.Errorf("invitation: it has %d bytes, the limit is %d; %s", len(text), MaxTextBytes, accepted)
	}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return Invitation{}, fmt.Errorf("invitation: it does not begin with %s; %s", prefix, accepted)
	}
	number, body, ok := strings.Cut(rest, "-")
	switch {
	case !ok:
		return Invitation{}, fmt.Errorf("invitation: it is cut short; %s", accepted)
	case number != version:
		return Invitation{}, fmt.Errorf("invitation: it is of another version than %s, which this program reads", version)
	}
	i, ok := decode(body)
	if !ok || i.Text() != text {
		return Invitation{}, fmt.Errorf("invitation: mistyped or cut short: its checksum is wrong; %s", accepted)
	}
	return i, nil
}

// decode parses the part after the version: the ID, the secret and a checksum.
func decode(body string) (i Invitation, ok bool) {
	raw, err := encoding.DecodeString(body)
	if err != nil || len(raw) < SecretBytes+checksumBytes || len(raw) > maxTaskBytes+SecretBytes+checksumBytes {
		return Invitation{}, false
	}
	content, sum := raw[:len(raw)-checksumBytes], raw[len(raw)-checksumBytes:]
	if string(checksum(content)) != string(sum) {
		return Invitation{}, false
	}
	id, secret := content[:len(content)-SecretBytes], content[len(content)-SecretBytes:]
	if i.task, err = cid.Cast(id); err != nil {
		return Invitation{}, false
	}
	copy(i.secret[:], secret)
	return i, true
}

// checksum detects typing errors. It does not protect against attackers.
func checksum(content []byte) []byte {
	sum := sha256.Sum256([]byte(prefix + version + "-" + string(content)))
	return sum[:checksumBytes]
}

// Text returns the invitation as one line without a line break. It contains the version, the task's
// ID, the secret, and a checksum against typing errors. Any holder of the text can join the task.
func (i Invitation) Text() string {
	content := append(i.task.Bytes(), i.secret[:]...)
	return prefix + version + "-" + encoding.EncodeToString(append(content, checksum(content)...))
}

// Secret returns the secret. Any holder of it and of the task's ID can join the task.
func (i Invitation) Secret() [SecretBytes]byte { return i.secret }

// Task returns the ID of the task.
func (i Invitation) Task() cid.Cid { return i.task }

// Equal reports whether two invitations are the same.
func (i Invitation) Equal(other Invitation) bool {
	return i.task == other.task && subtle.ConstantTimeCompare(i.secret[:], other.secret[:]) == 1
}

// String returns a description without the secret.
func (i Invitation) String() string { return fmt.Sprintf("invitation to %v", i.task) }

// GoString returns String, so that no verb of package fmt shows the secret.
func (i Invitation) GoString() string { return i.String() }
