package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/fbo-node/fbo/internal/cli"
)

// manual returns the manual pages of the program's commands, made from the texts of the help. Their
// bytes depend only on the arguments.
func manual(version string, at time.Time) (pages []file, err error) {
	dir, err := os.MkdirTemp("", "fbo-manual-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root := cli.Command()
	root.DisableAutoGenTag = true // the day of the build
	root.InitDefaultCompletionCmd()
	header := &doc.GenManHeader{Section: "1", Source: "fbo-node " + version, Manual: "fbo-node", Date: &at}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		page, err := read(name, "man/man1/"+filepath.Base(name))
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}
