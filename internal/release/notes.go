package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unreleased is the title of the section of the changelog for changes without a version.
const unreleased = "Unreleased"

// errNoSection is in the errors of cutNotes about a changelog without any of the sections.
var errNoSection = errors.New("CHANGELOG.md has no section")

// cutNotes returns a section of the changelog: the text under the heading "## TITLE", which may
// have a date after the title. It takes the first of the titles that has a section.
func cutNotes(changelog string, titles ...string) (string, error) {
	for _, title := range titles {
		heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(title) + `(?: .*)?\n`)
		at := heading.FindStringIndex(changelog)
		if at == nil {
			continue
		}
		section, _, _ := strings.Cut(changelog[at[1]:], "\n## ")
		if section = strings.TrimSpace(section); section == "" {
			return "", fmt.Errorf("the section %q of CHANGELOG.md is empty", "## "+title)
		}
		return section + "\n", nil
	}
	return "", fmt.Errorf("%w %q; expected one, which --prepare makes of %q", errNoSection, "## "+titles[0], "## "+unreleased)
}

// newest returns the title of a changelog's first section, or "" if it has none. After a release no
// section has the title of unreleased.
func newest(changelog string) string {
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(changelog)
	if heading == nil {
		return ""
	}
	return heading[1]
}

var relativeLink = regexp.MustCompile(`\]\(([^()#:]+)(#[^()]*)?\)`)

// absoluteLinks replaces links to files of this project by links to the same files on its home
// page, at a tag or commit, so that they work elsewhere.
func absoluteLinks(text, at string) string {
	return relativeLink.ReplaceAllString(text, "]("+home+"/blob/"+at+"/$1$2)")
}

var packageVersion = regexp.MustCompile(`(?m)^__version__ = "(.*)"$`)

// versionFile is the only place of the Python package's version.
const versionFile = "python/src/fbo/version.py"

// hasPythonPackage reports whether a source has the Python package.
func hasPythonPackage(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, wheelScript))
	return err == nil
}

// pythonVersion returns an error if the Python package, if there is one, has another version.
func pythonVersion(dir, version string) error {
	if !hasPythonPackage(dir) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, versionFile))
	if err != nil {
		return err
	}
	wanted, err := withPythonVersion(string(text), version)
	if err != nil {
		return err
	}
	if wanted != string(text) {
		return fmt.Errorf("%s has version %s, not that of %s", versionFile, packageVersion.FindStringSubmatch(string(text))[1], version)
	}
	return nil
}

// withPythonVersion returns the text of versionFile with a version, in the form of Python packages.
func withPythonVersion(text, version string) (string, error) {
	if !packageVersion.MatchString(text) {
		return "", fmt.Errorf(`%s has no line __version__ = "…"`, versionFile)
	}
	python, err := pep440(version)
	if err != nil {
		return "", err
	}
	return packageVersion.ReplaceAllLiteralString(text, `__version__ = "`+python+`"`), nil
}

// candidate matches a version with one of the pre-releases that Python also has.
var candidate = regexp.MustCompile(`^([0-9.]+)-(alpha|beta|rc)\.(0|[1-9][0-9]*)$`)

// pep440 returns a version in the form of Python packages: 0.1.0rc1 for 0.1.0-rc.1.
func pep440(version string) (string, error) {
	if !strings.Contains(version, "-") {
		return version, nil
	}
	parts := candidate.FindStringSubmatch(version)
	if parts == nil {
		return "", fmt.Errorf("version %s has no form for Python packages; expected -alpha.N, -beta.N or -rc.N", version)
	}
	return parts[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[parts[2]] + parts[3], nil
}
