package store_test

import (
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/internal/store"
)

// However many commands start at once in a new directory, all have one identity.
func TestManyStartsHaveOneIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var starting sync.WaitGroup
	var mu sync.Mutex
	found := map[string]int{}
	for range 200 {
		starting.Go(func() {
			key, err := store.LoadIdentity(dir)
			if err != nil {
				t.Error(err)
				return
			}
			raw, err := key.Raw()
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[string(raw)]++
		})
	}
	starting.Wait()
	if len(found) != 1 {
		t.Errorf("200 starts have %d identities, expected one", len(found))
	}
}

// A seed gives one identity, and replaces none that exists.
func TestWriteIdentityOfASeed(t *testing.T) {
	t.Parallel()
	read := func(dir string) string {
		key, err := store.LoadIdentity(dir)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := key.Raw()
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	write := func(dir string, seed byte) error { return store.WriteIdentity(dir, [32]byte{seed}) }
	first, again, other := t.TempDir(), t.TempDir(), t.TempDir()
	if err := errors.Join(write(first, 1), write(again, 1), write(other, 2)); err != nil {
		t.Fatal(err)
	}
	if read(first) != read(again) || read(first) == read(other) {
		t.Error("the identity does not depend on the seed alone")
	}
	if err := write(first, 2); !errors.Is(err, fs.ErrExist) || read(first) != read(again) {
		t.Errorf("a second identity: %v", err)
	}
}
