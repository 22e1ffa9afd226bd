package trialcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// tellCommand is the name of the command tell.
const tellCommand = "tell"

// tellOptions are the flags of tell.
type tellOptions struct {
	dir     string
	client  string
	failed  string
	step    string
	stopped bool
	reason  string
	cost    string
	json    bool
	kept    kept
}

// Flags of tell that exclude each other, the reason of a stop, and the cost.
const (
	failedFlag  = "failed"
	stepFlag    = "step"
	stoppedFlag = "stopped"
	reasonFlag  = "reason"
	costFlag    = "cost"
)

// NewTell returns the command tell.
func NewTell() *cobra.Command {
	var o tellOptions
	command := &cobra.Command{
		Use:   tellCommand + " [TASK] TRIAL VALUE [NAME=VALUE…]",
		Short: "Report the result of a trial of ask to the running node",
		Long: `Report the result of a trial of fbo-node ask to the node that runs on the data directory.

TRIAL is the number that ask prints, VALUE the measured value of the objective. NAME=VALUE reports
further measurements: the constraints of the task, all of which are needed, each a number or true or
false, and other numbers, which no strategy uses. With --failed there is no VALUE. The trial keeps
the texts of --attribute, the tags and the files for you; peers never receive them.

With --step, VALUE is the one after a step of an evaluation that goes on, such as an epoch. The command
prints whether to continue, or to stop by the rule of the task and why. It renews the lease of the
trial. --stopped, without VALUE, ends the trial as stopped early, for a --reason if you have decided
it; it needs a value by step before. Both are for the client that holds the trial.

--cost reports what the evaluation has cost so far, in a unit of yours, such as seconds or euros. The
largest reported cost of a trial counts. A measurement cost=NUMBER is another number.

When the command ends with exit code 0, the result is on the disk of the node. The same command again
changes nothing, and is no error. A different result of the same trial is an error.`,
		Example: `  fbo-node tell 12 0.93
  fbo-node tell task.yaml 12 0.93 latency_ms=41
  fbo-node tell 12 0.93 --attribute operator=Ada --file scans/12.tif
  fbo-node tell 12 0.93 --cost 3.5
  fbo-node tell 13 --failed "the sample broke"
  fbo-node tell 14 0.41 --step 3
  fbo-node tell 14 --stopped --reason "no progress"`,
		RunE: func(command *cobra.Command, args []string) error {
			r, err := o.parse(args, command.Flags().Changed)
			if err != nil {
				return base.Usagef("%s: %w: %s", tellCommand, err, command.UseLine())
			}
			return o.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), r)
		},
	}
	base.AddDataDir(command, &o.dir)
	addClient(command, &o.client)
	flags := command.Flags()
	flags.StringVar(&o.failed, failedFlag, "", "the evaluation gave no value, for this `REASON`")
	flags.StringVar(&o.step, stepFlag, "", "VALUE is that after step `N`, from 1, and the evaluation goes on")
	flags.BoolVar(&o.stopped, stoppedFlag, false, "the evaluation was stopped early, after at least one --step")
	flags.StringVar(&o.reason, reasonFlag, "", "with --stopped: `TEXT` about why, if the task's rule has not decided it")
	flags.StringVar(&o.cost, costFlag, "", "what the evaluation has cost so far, `NUMBER` in a unit of yours")
	o.kept.add(command)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

// SplitNegative moves the negative numbers among the arguments of tell behind "--", without which
// the library takes them for flags. It returns the arguments of other commands unchanged.
func SplitNegative(args []string) []string {
	at := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if at < 0 || args[at] != tellCommand || slices.Contains(args, "--") {
		return args
	}
	var others, negative []string
	for i, arg := range args {
		ofFlag := i > 0 && (args[i-1] == "--"+stepFlag || args[i-1] == "--"+costFlag)
		if _, err := strconv.ParseFloat(arg, 64); err == nil && strings.HasPrefix(arg, "-") && !ofFlag {
			negative = append(negative, arg)
		} else {
			others = append(others, arg)
		}
	}
	if len(negative) == 0 {
		return args
	}
	return append(append(others, "--"), negative...)
}

