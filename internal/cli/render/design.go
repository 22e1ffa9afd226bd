package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/task"
)

// DesignFormats returns the formats in which commands print one design.
func DesignFormats() []string { return []string{"text", "json", "flags", "env"} }

// active returns the parameters that are active in a design.
func active(space *task.Space, design task.Design) []task.Parameter {
	return slices.DeleteFunc(space.Parameters(), func(p task.Parameter) bool { return !design.Active(p.Name) })
}

// DesignLines returns a line for each active parameter, with its exact value.
func DesignLines(space *task.Space, design task.Design) string {
	var b strings.Builder
	for _, p := range active(space, design) {
		fmt.Fprintf(&b, "%s  %s\n", p.Name, design.Value(p.Name))
	}
	return b.String()
}

// DesignFlags returns a line with a flag for each active parameter, quoted for a POSIX shell.
func DesignFlags(space *task.Space, design task.Design) string {
	var flags []string
	for _, p := range active(space, design) {
		flags = append(flags, "--"+p.Name+" "+base.ShellQuote(design.Value(p.Name).String()))
	}
	return strings.Join(flags, " ") + "\n"
}

// DesignVariables returns a line with a variable for each active parameter, with the names that run gives
// to its command, quoted for a POSIX shell.
func DesignVariables(space *task.Space, design task.Design) string {
	var b strings.Builder
	for _, p := range active(space, design) {
		fmt.Fprintf(&b, "FBO_PARAM_%s=%s\n", strings.ToUpper(p.Name), base.ShellQuote(design.Value(p.Name).String()))
	}
	return b.String()
}
