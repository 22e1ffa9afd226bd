package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestCommandsHaveJSON checks that each command that prints a result can print it for programs.
func TestCommandsHaveJSON(t *testing.T) {
	t.Parallel()
	without := map[string]string{ // and why
		"mcp":   "its output is the messages of a protocol in JSON",
		"log":   "it prints the output of another program unchanged, except for what it escapes",
		"train": "its output is the line that run reads from a command",
	}
	eachCommand(Command(), func(name string, command *cobra.Command) {
		if has := command.Flags().Lookup("json") != nil; has == (without[name] != "") {
			t.Errorf("%s has the flag --json: %v, and a reason: %q", name, has, without[name])
		}
		delete(without, name)
	})
	for name := range without {
		t.Errorf("there is no command %s", name)
	}
}
