package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/plain"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func newBest() *cobra.Command {
	var dir, format string
	var asJSON bool
	command := &cobra.Command{
		Use:   "best [TASK]",
		Short: "Print the best design so far of a task (a file, an ID or a name), while the node runs or after",
		Long: `Print the design with the best observed value of this node's feasible trials, imported
ones included. Where evaluations are noisy that value is better than the design deserves, and the summary
of run names a recommended design.

--format flags prints --name value for each parameter, for a command line; env
prints NAME=value, with the names that run gives to its command. Both are quoted for
a POSIX shell, which reads that quoting with eval. Without a feasible outcome the exit code is 1.`,
		Example: `  fbo-node best task.yaml
  eval "python train.py $(fbo-node best task.yaml --format flags)"`,
		Args: atMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			write, ok := map[string]func(io.Writer, *task.Task, strategy.Trial) error{
				"text": writeBest, "json": writeBestJSON, "flags": writeBestFlags, "env": writeBestEnv,
			}[format]
			if !ok {
				return usagef("--format %q: accepted are text, json, flags and env", format)
			}
			dataDir, err := resolveDataDir(dir)
			if err != nil {
				return err
			}
			p, err := readPast(command.Context(), dataDir, argument(args))
			if err != nil {
				return err
			}
			if p.best == nil {
				if text := nothingFeasible(p.task, p.trials); text != "" {
					return fmt.Errorf("task %q has no best design: %s", p.task.Name, text)
				}
				return fmt.Errorf("task %q has no best design yet: of %s none has an outcome", p.task.Name, plain.Count(len(p.trials), "trial"))
			}
			return write(command.OutOrStdout(), p.task, *p.best)
		},
	}
	addDataDir(command, &dir)
	command.Flags().StringVar(&format, "format", "text", "text, json, flags or env")
	command.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return command
}

// writeBest prints a line for each parameter; values are exact.
func writeBest(out io.Writer, t *task.Task, best strategy.Trial) error {
	var b strings.Builder
	fmt.Fprintf(&b, "value  %s (trial %d, %s)\n", exactValue(best), best.ID, best.Why)
	for _, p := range t.Space.Parameters() {
		fmt.Fprintf(&b, "%s  %s\n", p.Name, best.Design.Value(p.Name))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeBestJSON prints the trial as history does.
func writeBestJSON(out io.Writer, _ *task.Task, best strategy.Trial) error {
	return printJSON(out, best)
}

func writeBestFlags(out io.Writer, t *task.Task, best strategy.Trial) error {
	var flags []string
	for _, p := range t.Space.Parameters() {
		flags = append(flags, "--"+p.Name+" "+shellQuote(best.Design.Value(p.Name).String()))
	}
	_, err := fmt.Fprintln(out, strings.Join(flags, " "))
	return err
}

func writeBestEnv(out io.Writer, t *task.Task, best strategy.Trial) error {
	var b strings.Builder
	for _, p := range t.Space.Parameters() {
		fmt.Fprintf(&b, "FBO_PARAM_%s=%s\n", strings.ToUpper(p.Name), shellQuote(best.Design.Value(p.Name).String()))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shellQuote makes a text one word of a POSIX shell.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-+.,:/@%", r)
	}
	if text != "" && strings.TrimFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
