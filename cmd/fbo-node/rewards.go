package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// rewardLines returns a table with the reward of each party, and below it the estimated reward of
// this node alone, where there is an estimate. It returns nothing without rewards.
func rewardLines(rewards []strategy.Reward, self peer.ID) []string {
	if len(rewards) == 0 {
		return nil
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "rewards\tevaluations\tbest\tsum\tbetter than average by")
	alone := ""
	for _, g := range rewards {
		name := "…" + strategy.ShortID(g.Party)
		if g.Party == self {
			name += " (this node)"
			alone = aloneText(g.Alone)
		}
		best := "-"
		if g.Evaluations > 0 {
			best = render.Number(g.Best)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%+.6g\n", name, g.Evaluations, best, render.Number(g.Sum), g.RelativeToMean)
	}
	_ = table.Flush() // to a builder, which takes all
	return strings.Split(strings.TrimSuffix(text.String()+alone, "\n"), "\n")
}

// aloneText says what the node would have got by itself.
func aloneText(e *strategy.Estimate) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("alone this node would have got a sum of about %s, best %s, in its first %s (an estimate from the model); its sum of as many is %s\n",
		render.Number(e.Sum), render.Number(e.Best), sanitize.Count(e.Evaluations, "evaluation"), render.Number(e.ActualSum))
}
