package doctorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// Limits for sufficient disk space. A journal grows by some kilobytes per trial.
const (
	slowSync    = 100 * time.Millisecond // each trial waits for a few
	scarceSpace = 256 << 20
	noSpace     = triallog.Reserve
	syncTries   = 5
)

// errNotHere means that the check is not available on this system.
var errNotHere = errors.New("not checked here (" + runtime.GOOS + ")")

// checkDisk checks the data directory and its content. A directory that cannot be written, or that
// others can write, is still read.
func checkDisk(dir string, running *control.NodeState) []finding {
	at, err := existing(dir)
	if err != nil {
		return []finding{refused("data directory", "name a directory by --data-dir", err),
			skip("identity", "no data directory"), skip("journal", "no data directory")}
	}
	findings := append(checkWritable(dir, at), checkSpace(at))
	return append(findings, checkKey(dir), checkJournal(dir, running), checkCopy(dir))
}

// refused returns a failed check. The advice is for errors for which the system gives no better
// one.
func refused(what, advice string, err error) finding {
	if r := datadir.RefusalOf(err); r != nil {
		return fail(what, r.Remedy, "%s: %v", r.Problem, r.Unwrap())
	}
	return fail(what, advice, "%v", err)
}

// checkWritable writes a small file to at, the directory or its nearest existing parent, and
// removes it again.
func checkWritable(dir, at string) []finding {
	const what = "data directory"
	if err := datadir.Check(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []finding{refused(what, "name a directory by --data-dir that only this user can write", err)}
	}
	took, err := trySync(at)
	if err != nil {
		return []finding{refused(what, "name a directory on another disk by --data-dir", err)}
	}
	findings := []finding{ok(what, "%s is writable", dir)}
	if _, err := os.Stat(dir); err != nil {
		findings[0] = ok(what, "%s does not exist yet and can be made", dir)
	}
	if took > slowSync {
		return append(findings, warn("disk sync", "put the data directory on a faster disk: every trial waits for a few syncs", "%v", took))
	}
	return append(findings, ok("disk sync", "%v", took))
}

// existing returns the directory, or the nearest one above it that exists.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", fmt.Errorf("%s is not a directory", dir)
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// trySync returns the median time of syncing a small file.
func trySync(dir string) (time.Duration, error) {
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	var times []time.Duration
	for range syncTries {
		begun := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return times[syncTries/2].Round(10 * time.Microsecond), nil
}

func checkSpace(dir string) finding {
	const what, advice = "disk space", "free some space, or name a directory on another disk by --data-dir"
	free, err := datadir.Free(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return skip(what, "%v", errNotHere)
	case err != nil:
		return skip(what, "%v", err)
	case free < noSpace:
		return fail(what, advice, "%d MiB are free", free>>20)
	case free < scarceSpace:
		return warn(what, advice, "%d MiB are free", free>>20)
	}
	return ok(what, "%d MiB are free", free>>20)
}

// checkKey makes no identity, in contrast to LoadIdentity.
func checkKey(dir string) finding {
	const what = "identity"
	path := filepath.Join(dir, store.IdentityFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ok(what, "none yet; the first start makes one")
	}
	if err != nil {
		return refused(what, "make the data directory readable for this user", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fail(what, "chmod 600 "+path+", or remove it for a new identity if others may have read it",
			"%s is open to others (mode %04o)", path, info.Mode().Perm())
	}
	key, err := store.LoadIdentity(dir)
	if err != nil {
		return refused(what, "restore the file from a backup, or remove it for a new identity", err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return fail(what, "restore the file from a backup, or remove it for a new identity", "%v", err)
	}
	if runtime.GOOS == "windows" {
		return ok(what, "%s; who may read it is not checked here (windows)", id)
	}
	return ok(what, "%s, mode %04o", id, info.Mode().Perm())
}

// RepairJournal is the advice about a damaged journal.
const RepairJournal = "run fbo-node doctor --repair on this data directory"

// checkJournal reads the whole journal, so that damage is found.
func checkJournal(dir string, running *control.NodeState) finding {
	const what = "journal"
	if running != nil {
		return ok(what, "held by the running node %s on %s", running.PeerID, taskref.List(running.Tasks))
	}
	whole, err := readWholeJournal(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(filepath.Join(dir, store.CopyFile)); err == nil {
			return fail(what, RepairJournal, "%s is missing, and its copy %s is there", filepath.Join(dir, store.JournalFile), store.CopyFile)
		}
		return ok(what, "none yet; the first start makes one")
	case errors.Is(err, node.ErrBusy):
		return warn(what, "stop that process before starting another node here", "held by another process, which does not answer as a node does: %v", err)
	case err != nil:
		return refused(what, RepairJournal, err)
	}
	return ok(what, "whole: %s", whole)
}

// checkCopy reads the copy with which a repair would begin.
func checkCopy(dir string) finding {
	const what = "journal's copy"
	made, err := store.CheckCopy(dir, all.Strategies())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok(what, "none yet; each start and end makes one")
	case err != nil:
		f := refused(what, "start a node here, which replaces it", err)
		f.Grade = gradeWarn
		return f
	}
	return ok(what, "whole, of %s", made.Format(time.DateTime))
}

// readWholeJournal returns a summary of the journal's content.
func readWholeJournal(dir string) (content string, err error) {
	trials, own := 0, 0
	var others []string // strategies of tasks that this program does not know
	err = past.EachInJournal(dir, func(_ string, h past.History, err error) error {
		if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
			others = append(others, strconv.Quote(unknown.Type))
			return nil
		}
		if err == nil {
			own++
			trials += len(h.Trials)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	content = fmt.Sprintf("%s on %s", sanitize.Count(trials, "trial"), sanitize.Count(own, "task"))
	if len(others) > 0 {
		content += fmt.Sprintf("; %s of another program, by a strategy unknown to this one: %s", sanitize.Count(len(others), "task"), sanitize.List(others))
	}
	return content, nil
}
