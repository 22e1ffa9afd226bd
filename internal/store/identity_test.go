package store_test

import (
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
