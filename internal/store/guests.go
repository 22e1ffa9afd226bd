package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
)

// Files about guest strings are in one folder of a data directory. Each string has up to three, so
// that each file has one writer and no lock is needed:
//
//	TAG          what it admits; written once, by the command that makes it
//	TAG.revoked  exists once it was revoked; written by the command that revokes it
//	TAG.uses     who used it; replaced by the running node, which has the lock of the directory
//
// TAG is the tag of the string's token, which requests contain.
const (
	guestDir      = "guests"
	revokedEnding = ".revoked"
	usesEnding    = ".uses"
)

const (
	// MaxGuests is the maximum number of guest strings of a data directory.
	MaxGuests = 256
	// MaxGuestUses is the maximum number of nodes that one guest string admits.
	MaxGuestUses = 1000
)

// Errors about guest strings.
var (
	ErrGuestExpired = errors.New("the string has expired")
	ErrGuestUsedUp  = errors.New("the string is used up")
	ErrGuestRevoked = errors.New("the string was revoked")
)

var guestName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Guest is a guest string and its uses.
type Guest struct {
	Name    string     `json:"name"`
	Task    string     `json:"task"`
	Uses    int        `json:"uses"` // nodes that it admits
	Made    time.Time  `json:"made"`
	Expires time.Time  `json:"expires"`
	Revoked bool       `json:"revoked"`
	UsedBy  []GuestUse `json:"used_by"`

	Token invitation.Invitation `json:"-"`
}

// GuestUse is the first admission of a node.
type GuestUse struct {
	Peer peer.ID   `json:"peer"`
	Time time.Time `json:"time"`
}

// Check returns the reason why a node may not use the string, or nil. A node that has used it already
// does not count again.
func (g Guest) Check(id peer.ID, now time.Time) error {
	switch {
	case g.Revoked:
		return ErrGuestRevoked
	case !now.Before(g.Expires):
		return ErrGuestExpired
	case len(g.UsedBy) >= g.Uses && !g.usedBy(id):
		return ErrGuestUsedUp
	}
	return nil
}

func (g Guest) usedBy(id peer.ID) bool {
	return slices.ContainsFunc(g.UsedBy, func(u GuestUse) bool { return u.Peer == id })
}

