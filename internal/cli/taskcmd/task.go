// Package taskcmd contains the commands about a task file: its meaning, its ID, invitations to it,
// and the disclosures of its nodes.
package taskcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// NewTask returns the command task.
func NewTask() *cobra.Command {
	command := &cobra.Command{
		Use:   "task",
		Short: "Check a task file, print its ID, or make an invitation to it",
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return base.UnknownCommand(command, args)
			}
			return base.Usagef("%s: expected check, id or invite; see `%s --help`", command.CommandPath(), command.CommandPath())
		},
	}
	var asJSON bool
	var dir, invite string
	check := &cobra.Command{
		Use:   "check TASK",
		Short: "Check a task file and show its meaning, with defaults",
		Long: `Check a task file and show its meaning, with defaults, and the privacy guarantee of its nodes.
If another task in the data directory has disclosed information about the same data, or may
have, that is shown too, with the sum of both budgets. For a task that continues another one
the differences are shown, and what is carried over.`,
		Args: base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := past.FindTask(command.Context(), dir, args[0])
			if err != nil {
				return err
			}
			promised, err := planOf(t)
			if err != nil {
				return err
			}
			tag, err := tagBy(invite, t)
			if err != nil {
				return err
			}
			var disclosed *past.Disclosures
			var continued *past.Continuation
			if dataDir, err := base.ResolveDataDir(dir); err == nil { // without one there is nothing to report
				disclosed = past.FindDisclosures(command.Context(), dataDir, t, nil)
				continued = past.FindContinuation(command.Context(), dataDir, t)
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), struct {
					ID      string             `json:"id"`
					Tag     string             `json:"tag,omitempty"`
					Task    json.RawMessage    `json:"task"`
					Rung    strategy.Rung      `json:"rung"`
					Privacy *PrivacyReport     `json:"privacy,omitempty"` // as privacy --json prints it
					Told    *past.Disclosures  `json:"other_task_disclosure,omitempty"`
					Former  *past.Continuation `json:"continues,omitempty"`
				}{t.ID().String(), tag, t.File(), base.RegistrationOf(t).Rung(t), promised, disclosed, continued})
			}
			describe(command.OutOrStdout(), t, promised, tag, disclosed, continued)
			return nil
		},
	}
	base.AddDataDir(check, &dir)
	base.AddJSON(check, &asJSON)
	check.Flags().StringVar(&invite, "invite", "", "file with an invitation: check that it is one to this task, and show what nodes announce in place of the ID")
	id := &cobra.Command{
		Use:   "id TASK",
		Short: "Print the task's ID; nodes with the same ID work together",
		Args:  base.Exactly(1),
		RunE: func(command *cobra.Command, args []string) error {
			t, err := past.FindTask(command.Context(), dir, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), base.Object{"id": t.ID().String(), "name": t.Name})
			}
			fmt.Fprintln(command.OutOrStdout(), t.ID())
			return nil
		},
	}
	base.AddDataDir(id, &dir)
	base.AddJSON(id, &asJSON)
	command.AddCommand(check, id, newInvite())
	return command
}

// Describe prints what `task check` prints about a task that others have sent. The tag is that of the
// task's invitation, if there is one.
func Describe(ctx context.Context, out io.Writer, dir string, t *task.Task, tag string) error {
	promised, err := planOf(t)
	if err != nil {
		return err
	}
	describe(out, t, promised, tag, past.FindDisclosures(ctx, dir, t, nil), past.FindContinuation(ctx, dir, t))
	return nil
}

func describe(out io.Writer, t *task.Task, promised *PrivacyReport, tag string, disclosed *past.Disclosures, continued *past.Continuation) {
	describeTask(out, t)
	continued.Write(out)
	if tag != "" {
		fmt.Fprintf(out, "invitation  to this task; nodes that have it announce the task as %s\n", tag)
	}
	describeSharing(out, t)
	describePrivacy(out, t, promised)
	disclosed.Write(out)
}

// tagBy reads an invitation to a task and returns its tag; no file, no tag.
func tagBy(file string, t *task.Task) (string, error) {
	if file == "" {
		return "", nil
	}
	i, err := base.ReadInvite(file, t)
	if err != nil {
		return "", err
	}
	return i.Keys().Tag().String(), nil
}

