package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli"
)

// TestManualHasEveryCommand checks that each command of the help has a page with all its flags, and
// that two builds of one commit have the same pages.
func TestManualHasEveryCommand(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	pages, err := manual("0.1.0", at)
	if err != nil {
		t.Fatal(err)
	}
	again, err := manual("0.1.0", at)
	if err != nil || len(again) != len(pages) {
		t.Fatalf("%d pages, then %d, %v", len(pages), len(again), err)
	}
	content := map[string]string{}
	for i, page := range pages {
		content[page.name] = string(page.data)
		if !bytes.Equal(page.data, again[i].data) {
			t.Errorf("%s differs between two builds", page.name)
		}
	}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if !c.IsAvailableCommand() {
			return
		}
		name := "man/man1/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, ok := content[name]
		if !ok {
			t.Errorf("no page %s", name)
		}
		delete(content, name)
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden && !strings.Contains(strings.ReplaceAll(page, `\-`, "-"), "--"+flag.Name) {
				t.Errorf("%s lacks --%s", name, flag.Name)
			}
		})
		for _, below := range c.Commands() {
			check(below)
		}
	}
	root := cli.Command()
	root.InitDefaultCompletionCmd()
	check(root)
	for name := range content {
		if !strings.Contains(name, "completion") {
			t.Errorf("%s is of no command", name)
		}
	}
}
