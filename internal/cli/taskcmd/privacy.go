package taskcmd

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// NewPrivacy returns the command privacy.
func NewPrivacy() *cobra.Command {
	var dir string
	var asJSON bool
	var attacks attackOptions
	command := &cobra.Command{
		Use:   "privacy [TASK]",
		Short: "Show the privacy guarantee of a task, and how much of its budget is spent",
		Long: `Show the privacy guarantee of a task (a file, an ID or a name): the adversary, the spent part,
and the cost of each planned release. It works while the node runs and after it has ended.
For a task file without a run it shows the plan.

With --attack FILE it simulates federations of that task with drawn objectives, attacks the
shares of one node to find what it has measured, and shows the result beside what the best
design alone would disclose. This takes minutes.`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := attacks.check(command.Flags(), args); err != nil {
				return err
			}
			if attacks.file != "" {
				return attacks.run(command.Context(), dir, command.OutOrStdout(), command.ErrOrStderr(), asJSON)
			}
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			p, err := past.Read(command.Context(), dataDir, base.Argument(args))
			if err != nil && len(args) == 1 {
				if t, unread := base.ReadTask(args[0]); unread == nil {
					p, err = past.History{Task: t}, nil // nothing has been spent yet
				}
			}
			if err != nil {
				return err
			}
			if p.Task.Privacy == nil {
				return fmt.Errorf("task %q has no section privacy, so nothing is guaranteed about its shares", p.Task.Name)
			}
			report, err := newPrivacyReport(p)
			if err != nil {
				return err
			}
			if p.Running == nil { // otherwise only the running node knows
				report.OtherTasks = past.FindDisclosures(command.Context(), dataDir, p.Task, nil)
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), report)
			}
			return report.write(command.OutOrStdout())
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	attacks.addFlags(command.Flags())
	return command
}

// PrivacyReport is the object that privacy --json prints.
type PrivacyReport struct {
	Task      string  `json:"task"`
	Name      string  `json:"name"`
	Mechanism string  `json:"mechanism"`
	Adjacency string  `json:"adjacency"`
	Epsilon   float64 `json:"epsilon"` // budget over all releases
	Delta     float64 `json:"delta"`
	Clip      float64 `json:"clip"`
	Noise     float64 `json:"noise"` // standard deviation of the noise that this node adds to each number
	Features  int     `json:"features"`
	Dimension int     `json:"dimension"` // length of a released vector
	Place     bool    `json:"-"`         // a release is a design
	ledger.State
	Spent      float64           `json:"epsilon_spent"`
	Costs      []float64         `json:"epsilon_after"`       // after each planned release
	Sums       *sumReport        `json:"aggregate,omitempty"` // of that mechanism
	OtherTasks *past.Disclosures `json:"other_task_disclosure,omitempty"`
}

func newPrivacyReport(p past.History) (PrivacyReport, error) {
	terms, err := ledger.NewTerms(p.Task)
	if err != nil {
		return PrivacyReport{}, err
	}
	r := PrivacyReport{
		Task: p.Task.ID().String(), Name: p.Task.Name,
		Mechanism: terms.Mechanism, Adjacency: terms.Adjacency, Epsilon: terms.Epsilon, Delta: terms.Delta,
		Clip: terms.Clip, Noise: terms.Sigma, Features: p.Task.Surrogate.Features, Dimension: terms.Numbers(),
		State: ledger.State{Planned: terms.Releases},
	}
	if release, ok := p.Task.Release(); ok {
		r.Place = release.Place
	}
	if terms.Aggregate != nil {
		if r.Sums, err = newSumReport(p.Task, terms); err != nil {
			return PrivacyReport{}, err
		}
	}
	if spent, ok := strategy.StatusValue[ledger.State](p.Items, strategy.PrivacyKey); ok {
		r.State = spent
	}
	if r.Spent, err = terms.Spent(r.Released); err != nil {
		return PrivacyReport{}, err
	}
	for release := 1; release <= r.Planned; release++ {
		cost, err := terms.Spent(release)
		if err != nil {
			return PrivacyReport{}, err
		}
		r.Costs = append(r.Costs, cost)
	}
	return r, nil
}

