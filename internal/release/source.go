package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const home = "https://github.com/fbo-node/fbo"

// source describes the source of a release.
type source struct {
	dir    string // root of the working tree
	commit string
	time   time.Time // time of the commit
	// committer is the name and address, "NAME <ADDRESS>", of the person who made the commit: the
	// maintainer of the release.
	committer string
	version   string // version in the names of files
	stamped   string // version that the program must report; empty in a snapshot
	notes     string
	snapshot  bool
}

// look determines the source of a release. It returns an error if that source cannot be released.
func look(ctx context.Context, dir, version string, snapshot bool) (s source, err error) {
	s = source{version: version, snapshot: snapshot}
	if s.dir, err = git(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
		return s, err
	}
	if s.commit, err = git(ctx, s.dir, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return s, err
	}
	made, err := git(ctx, s.dir, "log", "-1", "--format=%ct %cn <%ce>", s.commit)
	if err != nil {
		return s, err
	}
	seconds, committer, _ := strings.Cut(made, " ")
	s.committer = committer
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, fmt.Errorf("the time of commit %s: %w", s.commit, err)
	}
	s.time = time.Unix(at, 0).UTC()
	changelog, err := os.ReadFile(filepath.Join(s.dir, "CHANGELOG.md"))
	if err != nil {
		return s, err
	}
	if snapshot {
		s.version += "-snapshot"
		s.notes, err = cutNotes(string(changelog), version, unreleased, newest(string(changelog)))
		return s, err
	}
	s.stamped = "v" + version
	if s.notes, err = cutNotes(string(changelog), version); err != nil {
		return s, err
	}
	if err := mustBeCommitted(ctx, s.dir, "commit them, or build with --snapshot"); err != nil {
		return s, err
	}
	tagged, err := git(ctx, s.dir, "rev-parse", "--verify", "--quiet", "refs/tags/"+s.stamped+"^{commit}")
	if err != nil {
		return s, fmt.Errorf("there is no tag %s; make it, or build with --snapshot", s.stamped)
	}
	if tagged != s.commit {
		return s, fmt.Errorf("the tag %s is at commit %s, the working tree at %s; check out the tag, or build with --snapshot", s.stamped, tagged, s.commit)
	}
	return s, pythonVersion(s.dir, version)
}

// mustBeCommitted returns an error, with a remedy, unless the commit holds the whole working tree.
func mustBeCommitted(ctx context.Context, root, remedy string) error {
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the working tree has changes, which no commit holds; %s:\n%s", remedy, changed)
	}
	return nil
}

// stage clones the commit to a folder. For a snapshot it then replaces the files by those of the
// working tree.
func (s source) stage(ctx context.Context, dir string) error {
	if _, err := git(ctx, s.dir, "clone", "--quiet", "--no-checkout", s.dir, dir); err != nil {
		return err
	}
	if _, err := git(ctx, dir, "-c", "advice.detachedHead=false", "checkout", "--quiet", s.commit); err != nil {
		return err
	}
	if !s.snapshot {
		return nil
	}
	before, err := filesOf(ctx, dir)
	if err != nil {
		return err
	}
	for _, name := range before {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	now, err := filesOf(ctx, s.dir)
	if err != nil {
		return err
	}
	for _, name := range now {
		if err := copyFile(filepath.Join(s.dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	f, err := read(from, "")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, f.data, f.mode())
}

// filesOf returns the paths of a working tree's files, except those that git ignores.
func filesOf(ctx context.Context, dir string) (names []string, err error) {
	text, err := git(ctx, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(text, "\x00") {
		if name == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) {
			continue // deleted in the working tree, but not yet in a commit
		}
		names = append(names, name)
	}
	return names, nil
}

// git runs git in a folder and returns its output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, said.String())
	}
	return strings.TrimRight(string(out), "\n"), nil
}
