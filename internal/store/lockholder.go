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

// lockHolderFile contains the name of the process that has the journal of a directory open, for an
// error message. Nothing else depends on it.
const lockHolderFile = "process.json"

// lockHolder describes a process.
type lockHolder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // the program and its first argument; further arguments may be secret
}

// writeLockHolder stores this process as the one that has the directory's journal open.
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

// describeLockHolder adds the name of the other process, if known, to an error that wraps
// journal.ErrBusy.
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

// runs reports whether a process exists. A process that was killed leaves its lockHolderFile.
func runs(pid int) bool {
	process, err := os.FindProcess(pid)
	if pid < 1 || err != nil {
		return false
	}
	defer process.Release()
	if runtime.GOOS == "windows" { // on Windows, FindProcess fails if there is no such process
		return true
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