func describeTask(out io.Writer, t *task.Task) {
	fmt.Fprintf(out, "task        %s\n", t.Name)
	render.WriteAbout(out, t, "%-11s %s\n")
	fmt.Fprintf(out, "id          %s\n", t.ID())
	describeGoal(out, t)
	for _, p := range t.Space.Parameters() {
		fmt.Fprintf(out, "parameter   %s%s%s\n", describeParameter(p), describeConditions(p), render.Remark(t.About.Parameters[p.Name]))
	}
	describeParameterConstraints(out, t.Space)
	if l := t.Space.Listing(); l != nil {
		fmt.Fprintf(out, "designs     %s\n", describeListing(l, t.MaxMoves))
	}
	for _, c := range t.Constraints {
		fmt.Fprintf(out, "constraint  %s%s\n", describeConstraint(c), render.Remark(t.About.Constraints[string(c.Output)]))
	}
	if !t.About.Default.IsZero() {
		fmt.Fprintf(out, "default     %s; it is evaluated first\n", t.About.Default)
	}
	switch t.Failures {
	case task.LearnFailures:
		fmt.Fprintln(out, "failures    learned: while they cluster, designs where evaluations fail are avoided")
	case task.IgnoreFailures:
		fmt.Fprintln(out, "failures    ignored")
	case task.ConstrainFailures:
		fmt.Fprintln(out, "failures    a constraint: designs where evaluations fail are avoided, and what fails is shared")
	}
	if stop := t.Stop; stop != nil {
		outside := "; not part of the ID"
		if stop.Shares() {
			outside = ""
		}
		fmt.Fprintf(out, "stop        %s%s\n", describeStopping(stop), outside)
	}
	s := t.Surrogate
	fmt.Fprintf(out, "surrogate   %s, kernel %s\n", s.Type, s.Kernel)
	if s.Fixed != nil {
		fmt.Fprintf(out, "fixed       %s\n", describeFixed(t))
	}
	fmt.Fprintf(out, "features    %d that all nodes have in common, lengthscale %g\n", s.Features, s.Lengthscale)
	fmt.Fprintf(out, "strategy    %s\n", describeStrategy(t))
}

// describeGoal writes the goal of the objective, or a line for each of several.
func describeGoal(out io.Writer, t *task.Task) {
	if !t.Several() {
		fmt.Fprintf(out, "goal        %s%s\n", t.Goal, render.Unit(t.About.Unit))
		return
	}
	for i, o := range t.Objectives {
		measured, reference := "the value", "its reference is learned"
		if i > 0 {
			measured = "the metric " + o.Name
		}
		if o.Reference != nil {
			reference = fmt.Sprintf("no worse than the reference %g", *o.Reference)
		}
		fmt.Fprintf(out, "objective   %s: %s %s, %s\n", o.Name, o.Goal, measured, reference)
	}
}

// describeFixed returns the fixed hyperparameters of a task in words.
func describeFixed(t *task.Task) string {
	f := t.Surrogate.Fixed
	lengthscales := make([]string, len(f.Lengthscales))
	for i, p := range t.Space.Parameters() {
		lengthscales[i] = fmt.Sprintf("%s %g", p.Name, f.Lengthscales[i])
	}
	return fmt.Sprintf("mean %g, signal_std %g, noise_std %g; lengthscales %s", f.Mean, f.SignalStd, f.NoiseStd, strings.Join(lengthscales, ", "))
}

