package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// maxCell is the maximum number of characters of a text in a table.
const maxCell = 40

// Annotations writes the annotations of a trial for a cell: attributes, tags after #, and the numbers
// of files and notes. It is empty if there are none.
func Annotations(of strategy.Annotations) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of.Attributes)) {
		parts = append(parts, name+"="+sanitize.Text(of.Attributes[name], maxCell))
	}
	for _, tag := range of.Tags {
		parts = append(parts, "#"+tag)
	}
	if n := len(of.Files); n > 0 {
		parts = append(parts, sanitize.Count(n, "file"))
	}
	if n := len(of.Notes); n > 0 {
		parts = append(parts, sanitize.Count(n, "note"))
	}
	return strings.Join(parts, " ")
}

// WriteAnnotations writes the annotations of a trial in full, one on a line; notes keep their lines.
func WriteAnnotations(out io.Writer, of strategy.Annotations) {
	for _, name := range slices.Sorted(maps.Keys(of.Attributes)) {
		fmt.Fprintf(out, "attribute  %s: %s\n", name, indented(of.Attributes[name]))
	}
	if len(of.Tags) > 0 {
		fmt.Fprintf(out, "tags       %s\n", strings.Join(of.Tags, ", "))
	}
	for _, file := range of.Files {
		digest := ""
		if file.SHA256 != "" {
			digest = " (sha256 " + file.SHA256 + ")"
		}
		fmt.Fprintf(out, "file       %s%s\n", sanitize.Text(file.Path, strategy.MaxFilePath), digest)
	}
	for _, note := range of.Notes {
		by := ""
		if note.Author != "" {
			by = ", " + note.Author
		}
		fmt.Fprintf(out, "note %-5d %s%s: %s\n", note.ID, note.Time.Format(time.DateTime), by, indented(note.Text))
	}
}

// indented returns a text whose further lines begin below the first.
func indented(text string) string {
	return strings.ReplaceAll(sanitize.Lines(text), "\n", "\n           ")
}
