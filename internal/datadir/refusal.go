package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Refusal is an error of the operating system that the user can fix: a full disk, a quota, a limit
// on the size of files, a read-only file system, or missing permissions.
type Refusal struct {
	Problem string // description, such as "the disk is full"
	Remedy  string // what the user can do
	err     error
}

// Error appends the problem and the remedy to the error of the system.
func (r *Refusal) Error() string { return fmt.Sprintf("%v: %s; %s", r.err, r.Problem, r.Remedy) }

// Unwrap returns the error of the system.
func (r *Refusal) Unwrap() error { return r.err }

// Explain returns err as a *Refusal if the system refused to open, create or write a file.
// Otherwise it returns err itself. An error that is a Refusal already is returned unchanged.
func Explain(err error) error {
	if _, explained := errors.AsType[*Refusal](err); explained || err == nil {
		return err
	}
	problem, remedy := "", ""
	switch {
	case diskFull.is(err):
		problem, remedy = "the disk is full", "free some space, or name a directory on another disk"
	case overQuota.is(err):
		problem, remedy = "this user's quota of the disk is used up", "remove files of this user, or raise the quota"
	case tooLarge.is(err):
		problem, remedy = "a file has reached the largest size that is allowed", "raise the limit (ulimit -f), or name a directory on another disk"
	case readOnly.is(err):
		problem, remedy = "the file system is read-only", "mount it for writing, or name a directory on another disk"
	case errors.Is(err, fs.ErrPermission) && ofFile(err):
		problem, remedy = "this user lacks the permission", "change the owner or the mode of the file or its folder, or name another"
	default:
		return err
	}
	return &Refusal{problem, remedy, err}
}

// RefusalOf returns the Refusal that Explain makes of err, or nil if there is none.
func RefusalOf(err error) *Refusal {
	refusal, _ := errors.AsType[*Refusal](Explain(err))
	return refusal
}

// refused is a kind of refusal. Its error codes differ between systems.
type refused int

const (
	diskFull refused = iota
	overQuota
	tooLarge
	readOnly
)

func (r refused) is(err error) bool {
	return slices.ContainsFunc(codesOf(r), func(code syscall.Errno) bool { return errors.Is(err, code) })
}

// ofFile reports whether an operation on a file failed, and not, for example, one on a network
// port.
func ofFile(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}