func describeParameter(p task.Parameter) string {
	numbers := make([]string, len(p.Numbers))
	for i, v := range p.Numbers {
		numbers[i] = task.FloatValue(v).String()
	}
	switch {
	case p.Fixed != task.Value{}:
		return fmt.Sprintf("%s: %s, fixed at %s", p.Name, p.Kind, p.Fixed)
	case p.Kind == task.Categorical && len(numbers)+len(p.Choices) == 1:
		return fmt.Sprintf("%s: %s, fixed at %s", p.Name, p.Kind, strings.Join(append(numbers, p.Choices...), ""))
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

// describeConditions returns the conditions of a parameter as in the task file; without any, nothing.
func describeConditions(p task.Parameter) string {
	var texts []string
	for _, c := range p.When {
		texts = append(texts, c.String())
	}
	if texts == nil {
		return ""
	}
	return "; only with " + strings.Join(texts, " and ")
}

// shareDesigns is the number of random designs from which the feasible share of a space is
// estimated. The standard error is at most half a percent.
const shareDesigns = 10_000

// describeParameterConstraints prints the constraints among parameters, and the share of the space
// that satisfies all of them.
func describeParameterConstraints(out io.Writer, space *task.Space) {
	constraints := space.ParameterConstraints()
	for _, text := range constraints {
		fmt.Fprintf(out, "constraint  among parameters: %s\n", text)
	}
	if constraints == nil || space.Listing() != nil { // listed designs satisfy all
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	u, feasible := make([]float64, space.Dim()), 0
	for range shareDesigns {
		for i := range u {
			u[i] = rng.Float64()
		}
		if space.Settle(u) {
			feasible++
		}
	}
	share := fmt.Sprintf("about %.1f %%", 100*float64(feasible)/shareDesigns)
	switch {
	case feasible == 0:
		share = "less than 0.1 %"
	case feasible == shareDesigns:
		share = "all, or nearly all,"
	}
	fmt.Fprintf(out, "feasible    %s of random designs satisfy all constraints among parameters\n", share)
}

func describeListing(l *task.Listing, maxMoves int) string {
	text := sanitize.Count(l.Len(), "design")
	if l.Absent() {
		text += " of a table that is not here: shares can be kept and passed on, no design can be chosen"
	} else {
		text += " of " + sanitize.Text(l.File(), 200)
	}
	if maxMoves > 0 {
		text += fmt.Sprintf(", of which a node goes to one at most %s away", sanitize.Count(maxMoves, "move"))
	}
	return text
}

func describeStrategy(t *task.Task) string {
	return fmt.Sprintf("%d random designs, then %s (%s)", t.Strategy.InitialDesigns, base.RegistrationOf(t).Summary(t), t.Strategy.Type)
}

// describeSharing writes the rung of a task's disclosure, beside all others.
func describeSharing(out io.Writer, t *task.Task) {
	rung := base.RegistrationOf(t).Rung(t)
	var all []string
	for _, r := range strategy.Rungs() {
		all = append(all, string(r))
	}
	fmt.Fprintf(out, "sharing     %s: %s; rungs from most to least disclosed: %s (docs/sharing.md)\n", rung, rung.Content(), strings.Join(all, ", "))
}

func describeConstraint(c task.Constraint) string {
	if c.Truth {
		return fmt.Sprintf("%s: must be true; evaluations report true or false", c.Output)
	}
	return fmt.Sprintf("%s: %s; evaluations report it as a number", c.Output, c)
}

// describeStopping returns a phrase about when evaluations are stopped early.
func describeStopping(s *task.Stopping) string {
	var parts []string
	switch s.Type {
	case task.ForecastRule:
		parts = append(parts, fmt.Sprintf("evaluations with a bad predicted final value, from step %d on, after %s", s.GracePeriod, sanitize.Count(s.StartupTrials, "outcome")))
	case task.MedianRule:
		parts = append(parts, fmt.Sprintf("evaluations worse than the median, from step %d on, after %s", s.GracePeriod, sanitize.Count(s.StartupTrials, "outcome")))
	case task.ASHARule:
		parts = append(parts, fmt.Sprintf("all but the best of %d at steps %d, %d, %d and so on", s.ReductionFactor,
			s.GracePeriod, s.GracePeriod*uint64(s.ReductionFactor), s.GracePeriod*uint64(s.ReductionFactor*s.ReductionFactor)))
	}
	if s.Patience > 0 {
		parts = append(parts, fmt.Sprintf("evaluations without improvement in %d steps", s.Patience))
	}
	if s.Shares() {
		parts = append(parts, "by quartiles that peers share too")
	}
	return strings.Join(parts, ", ")
}
