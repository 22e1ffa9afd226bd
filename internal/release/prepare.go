package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// edit is a file with its text before and after a change.
type edit struct{ name, before, after string }

// prepare makes the commit of a version: it gives the changes under "## Unreleased" the version and a
// date, and the Python package the version. A person reviews the commit and sets the tag, and so prepare
// pushes and tags nothing. After an error the files are as before.
func prepare(ctx context.Context, dir, version string, date time.Time) error {
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := mustBeCommitted(ctx, root, "commit or stash them"); err != nil {
		return err
	}
	tag := "v" + version
	if _, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "refs/tags/"+tag); err == nil {
		return fmt.Errorf("the tag %s exists; expected a version without a tag", tag)
	}
	edits, err := versionEdits(root, version, date)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(edits))
	for _, e := range edits {
		names = append(names, e.name)
	}
	if err := commitEdits(ctx, root, tag, edits, names); err != nil {
		// An interrupt must not keep the files from being restored.
		ctx := context.WithoutCancel(ctx)
		_, reset := git(ctx, root, append([]string{"reset", "--quiet", "--"}, names...)...)
		_, restored := git(ctx, root, append([]string{"checkout", "--quiet", "--"}, names...)...)
		return errors.Join(err, reset, restored)
	}
	fmt.Printf(`made a commit of %s with the version %s; nothing is tagged or pushed
review:  git show --format=full    (git commit --amend takes corrections, git reset --hard HEAD~ undoes it)
tag:     git tag %s
build:   go run ./internal/release %s --twice
`, strings.Join(names, " and "), version, tag, version)
	return nil
}

// versionEdits returns the changes of files by which a version is set.
func versionEdits(root, version string, date time.Time) ([]edit, error) {
	changelog, err := readText(root, "CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	changelog.after, err = dated(changelog.before, version, date)
	if err != nil {
		return nil, err
	}
	edits := []edit{changelog}
	if !hasPythonPackage(root) {
		return edits, nil
	}
	python, err := readText(root, versionFile)
	if err != nil {
		return nil, err
	}
	python.after, err = withPythonVersion(python.before, version)
	if err != nil {
		return nil, err
	}
	if python.after != python.before {
		edits = append(edits, python)
	}
	return edits, nil
}

func readText(root, name string) (edit, error) {
	data, err := os.ReadFile(filepath.Join(root, name))
	return edit{name: name, before: string(data)}, err
}

// dated renames the section "## Unreleased" of a changelog to a version with a date.
func dated(changelog, version string, date time.Time) (string, error) {
	if _, err := cutNotes(changelog, version); !errors.Is(err, errNoSection) {
		return "", fmt.Errorf("CHANGELOG.md has a section %q; expected the changes under %q and no section of that version", "## "+version, "## "+unreleased)
	}
	if _, err := cutNotes(changelog, unreleased); err != nil {
		return "", err
	}
	heading := fmt.Sprintf("## %s (%s)\n", version, date.UTC().Format(time.DateOnly))
	return regexp.MustCompile(`(?m)^## `+unreleased+`(?: .*)?\n`).ReplaceAllLiteralString(changelog, heading), nil
}

// commitEdits writes the files and commits them.
func commitEdits(ctx context.Context, root, tag string, edits []edit, names []string) error {
	for _, e := range edits {
		if err := os.WriteFile(filepath.Join(root, e.name), []byte(e.after), 0o644); err != nil {
			return err
		}
	}
	message := "release " + tag[1:] + ": set the version and date the changes\n\n" +
		"The program takes its version from the tag " + tag + ", which belongs at this commit."
	_, err := git(ctx, root, append([]string{"commit", "--quiet", "--message", message, "--"}, names...)...)
	return err
}
