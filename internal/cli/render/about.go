package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// WriteAbout writes the description and the tags of a task, each with a label in the format.
func WriteAbout(out io.Writer, t *task.Task, format string) {
	label := "about"
	for line := range strings.Lines(strings.TrimSpace(t.About.Description)) {
		fmt.Fprintf(out, format, label, strings.TrimRight(sanitize.Lines(line), "\n"))
		label = ""
	}
	if len(t.About.Tags) > 0 {
		fmt.Fprintf(out, format, "tags", strings.Join(t.About.Tags, ", "))
	}
}

// Unit returns the end of a line about something with a unit.
func Unit(unit string) string {
	if unit == "" {
		return ""
	}
	return ", in " + unit
}

// Remark returns the end of a line about a parameter or a constraint.
func Remark(r task.Remark) string {
	text := Unit(r.Unit)
	if about := strings.Join(strings.Fields(r.Description), " "); about != "" {
		text += " (" + about + ")"
	}
	return text
}
