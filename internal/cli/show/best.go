package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// NewBest returns the command best.
func NewBest() *cobra.Command {
	var dir, format string
	var asJSON bool
	var one uint64
	command := &cobra.Command{
		Use:   "best [TASK]",
		Short: "Print the best design so far of a task (a file, an ID or a name), while the node runs or after",
		Long: `Print the design with the best observed value of this node's feasible trials, imported
ones included. Where the noise of outcomes is larger than the differences between designs, the first line
names the recommended design, as in the summary of run, and flags and env print that one. So it does with
strategy average-objective, whose design is one for all agents; then a node must run on the task.

With several objectives it prints the Pareto front; --trial chooses the design that flags and env print.

--format flags prints --name value for each parameter, for a command line; env
prints NAME=value, with the names that run gives to its command. Both are quoted for
a POSIX shell, which reads that quoting with eval. Without a feasible outcome the exit code is 1.`,
		Example: `  fbo-node best task.yaml
  eval "python train.py $(fbo-node best task.yaml --format flags)"`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			write := map[string]func(io.Writer, *task.Task, bestDesign) error{
				"text": writeBest, "json": writeBestJSON, "flags": writeBestFlags, "env": writeBestEnv,
			}[format]
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			p, err := past.Read(command.Context(), dataDir, base.Argument(args))
			if err != nil {
				return err
			}
			if p.Best == nil {
				if text := render.NothingFeasible(p.Task, p.Trials); text != "" {
					return fmt.Errorf("task %q has no best design: %s", p.Task.Name, text)
				}
				return fmt.Errorf("task %q has no best design yet: of %s none has an outcome", p.Task.Name, sanitize.Count(len(p.Trials), "trial"))
			}
			if chosen := command.Flags().Changed("trial"); chosen || p.Task.Several() {
				return writeFront(command.OutOrStdout(), p, format, chosen, one)
			}
			found := bestDesign{Trial: *p.Best}
			if found.Recommended, err = recommended(command.Context(), p, command.ErrOrStderr()); err != nil {
				return err
			}
			return write(command.OutOrStdout(), p.Task, found)
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().Uint64Var(&one, "trial", 0, "print the design of the trial with this `NUMBER` of the Pareto front")
	base.AddChoice(command.Flags(), &format, "format", "text", render.DesignFormats(), "")
	command.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return command
}

// writeFront prints the Pareto front, or one of its designs if a trial is chosen.
func writeFront(out io.Writer, p past.History, format string, chosen bool, number uint64) error {
	front := render.FrontOf(p.Task, p.Trials)
	if !p.Task.Several() {
		return base.Usagef("--trial is for tasks with several objectives; expected `fbo-node history --trial %d` for one trial", number)
	}
	if chosen {
		at := slices.IndexFunc(front, func(t *strategy.Trial) bool { return t.ID == number })
		if at < 0 {
			return base.Usagef("--trial %d: expected a trial of the Pareto front, which `fbo-node best` lists", number)
		}
		one := bestDesign{Trial: *front[at]}
		switch format {
		case "json":
			return writeBestJSON(out, p.Task, one)
		case "flags":
			return writeBestFlags(out, p.Task, one)
		case "env":
			return writeBestEnv(out, p.Task, one)
		}
		_, err := fmt.Fprintf(out, "%s (trial %d, %s)\n%s", render.Scores(p.Task, one.Outcome), one.ID, one.Why, render.DesignLines(p.Task.Space, one.Design))
		return err
	}
	switch format {
	case "json":
		return base.PrintJSON(out, front)
	case "text":
		_, err := fmt.Fprintln(out, render.Front(p.Task, p.Trials, 0))
		return err
	}
	return base.Usagef("--format %s prints one design, and the Pareto front has %s: choose with --trial", format, sanitize.Count(len(front), "design"))
}

// recommended returns the preferred design; errors of the node or its model cause only a warning. If a
// design for all agents is not known, no design of this node can take its place.
func recommended(ctx context.Context, p past.History, warnings io.Writer) (*agent.Recommendation, error) {
	r, err := p.Preferred(ctx)
	if errors.Is(err, agent.ErrNeedsPeers) {
		return nil, fmt.Errorf("task %q has no recommended design here: %w; `fbo-node history` prints the trials of this node", p.Task.Name, err)
	}
	if err != nil && ctx.Err() == nil {
		_, err = fmt.Fprintf(warnings, "fbo-node: the recommended design is not known, this is the best observed one: %s\n", sanitize.Text(err.Error(), render.MaxReason))
	}
	return r, err
}

// bestDesign holds the best observed trial and, if outcomes are noisy, the recommended design.
type bestDesign struct {
	strategy.Trial
	Recommended *agent.Recommendation `json:"recommended,omitempty"`
}

// design returns the design to use.
func (b bestDesign) design() task.Design {
	if b.Recommended != nil {
		return b.Recommended.Design
	}
	return b.Design
}

// writeBest prints a line for each parameter of the best trial; values are exact.
func writeBest(out io.Writer, t *task.Task, best bestDesign) error {
	var b strings.Builder
	if best.Recommended != nil {
		fmt.Fprintln(&b, render.Recommended(*best.Recommended))
	}
	fmt.Fprintf(&b, "value  %s (trial %d, %s)\n", render.ExactValue(best.Trial), best.ID, best.Why)
	b.WriteString(render.DesignLines(t.Space, best.Design))
	_, err := io.WriteString(out, b.String())
	return err
}

// writeBestJSON prints the trial as history does.
func writeBestJSON(out io.Writer, _ *task.Task, best bestDesign) error {
	return base.PrintJSON(out, best)
}

func writeBestFlags(out io.Writer, t *task.Task, best bestDesign) error {
	_, err := io.WriteString(out, render.DesignFlags(t.Space, best.design()))
	return err
}

func writeBestEnv(out io.Writer, t *task.Task, best bestDesign) error {
	_, err := io.WriteString(out, render.DesignVariables(t.Space, best.design()))
	return err
}
