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
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// tellCommand is the name of the command tell.
const tellCommand = "tell"

// tellOptions are the flags of tell.
type tellOptions struct {
	dir    string
	client string
	failed string
	json   bool
	kept   kept
}

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

When the command ends with exit code 0, the result is on the disk of the node. The same command again
changes nothing, and is no error. A different result of the same trial is an error.`,
		Example: `  fbo-node tell 12 0.93
  fbo-node tell task.yaml 12 0.93 latency_ms=41
  fbo-node tell 12 0.93 --attribute operator=Ada --file scans/12.tif
  fbo-node tell 13 --failed "the sample broke"`,
		RunE: func(command *cobra.Command, args []string) error {
			r, err := o.parse(args, command.Flags().Changed("failed"))
			if err != nil {
				return base.Usagef("%s: %w: %s", tellCommand, err, command.UseLine())
			}
			return o.run(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), r)
		},
	}
	base.AddDataDir(command, &o.dir)
	addClient(command, &o.client)
	command.Flags().StringVar(&o.failed, "failed", "", "the evaluation gave no value, for this `REASON`")
	o.kept.add(command)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
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
	for _, arg := range args {
		if _, err := strconv.ParseFloat(arg, 64); err == nil && strings.HasPrefix(arg, "-") {
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
	failed  string            // why there is no value; empty: there is one
	outputs map[string]string // by name
	kept    strategy.Annotations
}

// parse reads the arguments; failed reports whether the flag is given.
func (o tellOptions) parse(args []string, failed bool) (r report, err error) {
	if r.kept, err = o.kept.annotations(); err != nil {
		return r, err
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
	needed := 2
	if failed {
		needed = 1
	}
	switch {
	case failed && len(r.outputs) > 0:
		return r, errors.New("--failed excludes NAME=VALUE: a failed trial has no measurements")
	case failed && len(plain) > needed+1:
		return r, errors.New("--failed excludes VALUE: expected a TRIAL, after it no value")
	case failed && strings.TrimSpace(o.failed) == "":
		return r, errors.New("--failed: the reason is empty; expected a text")
	case len(plain) < needed && failed:
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
	if failed {
		r.failed = o.failed
		return r, nil
	}
	if r.value, err = number(plain[1]); err != nil {
		return r, fmt.Errorf("value %w", err)
	}
	return r, nil
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
	return o, errors.Join(t.CheckReadings(o.Constraints), agent.CheckMetrics(o.Metrics))
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
	if h.Best != nil {
		fmt.Fprintf(&b, "best %s: trial %d, %s  [%s]\n", render.Value(*h.Best), h.Best.ID, h.Best.Design, h.Best.Why)
	} else if text := render.NothingFeasible(p.task, h.Trials); text != "" {
		fmt.Fprintln(&b, text)
	}
	_, err = out.Write(b.Bytes())
	return err
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
	path, body := fmt.Sprintf("/trials/%d/fail", r.trial), base.Object{"client": p.client, "reason": r.failed}
	if r.failed == "" {
		outcome, err := r.outcome(p.task)
		if err != nil {
			return trial{}, base.Usagef("trial %d: %w", r.trial, err)
		}
		path, body = fmt.Sprintf("/trials/%d/tell", r.trial), base.Object{"value": outcome.Value, "metrics": outcome.Metrics}
		if len(outcome.Constraints) > 0 {
			body["constraints"] = outcome.Constraints
		}
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
	line := fmt.Sprintf("trial %d is stored: %s", t.ID, render.ExactValue(t))
	if violations := render.Violations(p.task, t.Outcome); violations != "" {
		line += ", infeasible: " + violations
	}
	if metrics := render.Metrics(t.Outcome, strategy.MaxMetrics); metrics != "" {
		line += ", " + metrics
	}
	return line + keeps(t)
}

// keeps returns the end of a line about a trial with annotations.
func keeps(t strategy.Trial) string {
	if text := render.Annotations(t.Annotations); text != "" {
		return "; it keeps " + text
	}
	return ""
}
