package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/privacy/ledger"
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
			describePrivacy(command.OutOrStdout(), promised)
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
	s := t.Surrogate
	fmt.Fprintf(out, "surrogate   %s, kernel %s\nfeatures    %d for weights that are shared, lengthscale %g\n", s.Type, s.Kernel, s.Features, s.Lengthscale)
	fmt.Fprintf(out, "strategy    %s\n", describeStrategy(t.Strategy))
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

func describeStrategy(s task.Strategy) string {
	return fmt.Sprintf("%d random designs, then %s (%s)", s.InitialDesigns, describeChoice(s), s.Type)
}

// describeChoice says how designs are chosen and what is shared.
func describeChoice(s task.Strategy) string {
	switch {
	case s.FTS != nil:
		return describeFTS(s.FTS)
	case s.FTSDE != nil:
		return describeFTSDE(s.FTSDE)
	case s.Consensus != nil:
		return describeConsensus(s.Consensus)
	case s.Constrained != nil:
		return fmt.Sprintf("expected improvement given that peers' designs are good, threshold %s; a share holds the design whose lower bound, at %g deviations, is best",
			s.Constrained.Threshold, s.Constrained.Confidence)
	case s.Density != nil:
		return fmt.Sprintf("expected improvement weighed by the densities of peers to the power %g/t; a share holds %s", s.Density.Beta, plural(s.Density.Components, "normal"))
	}
	switch s.Type {
	case "peer-prior":
		return "Thompson sampling around the mean of the peers, as far as own results bear it out; a share holds the node's own mean and where it knows how much, from which all its results can be computed"
	case "ts":
		return "Thompson sampling alone; nothing is shared"
	case "logei":
		return "expected improvement alone; nothing is shared"
	case "ucb":
		return "the upper confidence bound alone; nothing is shared"
	}
	return s.Type
}

func describeSchedule(schedule string, ownProbability float64) string {
	if schedule == "constant" {
		return fmt.Sprintf("constant %g", ownProbability)
	}
	return schedule
}

func describeFTSDE(f *task.FTSDE) string {
	text := "Thompson sampling around private sums, as far as own results bear them out"
	if f.Listen == "schedule" {
		text = "federated Thompson sampling with private sums, schedule " + describeSchedule(f.Schedule, f.OwnProbability)
	}
	if f.Cells > 1 {
		text += fmt.Sprintf("; %d cells, each explored by its own nodes at the start", f.Cells)
	}
	every := "every " + plural(f.ShareEvery, "observation")
	if f.ShareEvery == 1 {
		every = "every observation"
	}
	what := map[string]string{"mean": "the nodes' means", "sample": "samples, one of each node,"}[f.Share]
	return fmt.Sprintf("%s; a sum of %s after %s", text, what, every)
}

func describeFTS(f *task.FTS) string {
	sharing := "a share after every " + plural(f.ShareEvery, "observation")
	if f.ShareEvery == 1 {
		sharing = "a share after every observation"
	}
	if f.Mode == "one-shot" {
		sharing = "one share, after " + plural(f.ShareAfter, "observation")
	}
	return fmt.Sprintf("federated Thompson sampling, %s, schedule %s; %s", f.Mode, describeSchedule(f.Schedule, f.OwnProbability), sharing)
}

func describeConsensus(c *task.Consensus) string {
	rounds := fmt.Sprintf("asynchronous, over %s", plural(c.Rounds, "round"))
	if c.Mode == "rounds" {
		rounds = fmt.Sprintf("in %s, each waiting up to %d s", plural(c.Rounds, "round"), c.Deadline)
	}
	response := map[string]string{"": "", "value": " and its best result", "noisy": fmt.Sprintf(" and its best result with noise of deviation %g", c.ResponseNoise)}[c.Response]
	return fmt.Sprintf("the weighted average of all nodes' candidates by %s, weights %s, %s; a share holds a candidate%s", c.Acquisition, c.Weights, rounds, response)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
