package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licencesFile has the licence texts that must accompany copies of the program.
const licencesFile = "THIRD_PARTY_LICENSES.txt"

var (
	licenceName   = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([.-].*)?$`)
	licenceFolder = regexp.MustCompile(`(?i)^(third_party_)?licen[cs]es$`)
)

// module is a module that is part of a program, with the folder of its files.
type module struct{ name, dir string }

// modulesOf returns Go's standard library and the modules that are part of a platform's program.
func modulesOf(ctx context.Context, p platform, stage, cache string) (all []module, err error) {
	goTool := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env, c.Stderr = stage, p.environment(cache), os.Stderr
		out, err := c.Output()
		return strings.TrimSpace(string(out)), err
	}
	root, err := goTool("env", "GOROOT")
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	all = []module{{"Go's library", root}}
	const format = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	listed, err := goTool("list", "-deps", "-f", format, "./cmd/fbo-node")
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(listed) {
		name, dir, found := strings.Cut(strings.TrimSpace(line), "\t")
		if m := (module{name, dir}); found && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	vendored, err := vendoredIn(stage)
	return append(all, vendored...), err
}

// vendoredIn returns the third-party code in the source itself: all folders with a subfolder
// "licenses".
func vendoredIn(source string) (all []module, err error) {
	return all, filepath.WalkDir(source, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "licenses" {
			beside := filepath.Dir(name)
			relative, err := filepath.Rel(source, beside)
			all = append(all, module{filepath.ToSlash(relative), beside})
			return err
		}
		return err
	})
}

// licencesOf returns the licences of the modules as one text. Modules with the same licence text
// share a section.
func licencesOf(modules []module) (string, error) {
	holders := map[string][]string{} // licence files, by their text
	for _, m := range modules {
		files, err := licenceFiles(m.dir)
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("%s has no licence in %s", m.name, m.dir)
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
			if err != nil {
				return "", err
			}
			key := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			holders[key] = append(holders[key], m.name+": "+name)
		}
	}
	var sections []string
	for text, names := range holders {
		slices.Sort(names)
		sections = append(sections, strings.Join(names, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(sections)
	return strings.Join(sections, "\n"+strings.Repeat("-", 80)+"\n\n"), nil
}

// licenceFiles returns the paths of a module's licences, relative to dir and with slashes.
func licenceFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		switch {
		case entry.Type().IsRegular() && licenceName.MatchString(entry.Name()):
			names = append(names, entry.Name())
		case entry.IsDir() && licenceFolder.MatchString(entry.Name()):
			inner, err := os.ReadDir(filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			for _, one := range inner {
				if one.Type().IsRegular() {
					names = append(names, path.Join(entry.Name(), one.Name()))
				}
			}
		}
	}
	return names, nil
}