// report is a result as the arguments contain it.
type report struct {
	task    string // empty: the only one
	trial   uint64
	value   float64
	step    uint64            // of a value by step; 0: the value is the outcome
	failed  string            // why there is no value; empty: there is one
	stopped bool              // the evaluation was stopped early; there is no value
	reason  string            // of the stop; may be empty
	cost    *float64          // nil: unknown
	outputs map[string]string // by name
	kept    strategy.Annotations
}

// parse reads the arguments; given reports whether a flag is given.
func (o tellOptions) parse(args []string, given func(flag string) bool) (r report, err error) {
	if r.kept, err = o.kept.annotations(); err != nil {
		return r, err
	}
	if given(costFlag) {
		if r.cost, err = readCost(o.cost); err != nil {
			return r, err
		}
	}
	plain := []string{}
	r.outputs = map[string]string{}
	for _, arg := range args {
		name, value, named := strings.Cut(arg, "=")
		if !named {
			plain = append(plain, arg)
			continue
		}
		if _, twice := r.outputs[name]; twice {
			return r, fmt.Errorf("%.100q is given twice", name)
		}
		r.outputs[name] = value
	}
	if err := o.check(r, given); err != nil {
		return r, err
	}
	r.failed, r.stopped, r.reason = o.failed, o.stopped, o.reason
	needed := 2
	without := ""
	switch {
	case given(failedFlag):
		needed, without = 1, "--"+failedFlag
	case o.stopped:
		needed, without = 1, "--"+stoppedFlag
	}
	switch {
	case without != "" && len(plain) > needed+1:
		return r, fmt.Errorf("%s excludes VALUE: expected a TRIAL, after it no value", without)
	case len(plain) < needed && without != "":
		return r, errors.New("the number of the trial is missing")
	case len(plain) < needed:
		return r, errors.New("the number of the trial or its value is missing")
	case len(plain) > needed+1:
		return r, fmt.Errorf("expected a TRIAL and a VALUE%s", base.Surplus(plain[needed+1:]))
	case len(plain) == needed+1:
		r.task, plain = plain[0], plain[1:]
	}
	if r.trial, err = strconv.ParseUint(plain[0], 10, 53); err != nil || r.trial == 0 {
		return r, fmt.Errorf("trial %.100q: expected a whole number from 1, as ask prints it", plain[0])
	}
	if without != "" {
		return r, nil
	}
	if given(stepFlag) {
		if r.step, err = strconv.ParseUint(o.step, 10, 64); err != nil || r.step == 0 || r.step > curves.MaxStep {
			return r, fmt.Errorf("--%s %.100q: expected a whole number from 1 to %d, such as an epoch", stepFlag, o.step, curves.MaxStep)
		}
	}
	if r.value, err = number(plain[1]); err != nil {
		return r, fmt.Errorf("value %w", err)
	}
	return r, nil
}

// check returns an error if the flags exclude each other, or the measurements of the report.
func (o tellOptions) check(r report, given func(flag string) bool) error {
	var kinds []string
	for _, flag := range []string{failedFlag, stepFlag, stoppedFlag} {
		if given(flag) && (o.stopped || flag != stoppedFlag) {
			kinds = append(kinds, "--"+flag)
		}
	}
	switch {
	case len(kinds) > 1:
		return fmt.Errorf("%s: expected at most one of these flags", sanitize.List(kinds))
	case given(reasonFlag) && !o.stopped:
		return fmt.Errorf("--%s: expected with --%s; the reason of a failure is --%s REASON", reasonFlag, stoppedFlag, failedFlag)
	case given(failedFlag) && len(r.outputs) > 0:
		return errors.New("--failed excludes NAME=VALUE: a failed trial has no measurements")
	case given(failedFlag) && strings.TrimSpace(o.failed) == "":
		return errors.New("--failed: the reason is empty; expected a text")
	case o.stopped && len(r.outputs) > 0:
		return errors.New("--stopped excludes NAME=VALUE: a stopped trial has no outcome")
	case given(stepFlag) && len(r.outputs) > 0:
		return errors.New("--step excludes NAME=VALUE: a step has one value, that of the objective")
	case given(stepFlag) && slices.ContainsFunc([]string{attributeFlag, tagFlag, fileFlag}, given):
		return errors.New("--step excludes --attribute, --tag and --file: expected with the result, or in `fbo-node note`")
	}
	return nil
}

