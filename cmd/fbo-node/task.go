package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/privacy/ledger"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func newTask() *cobra.Command {
	command := &cobra.Command{
		Use:   "task",
		Short: "Check a task file, or print its ID",
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return usagef("%s: say what to do: check or id; see `%s --help`", command.CommandPath(), command.CommandPath())
		},
	}
	var asJSON bool
	check := &cobra.Command{
		Use:   "check TASK",
		Short: "Check a task file and show what it means, defaults filled in",
		Args:  exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := readTask(args[0])
			if err != nil {
				return err
			}
			promised, err := planOf(t)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), struct {
					ID      string          `json:"id"`
					Task    json.RawMessage `json:"task"`
					Privacy *privacyReport  `json:"privacy,omitempty"` // as privacy --json prints it
				}{t.ID().String(), t.Canonical(), promised})
			}
			describeTask(command.OutOrStdout(), t)
			describePrivacy(command.OutOrStdout(), t, promised)
			return nil
		},
	}
	check.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	id := &cobra.Command{
		Use:   "id TASK",
		Short: "Print the task's ID; nodes with the same ID work together",
		Args:  exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := readTask(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), t.ID())
			return nil
		},
	}
	command.AddCommand(check, id)
	return command
}

// readTask reads a task file; "-" is standard input. Its errors are the user's.
func readTask(path string) (*task.Task, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, usagef("task file: %w", err)
	}
	t, err := all.Strategies().Parse(path, data)
	if err != nil {
		return nil, usageError{err}
	}
	if t.Privacy != nil {
		if _, err := ledger.NewTerms(t); err != nil {
			return nil, usagef("%s: %w", path, err)
		}
	}
	return t, nil
}

func describeTask(out io.Writer, t *task.Task) {
	fmt.Fprintf(out, "task        %s\nid          %s\ngoal        %s\n", t.Name, t.ID(), t.Goal)
	for _, p := range t.Space.Parameters() {
		fmt.Fprintf(out, "parameter   %s\n", describeParameter(p))
	}
	for _, c := range t.Constraints {
		fmt.Fprintf(out, "constraint  %s\n", describeConstraint(c))
	}
	if t.FailuresCount {
		fmt.Fprintln(out, "failures    count: designs near those whose evaluation fails are avoided")
	}
	s := t.Surrogate
	fmt.Fprintf(out, "surrogate   %s, kernel %s\nfeatures    %d that all nodes have in common, lengthscale %g\n", s.Type, s.Kernel, s.Features, s.Lengthscale)
	fmt.Fprintf(out, "strategy    %s\n", describeStrategy(t))
}

func describeParameter(p task.Parameter) string {
	numbers := make([]string, len(p.Numbers))
	for i, v := range p.Numbers {
		numbers[i] = task.FloatValue(v).String()
	}
	switch {
	case p.Kind == task.Bool:
		return p.Name + ": true or false"
	case p.Kind == task.Categorical:
		return fmt.Sprintf("%s: one of %s", p.Name, strings.Join(append(numbers, p.Choices...), ", "))
	case p.Numbers != nil:
		return fmt.Sprintf("%s: %s, one of %s, in this order", p.Name, p.Kind, strings.Join(numbers, ", "))
	case p.Step != 0:
		return fmt.Sprintf("%s: %s from %v to %v in steps of %v", p.Name, p.Kind, p.Low, p.High, p.Step)
	}
	return fmt.Sprintf("%s: %s from %v to %v, %s scale", p.Name, p.Kind, p.Low, p.High, p.Scale)
}

func describeStrategy(t *task.Task) string {
	return fmt.Sprintf("%d random designs, then %s (%s)", t.Strategy.InitialDesigns, registrationOf(t).Describe(t), t.Strategy.Type)
}

// registrationOf returns that of a task that readTask has read.
func registrationOf(t *task.Task) strategy.Registration {
	r, err := all.Strategies().Of(t)
	if err != nil {
		panic(err) // tasks are read by the same set
	}
	return r
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
