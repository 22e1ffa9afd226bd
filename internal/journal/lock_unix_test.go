//go:build unix && !solaris && !aix && !android

package journal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A child process inherits the lock between its fork and its program. Every way of ending a
// lock must end the child's too, since the next holder tries only once.
func TestLockEndsDespiteChildren(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := mustOpen(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(damaged, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	defer startChildren(t)()
	for range 300 {
		for name, hold := range map[string]func() (func(), error){
			"writer":  func() (func(), error) { return closer(Open(path, 0)) },
			"reader":  func() (func(), error) { return closer(OpenReadOnly(path, 0)) },
			"lock":    func() (func(), error) { return Lock(path, 0) },
			"damaged": func() (func(), error) { _, err := OpenReadOnly(damaged, 0); return func() {}, ignoreDamage(err) },
			"repair":  func() (func(), error) { return Lock(damaged, 0) },
		} {
			end, err := hold()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			end()
		}
	}
}

func closer(j *Journal, err error) (func(), error) {
	if err != nil {
		return nil, err
	}
	return func() { _ = j.Close() }, nil
}

func ignoreDamage(err error) error {
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

// startChildren starts short processes one after the other until stop is called.
func startChildren(t *testing.T) (stop func()) {
	t.Helper()
	var running sync.WaitGroup
	ended := make(chan struct{})
	for range 4 {
		running.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					_ = exec.Command("true").Run()
				}
			}
		})
	}
	return func() { close(ended); running.Wait() }
}

// A journal in which bbolt has panicked must not stay locked: it is repaired in this process.
func TestLockEndsAfterPanic(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "journal")
		if err := mustOpen(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		j, err := openFile(path, 0, readOnly)
		if err != nil {
			t.Fatal(err)
		}
		func() {
			var damage error
			defer j.recoverDamage(&damage)()
			panic("as bbolt does")
		}()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		unlock, err := Lock(path, time.Millisecond)
		if err != nil {
			t.Fatalf("read only %t: %v", readOnly, err)
		}
		unlock()
	}
}