func readCost(text string) (*float64, error) {
	cost, err := strconv.ParseFloat(text, 64)
	if err != nil || strategy.CheckCost(&cost) != nil {
		return nil, fmt.Errorf("--%s %.100q: expected a finite number of 0 or more, such as 3.5", costFlag, text)
	}
	return &cost, nil
}

// number reads a finite number.
func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.100q: expected a finite number such as 0.93 or -1.5e-3", text)
	}
	return v, nil
}

// outcome returns the measurements in the form of the task. Names that are no constraint are
// metrics.
func (r report) outcome(t *task.Task) (o strategy.Outcome, err error) {
	o = strategy.Outcome{Value: r.value, Constraints: map[string]task.Reading{}, Metrics: map[string]float64{}}
	for _, name := range slices.Sorted(maps.Keys(r.outputs)) {
		text := r.outputs[name]
		isConstraint := slices.ContainsFunc(t.Constraints, func(c task.Constraint) bool { return string(c.Output) == name })
		if isConstraint && (text == "true" || text == "false") {
			o.Constraints[name] = task.Truth(text == "true")
			continue
		}
		value, err := number(text)
		if err != nil && !isConstraint {
			err = fmt.Errorf("%w; a text is kept by --attribute %s", err, base.ShellQuote(name+"="+text))
		}
		if err != nil {
			return o, fmt.Errorf("%.100q: %w", name, err)
		}
		if isConstraint {
			o.Constraints[name] = task.Number(value)
		} else {
			o.Metrics[name] = value
		}
	}
	return o, errors.Join(t.CheckReadings(o.Constraints), t.CheckObjectives(o.Metrics), agent.CheckMetrics(o.Metrics))
}

func (o tellOptions) run(ctx context.Context, out, notes io.Writer, r report) error {
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	p, err := find(ctx, dir, o.client, r.task, nil)
	if err != nil {
		return fmt.Errorf("%w; the result is not stored", err)
	}
	if r.step > 0 {
		return o.report(ctx, p, r, out, notes)
	}
	stored, err := p.tell(ctx, r)
	if err != nil {
		return unstored(err)
	}
	h, err := past.Read(ctx, dir, p.id)
	if err != nil { // the result is stored all the same
		fmt.Fprintf(notes, "fbo-node: the best design is not known: %s\n", sanitize.Text(err.Error(), render.MaxReason))
		h = past.History{Task: p.task}
	}
	if o.json {
		return base.PrintJSON(out, base.Object{"trial": stored.encoded, "best": h.Best, "least_violation": render.LeastViolation(p.task, h.Trials)})
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, p.acknowledge(stored.Trial))
	if front := render.FrontOf(p.task, h.Trials); len(front) > 0 {
		place := "dominated"
		if slices.ContainsFunc(front, func(t *strategy.Trial) bool { return t.ID == stored.ID }) {
			place = "on the front"
		}
		fmt.Fprintf(&b, "%s; Pareto front: %s\n", place, sanitize.Count(len(front), "design"))
	} else if h.Best != nil {
		fmt.Fprintf(&b, "best %s: trial %d, %s  [%s]\n", render.Value(*h.Best), h.Best.ID, h.Best.Design, h.Best.Why)
	} else if text := render.NothingFeasible(p.task, h.Trials); text != "" {
		fmt.Fprintln(&b, text)
	}
	_, err = out.Write(b.Bytes())
	return err
}

// report sends a value by step, and prints the decision of the task's rule.
func (o tellOptions) report(ctx context.Context, p place, r report, out, notes io.Writer) error {
	var answer struct {
		Stop *curves.Stop `json:"stop"`
	}
	body := base.Object{"client": p.client, "steps": curves.Curve{{Step: r.step, Value: r.value, Cost: r.cost}}}
	if err := p.post(ctx, fmt.Sprintf("/trials/%d/steps", r.trial), body, &answer); err != nil {
		return unstored(p.explain(ctx, r, err))
	}
	if o.json {
		return base.PrintJSON(out, answer)
	}
	line := fmt.Sprintf("trial %d, step %d: ", r.trial, r.step)
	if answer.Stop == nil {
		_, err := fmt.Fprintln(out, line+"continue")
		return err
	}
	line += "stop by rule " + sanitize.Text(answer.Stop.Rule, render.MaxReason)
	if answer.Stop.Reason != "" {
		line += ": " + sanitize.Text(answer.Stop.Reason, render.MaxReason)
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	words := []string{"--" + stoppedFlag}
	if p.client != defaultClient {
		words = append(words, "--client", base.ShellQuote(p.client))
	}
	fmt.Fprintf(notes, "end the trial: %s\n", p.tellLine(o.dir, r.trial, words...))
	return nil
}

// unstored adds to an error of tell what has become of the result.
func unstored(err error) error {
	var refused *control.RefusedError
	if usage := (base.UsageError{}); errors.As(err, &usage) || errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
		return fmt.Errorf("%w; nothing has changed", err)
	}
	return fmt.Errorf("%w; the result is not confirmed: the same command again stores it once", err)
}