func (r PrivacyReport) write(out io.Writer) error {
	fmt.Fprintf(out, "task %q (%s), mechanism %s\n%s\n", r.Name, r.Task, r.Mechanism, r.text())
	switch {
	case r.Refused != "":
		fmt.Fprintf(out, "spent: %s at least, ε = %.3g; there will be no more: %s\n", sanitize.Count(r.Released, "release"), r.Spent, r.Refused)
	case r.Released == r.Planned:
		fmt.Fprintf(out, "spent: all %s, ε = %.3g; the node goes on without sharing\n", sanitize.Count(r.Released, "release"), r.Spent)
	default:
		fmt.Fprintf(out, "spent: %d of %s, ε = %.3g\n", r.Released, sanitize.Count(r.Planned, "release"), r.Spent)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nrelease\tε after it")
	for i, cost := range r.Costs {
		state := ""
		if i < r.Released {
			state = "\tspent"
		}
		fmt.Fprintf(table, "%d\t%.3g%s\n", i+1, cost, state)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if r.OtherTasks != nil {
		fmt.Fprintln(out)
		r.OtherTasks.Write(out)
	}
	return nil
}

// text describes the privacy budget and its cost.
func (r PrivacyReport) text() string {
	if r.Sums != nil {
		return strings.Join([]string{r.guaranteeOfSums(), r.Sums.text(), r.noiseOfSums()}, "\n")
	}
	return fmt.Sprintf("guarantee: (ε = %g, δ = %g)-differential privacy of each node's observations as a whole, over %s, against all that receive\n"+
		"its shares, other nodes included. By that much they can distinguish the observations from %s\n%s",
		r.Epsilon, r.Delta, sanitize.Count(r.Planned, "release"), r.neighbour(), r.noiseOfShares())
}

// neighbour returns the contribution from which a contribution cannot be distinguished.
func (r PrivacyReport) neighbour() string {
	if r.Adjacency == "zero-out" {
		return "no observations"
	}
	return "those of any other node"
}

func (r PrivacyReport) noiseOfShares() string {
	if r.Place {
		return r.noiseOfDesigns()
	}
	text := fmt.Sprintf("noise: deviation %.3g on each of %d weights, which are clipped to norm %.4g before", r.Noise, r.Features, r.Clip)
	ratio := r.Noise * math.Sqrt(float64(r.Features)) / r.Clip
	text += fmt.Sprintf("; a share holds at most %.2g times as much signal as noise", 1/ratio)
	if ratio > 1 {
		text += fmt.Sprintf("\nwarning: the noise exceeds the signal. Peers will mostly follow noise: allow a larger ε, plan fewer releases or\n"+
			"fewer features, or do without peers (strategy ts). Only the average of about %.0f nodes' shares would hold as much signal\n"+
			"as noise: mechanism aggregate (strategy fts-de) takes averages, hides the single shares, and divides the noise among the nodes.",
			math.Ceil(ratio*ratio))
	}
	return text
}

// evenly is the standard deviation of a uniform number in the unit interval.
const evenly = 0.2886751345948129 // 1/√12

// noiseOfDesigns is noiseOfShares for releases of designs.
func (r PrivacyReport) noiseOfDesigns() string {
	text := fmt.Sprintf("noise: deviation %.3g of every parameter's range on the design of a share, which is within norm %.4g of the middle before\n"+
		"and is put back into the ranges after; one observation may move a design from one corner to the opposite one, so that the\n"+
		"noise for a single observation is no smaller than for all of them", r.Noise, r.Clip)
	if r.Noise > evenly {
		text += fmt.Sprintf("\nwarning: the noise exceeds the signal: a random design deviates by %.2g. Peers will mostly receive noise: allow a\n"+
			"larger ε, plan fewer releases, or do without peers (strategy alone). The average of about %.0f nodes' shares would be as exact\n"+
			"as a tenth of the range.", evenly, math.Ceil(r.Noise*r.Noise/0.01))
	}
	return text
}

// unprotected describes the data that no privacy budget covers.
func (r PrivacyReport) unprotected() string {
	if r.Sums != nil {
		return fmt.Sprintf("that a node takes part, to which sums it contributes and when, the task itself, and what the nodes have\n"+
			"in common, which sums are meant to disclose; nothing is protected if more than %s collude", sanitize.Count(r.Sums.MaxColluding, "node"))
	}
	return "that a node takes part, when it evaluates and shares, how many shares it sends, and the task itself"
}

// describePrivacy writes the text of task check about a privacy budget; nil is none.
func describePrivacy(out io.Writer, t *task.Task, r *PrivacyReport) {
	reveals := base.RegistrationOf(t).Disclosure(t).Reveals
	switch {
	case r == nil && reveals == nil:
		fmt.Fprintln(out, "privacy     nothing is shared")
		return
	case r == nil:
		fmt.Fprintf(out, "privacy     nothing is guaranteed. %s\n", reveals(t))
		return
	}
	fmt.Fprintf(out, "privacy     %s mechanism\n%s\nnot protected: %s\n", r.Mechanism, r.text(), r.unprotected())
}

// planOf returns the report of a task without any run; nil if it has no privacy budget.
func planOf(t *task.Task) (*PrivacyReport, error) {
	if t.Privacy == nil {
		return nil, nil
	}
	r, err := newPrivacyReport(past.History{Task: t})
	return &r, err
}