// guestFile is the content of the file TAG.
type guestFile struct {
	Name    string    `json:"name"`
	Token   string    `json:"token"`
	Uses    int       `json:"uses"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
}

// AddGuest stores a new guest string in a data directory. Names of strings are unique for a task.
func AddGuest(dir string, g Guest) error {
	switch {
	case !guestName.MatchString(g.Name):
		return fmt.Errorf("guest %q: expected a name of up to 64 letters, digits, dots, hyphens and underscores", g.Name)
	case g.Uses < 1 || g.Uses > MaxGuestUses:
		return fmt.Errorf("guest %s: %d uses, expected 1 to %d", g.Name, g.Uses, MaxGuestUses)
	}
	guests, err := allGuests(dir)
	if err != nil {
		return err
	}
	if len(guests) >= MaxGuests {
		return fmt.Errorf("guest %s: %s has %d guest strings already, the limit is %d", g.Name, filepath.Join(dir, guestDir), len(guests), MaxGuests)
	}
	task := g.Token.Task().String()
	if slices.ContainsFunc(guests, func(other Guest) bool { return other.Task == task && other.Name == g.Name }) {
		return fmt.Errorf("guest %s: %w: the task has a guest string of this name; expected another name", g.Name, fs.ErrExist)
	}
	folder, err := datadir.Folder(dir, guestDir)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	content, err := json.Marshal(guestFile{g.Name, g.Token.Text(), g.Uses, g.Made.UTC(), g.Expires.UTC()})
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	if err := writeFile(filepath.Join(folder, g.Token.Keys().Tag().String()), string(content)+"\n"); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	return nil
}

// Guests returns the guest strings to a task in a data directory, oldest first.
func Guests(dir, task string) ([]Guest, error) {
	all, err := allGuests(dir)
	return slices.DeleteFunc(all, func(g Guest) bool { return g.Task != task }), err
}

func allGuests(dir string) (guests []Guest, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, guestDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("guest: %w", err)
	}
	for _, entry := range entries {
		tag, err := cid.Decode(entry.Name())
		if err != nil || !invitation.IsName(tag) {
			continue // another file of a string
		}
		g, err := guestOf(dir, tag)
		if err != nil {
			return nil, err
		}
		guests = append(guests, *g)
	}
	slices.SortFunc(guests, func(a, b Guest) int { return a.Made.Compare(b.Made) })
	return guests, nil
}

// RevokeGuest ends the admissions by the guest string of this name. If there is none, the error wraps
// fs.ErrNotExist.
func RevokeGuest(dir, task, name string) error {
	guests, err := Guests(dir, task)
	if err != nil {
		return err
	}
	for _, g := range guests {
		if g.Name == name {
			return writeFile(guestPath(dir, g.Token.Keys().Tag())+revokedEnding, "revoked\n")
		}
	}
	return fmt.Errorf("guest %s: %w: the task has no guest string of this name", name, fs.ErrNotExist)
}

func guestPath(dir string, tag cid.Cid) string { return filepath.Join(dir, guestDir, tag.String()) }

// guestOf reads a guest string; nil if there is none with this tag.
func guestOf(dir string, tag cid.Cid) (*Guest, error) {
	path := guestPath(dir, tag)
	if err := datadir.NoLink(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("guest: %w", err)
	}
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("guest: %w", err)
	}
	var f guestFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("guest: %s is damaged: %w; expected the file that `fbo-node task invite --guest` has written", path, err)
	}
	token, err := invitation.Parse(f.Token)
	if err != nil || token.Keys().Tag() != tag || f.Uses < 1 || f.Expires.IsZero() {
		return nil, fmt.Errorf("guest: %s is damaged: expected the file that `fbo-node task invite --guest` has written", path)
	}
	g := &Guest{Name: f.Name, Task: token.Task().String(), Uses: f.Uses, Made: f.Made, Expires: f.Expires, Token: token, UsedBy: []GuestUse{}}
	if _, err := os.Lstat(path + revokedEnding); err == nil {
		g.Revoked = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("guest: %w", err)
	}
	data, err = readRegular(path + usesEnding)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &g.UsedBy)
	}
	if err != nil || g.UsedBy == nil {
		return nil, fmt.Errorf("guest: %s is damaged; expected the list of uses that the node has written", path+usesEnding)
	}
	return g, nil
}

// GuestBook is the part of a running node that admits the holders of guest strings.
type GuestBook struct {
	dir string
	mu  sync.Mutex
}

// GuestBook returns the guest strings of the data directory.
func (s *Store) GuestBook() *GuestBook { return &GuestBook{dir: s.dir} }

// Find returns the guest string whose token has this tag; nil if there is none.
func (b *GuestBook) Find(tag cid.Cid) (*Guest, error) {
	if !invitation.IsName(tag) || strings.ContainsAny(tag.String(), `/\.`) {
		return nil, nil
	}
	return guestOf(b.dir, tag)
}

// Use records that a node uses a guest string, on disk, and returns the task's invitation. After
// ErrGuestExpired, ErrGuestUsedUp or ErrGuestRevoked nothing was recorded.
func (b *GuestBook) Use(tag cid.Cid, id peer.ID, now time.Time) (*invitation.Invitation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, err := b.Find(tag)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("guest %v: %w", tag, fs.ErrNotExist)
	}
	if err := g.Check(id, now); err != nil {
		return nil, err
	}
	i, err := JoinedBy(b.dir, g.Task)
	if err != nil {
		return nil, err
	}
	if i == nil {
		return nil, fmt.Errorf("guest %s: %w: the data directory has no invitation to task %s", g.Name, fs.ErrNotExist, g.Task)
	}
	if g.usedBy(id) {
		return i, nil
	}
	content, err := json.Marshal(append(g.UsedBy, GuestUse{id, now.UTC()}))
	if err == nil {
		err = writeFile(guestPath(b.dir, tag)+usesEnding, string(content)+"\n")
	}
	if err != nil {
		return nil, fmt.Errorf("guest %s: %w", g.Name, err)
	}
	return i, nil
}

// Expects reports whether a guest string to a task is neither revoked nor expired.
func (b *GuestBook) Expects(task string, now time.Time) bool {
	guests, err := Guests(b.dir, task)
	return err == nil && slices.ContainsFunc(guests, func(g Guest) bool { return !g.Revoked && now.Before(g.Expires) })
}