// tell sends the result, and returns the trial as the node has stored it.
func (p place) tell(ctx context.Context, r report) (trial, error) {
	var path string
	var body base.Object
	switch {
	case r.stopped:
		path, body = fmt.Sprintf("/trials/%d/stopped", r.trial), base.Object{"client": p.client, "reason": r.reason}
	case r.failed != "":
		path, body = fmt.Sprintf("/trials/%d/fail", r.trial), base.Object{"client": p.client, "reason": r.failed}
	default:
		outcome, err := r.outcome(p.task)
		if err != nil {
			return trial{}, base.Usagef("trial %d: %w", r.trial, err)
		}
		path, body = fmt.Sprintf("/trials/%d/tell", r.trial), base.Object{"value": outcome.Value, "metrics": outcome.Metrics}
		if len(outcome.Constraints) > 0 {
			body["constraints"] = outcome.Constraints
		}
	}
	if r.cost != nil {
		body["cost"] = *r.cost
	}
	put(body, r.kept)
	var encoded json.RawMessage
	if err := p.post(ctx, path, body, &encoded); err != nil {
		return trial{}, p.explain(ctx, r, err)
	}
	trials, err := p.decode([]json.RawMessage{encoded})
	if err != nil {
		return trial{}, err
	}
	return trials[0], nil
}

// explain adds the state of the trial to the error of a result that conflicts with it.
func (p place) explain(ctx context.Context, r report, err error) error {
	var refused *control.RefusedError
	if !errors.As(err, &refused) || refused.Status != http.StatusConflict {
		return err
	}
	var encoded json.RawMessage
	if p.get(ctx, fmt.Sprintf("/trials/%d", r.trial), &encoded) != nil {
		return err
	}
	trials, undecoded := p.decode([]json.RawMessage{encoded})
	if undecoded != nil {
		return err
	}
	switch now := trials[0]; {
	case now.State == strategy.Done:
		return fmt.Errorf("%w with the value %s", err, render.ExactValue(now.Trial))
	case now.State == strategy.Failed:
		return fmt.Errorf("%w: %s", err, render.Reason(now.Trial))
	case now.State == strategy.StoppedEarly && len(now.Steps) > 0 && now.Stop != nil:
		return fmt.Errorf("%w: stopped %s", err, render.StoppedAt(now.Trial))
	case now.Client != "" && now.Client != p.client:
		return fmt.Errorf("%w; client %q holds it, and --client %s reports for that one", err, now.Client, base.ShellQuote(now.Client))
	}
	return err
}

// acknowledge returns the line about a stored result.
func (p place) acknowledge(t strategy.Trial) string {
	if t.State == strategy.Failed {
		return fmt.Sprintf("trial %d is stored as failed: %s", t.ID, render.Reason(t)) + keeps(t)
	}
	if t.State == strategy.StoppedEarly && len(t.Steps) > 0 && t.Stop != nil {
		return fmt.Sprintf("trial %d is stored as stopped %s", t.ID, render.StoppedAt(t)) + keeps(t)
	}
	line := fmt.Sprintf("trial %d is stored: %s", t.ID, render.ExactValue(t))
	if violations := render.Violations(p.task, t.Outcome); violations != "" {
		line += ", infeasible: " + violations
	}
	if metrics := render.Metrics(t.Outcome, strategy.MaxMetrics); metrics != "" {
		line += ", " + metrics
	}
	return line + keeps(t)
}

// keeps returns the end of a line about a trial with a cost or annotations.
func keeps(t strategy.Trial) (end string) {
	if t.Cost != nil {
		end = "; cost " + render.Number(*t.Cost)
	}
	if text := render.Annotations(t.Annotations); text != "" {
		end += "; it keeps " + text
	}
	return end
}
