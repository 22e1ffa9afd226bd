package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// lockHolderFile identifies the process that has the journal of a directory open. Without it, only
// an error lacks the name of the process.
const lockHolderFile = "process.json"

// lockHolder is a process.
type lockHolder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // the program and its first argument; others may be secret
}

// writeLockHolder stores this process as the holder of a directory.
func writeLockHolder(dir string) {
	words := []string{filepath.Base(os.Args[0])}
	if len(os.Args) > 1 {
		words = append(words, os.Args[1])
	}
	_ = datadir.Replace(filepath.Join(dir, lockHolderFile), func(out io.Writer) error {
		return json.NewEncoder(out).Encode(lockHolder{PID: os.Getpid(), Command: strings.Join(words, " ")})
	})
}

func removeLockHolder(dir string) { _ = os.Remove(filepath.Join(dir, lockHolderFile)) }

// describeLockHolder adds the process to an error that wraps journal.ErrBusy, if it is known.
func describeLockHolder(dir string, err error) error {
	if !errors.Is(err, journal.ErrBusy) {
		return err
	}
	file, unknown := datadir.Open(filepath.Join(dir, lockHolderFile))
	if unknown != nil {
		return err
	}
	defer file.Close()
	var h lockHolder
	if json.NewDecoder(io.LimitReader(file, 4096)).Decode(&h) != nil || !runs(h.PID) {
		return err
	}
	return fmt.Errorf("%w (it is process %d, %s)", err, h.PID, sanitize.Text(h.Command, 80))
}

// runs reports whether there is a process. One that was killed has left its file.
func runs(pid int) bool {
	process, err := os.FindProcess(pid)
	if pid < 1 || err != nil {
		return false
	}
	defer process.Release()
	if runtime.GOOS == "windows" { // there, finding a process is enough
		return true
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
