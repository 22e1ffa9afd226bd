package render

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// maxItem is the maximum length of a text or a cell of a status item, in characters.
const maxItem = 500

// WriteItems prints the status items: label and text, and below them the table.
func WriteItems(out io.Writer, items []strategy.StatusItem) {
	for _, item := range items {
		if item.Text != "" {
			fmt.Fprintf(out, "%-9s %s\n", sanitize.Text(item.Label, maxItem), sanitize.Text(item.Text, maxItem))
		}
		for _, line := range tableLines(item) {
			fmt.Fprintln(out, line)
		}
	}
}

// ItemLines returns the status items as lines of a summary.
func ItemLines(items []strategy.StatusItem) (lines []string) {
	for _, item := range items {
		if item.Text != "" {
			lines = append(lines, sanitize.Text(item.Label, maxItem)+": "+sanitize.Text(item.Text, maxItem))
		}
		lines = append(lines, tableLines(item)...)
	}
	return lines
}

// tableLines returns the aligned rows of an item. The label replaces the name of the first column.
func tableLines(item strategy.StatusItem) []string {
	if len(item.Rows) == 0 {
		return nil
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i, row := range item.Rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = sanitize.Text(cell, maxItem)
		}
		if i == 0 && len(cells) > 0 {
			cells[0] = sanitize.Text(item.Label, maxItem)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // to a builder, which accepts all
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}
