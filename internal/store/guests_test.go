package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy/all"
)

const taskID = "bagaaierapvxufy3dva3loqwbz2klrhes37yv5t6dqr72frk7ztuemcwfwroq"

func idOf(t *testing.T, n int) peer.ID {
	t.Helper()
	id, err := peer.IDFromPrivateKey(fbotest.Key(t, n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// guestBook returns the book of a data directory that keeps an invitation to the task.
func guestBook(t *testing.T) (dir string, book *store.GuestBook) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s, err := store.Open(dir, all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.KeepInvitation(invitation.New(cid.MustParse(taskID))); err != nil {
		t.Fatal(err)
	}
	return dir, s.GuestBook()
}

func addGuest(t *testing.T, dir, name string, uses int, expires time.Time) cid.Cid {
	t.Helper()
	g := store.Guest{Name: name, Token: invitation.New(cid.MustParse(taskID)), Uses: uses, Made: time.Now(), Expires: expires}
	if err := store.AddGuest(dir, g); err != nil {
		t.Fatal(err)
	}
	return g.Token.Keys().Tag()
}

func TestGuestStringEnds(t *testing.T) {
	dir, book := guestBook(t)
	now := time.Now()
	later := now.Add(time.Hour)
	tag := addGuest(t, dir, "lab", 2, later)
	if !book.Expects(taskID, now) || book.Expects(taskID, later) || book.Expects("another", now) {
		t.Error("expects guests at the wrong time")
	}
	for _, n := range []int{1, 2, 1} {
		if i, err := book.Use(tag, idOf(t, n), now); err != nil || i.Task().String() != taskID {
			t.Fatalf("peer %d: %v, %v", n, i, err)
		}
	}
	if _, err := book.Use(tag, idOf(t, 3), now); !errors.Is(err, store.ErrGuestUsedUp) {
		t.Error(err)
	}
	if _, err := book.Use(tag, idOf(t, 1), later); !errors.Is(err, store.ErrGuestExpired) {
		t.Error(err)
	}
	if err := store.RevokeGuest(dir, taskID, "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := store.RevokeGuest(dir, taskID, "lab"); err != nil {
		t.Fatal(err)
	}
	if _, err := book.Use(tag, idOf(t, 1), now); !errors.Is(err, store.ErrGuestRevoked) {
		t.Error(err)
	}
	guests, err := store.Guests(dir, taskID)
	if err != nil || len(guests) != 1 || !guests[0].Revoked || len(guests[0].UsedBy) != 2 || guests[0].UsedBy[1].Peer != idOf(t, 2) || book.Expects(taskID, now) {
		t.Errorf("%+v, %v", guests, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "guests"))
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
}

// Of many nodes at once as many are admitted as the string permits.
func TestGuestsAtOnce(t *testing.T) {
	dir, book := guestBook(t)
	tag := addGuest(t, dir, "lab", 3, time.Now().Add(time.Hour))
	var admitted, refused atomic.Int32
	var running sync.WaitGroup
	for n := range 20 {
		id := idOf(t, n)
		running.Go(func() {
			switch _, err := book.Use(tag, id, time.Now()); {
			case err == nil:
				admitted.Add(1)
			case errors.Is(err, store.ErrGuestUsedUp):
				refused.Add(1)
			}
		})
	}
	running.Wait()
	if admitted.Load() != 3 || refused.Load() != 17 {
		t.Errorf("%d admitted, %d refused", admitted.Load(), refused.Load())
	}
}

func TestDamagedGuestFilesAdmitNobody(t *testing.T) {
	for ending, contents := range map[string][]string{
		"":      {"", "{", "null", `{"name":"lab"}`, `[]`},
		".uses": {"", "{}", "null", `[{"peer":"x"}]`},
	} {
		for _, content := range contents {
			dir, book := guestBook(t)
			tag := addGuest(t, dir, "lab", 2, time.Now().Add(time.Hour))
			if _, err := book.Use(tag, idOf(t, 1), time.Now()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "guests", tag.String()) + ending
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if i, err := book.Use(tag, idOf(t, 1), time.Now()); err == nil || i != nil || !strings.Contains(err.Error(), path+" is damaged") || strings.Contains(err.Error(), "%!") {
				t.Errorf("%q in %s: %v", content, ending, err)
			}
		}
	}
}

func TestAddGuestRefuses(t *testing.T) {
	dir, _ := guestBook(t)
	addGuest(t, dir, "lab", 1, time.Now().Add(time.Hour))
	for name, want := range map[string]string{"lab": "of this name", "": "expected a name", "../x": "expected a name", "a b": "expected a name", strings.Repeat("a", 65): "expected a name"} {
		g := store.Guest{Name: name, Token: invitation.New(cid.MustParse(taskID)), Uses: 1, Made: time.Now(), Expires: time.Now().Add(time.Hour)}
		if err := store.AddGuest(dir, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for uses, ok := range map[int]bool{0: false, 1: true, store.MaxGuestUses: true, store.MaxGuestUses + 1: false} {
		g := store.Guest{Name: fmt.Sprint("uses", uses), Token: invitation.New(cid.MustParse(taskID)), Uses: uses, Made: time.Now(), Expires: time.Now().Add(time.Hour)}
		if err := store.AddGuest(dir, g); (err == nil) != ok {
			t.Errorf("%d uses: %v", uses, err)
		}
	}
}

func TestJoinAddressesAreReadAgain(t *testing.T) {
	dir, _ := guestBook(t)
	if _, hubs, peers, err := store.JoinAddresses(dir, taskID); len(hubs)+len(peers) != 0 || err != nil {
		t.Errorf("%v, %v, %v", hubs, peers, err)
	}
	if err := store.KeepJoinAddresses(dir, taskID, "name", []string{"/a"}, []string{"/b", "/c"}); err != nil {
		t.Fatal(err)
	}
	if name, hubs, peers, err := store.JoinAddresses(dir, taskID); err != nil || fmt.Sprint(name, hubs, peers) != "name[/a] [/b /c]" {
		t.Errorf("%s, %v, %v, %v", name, hubs, peers, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "join-addresses", taskID), []byte("what\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := store.JoinAddresses(dir, taskID); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
}
