package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// eachCommand calls visit for all commands that the help lists, with their names below the program.
func eachCommand(command *cobra.Command, visit func(name string, command *cobra.Command)) {
	for _, sub := range command.Commands() {
		if sub.Hidden {
			continue
		}
		if !sub.HasSubCommands() {
			visit(strings.TrimPrefix(sub.CommandPath(), "fbo-node "), sub)
		}
		eachCommand(sub, visit)
	}
}

// variables returns a line for each variable: its name, flag and commands.
func variables() (lines []string) {
	commands, others := map[string][]string{}, map[string][]string{} // with the flag and its variable, without the variable
	rows := map[string]string{}
	eachCommand(Command(), func(name string, command *cobra.Command) {
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if variable := base.VariableOf(flag); variable != "" {
				rows[flag.Name] = variable
				commands[flag.Name] = append(commands[flag.Name], name)
			} else {
				others[flag.Name] = append(others[flag.Name], name)
			}
		})
	})
	for flag, names := range commands {
		slices.Sort(names)
		text := strings.Join(names, ", ")
		if len(names) > 10 {
			slices.Sort(others[flag])
			text = "all with the flag, besides " + strings.Join(others[flag], ", ")
		}
		lines = append(lines, rows[flag]+" --"+flag+" "+text)
	}
	slices.Sort(lines)
	return lines
}

func TestDocumentedVariables(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `(FBO_[A-Z_]+)` \\| `(--[a-z-]+)` \\| (.*) \\|$")
	read := func(page string) (lines []string) {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, m[1]+" "+m[2]+" "+strings.ReplaceAll(m[3], "`", ""))
		}
		slices.Sort(lines)
		return lines
	}
	code := variables()
	if table := read("command-line.md"); !slices.Equal(table, code) {
		t.Errorf("docs/command-line.md has\n%s\nthe commands have\n%s", strings.Join(table, "\n"), strings.Join(code, "\n"))
	}
	deploy := read("deploy.md")
	for _, line := range deploy {
		if !slices.Contains(code, line) {
			t.Errorf("docs/deploy.md has %s, which no command has", line)
		}
	}
	if len(deploy) == 0 {
		t.Error("docs/deploy.md has no variables")
	}
}
