package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

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
			if asJSON {
				return printJSON(command.OutOrStdout(), struct {
					ID   string          `json:"id"`
					Task json.RawMessage `json:"task"`
				}{t.ID().String(), t.Canonical()})
			}
			describeTask(command.OutOrStdout(), t)
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
	t, err := task.Parse(path, data)
	if err != nil {
		return nil, usageError{err}
	}
	return t, nil
}

func describeTask(out io.Writer, t *task.Task) {
	fmt.Fprintf(out, "task        %s\nid          %s\ngoal        %s\n", t.Name, t.ID(), t.Goal)
	for _, p := range t.Space.Parameters() {
		fmt.Fprintf(out, "parameter   %s\n", describeParameter(p))
	}
	s := t.Surrogate
	fmt.Fprintf(out, "surrogate   %s, kernel %s; a share holds %d weights over features of lengthscale %g\n",
		s.Type, s.Kernel, s.Features, s.Lengthscale)
	fmt.Fprintf(out, "strategy    %s\n", describeStrategy(t.Strategy))
}

func describeParameter(p task.Parameter) string {
	if p.Kind == task.Categorical {
		return fmt.Sprintf("%s: one of %s", p.Name, strings.Join(p.Choices, ", "))
	}
	return fmt.Sprintf("%s: %s from %v to %v, %s scale", p.Name, p.Kind, p.Low, p.High, p.Scale)
}

func describeStrategy(s task.Strategy) string {
	start := fmt.Sprintf("%d random designs, then", s.InitialDesigns)
	if s.FTS == nil {
		return start + " Thompson sampling alone (ts)"
	}
	schedule := s.FTS.Schedule
	if schedule == "constant" {
		schedule = fmt.Sprintf("constant %g", s.FTS.OwnProbability)
	}
	sharing := fmt.Sprintf("a share after every %d observation(s)", s.FTS.ShareEvery)
	if s.FTS.Mode == "one-shot" {
		sharing = fmt.Sprintf("one share, after %d observations", s.FTS.ShareAfter)
	}
	return fmt.Sprintf("%s federated Thompson sampling (fts), %s, schedule %s; %s", start, s.FTS.Mode, schedule, sharing)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
