package render

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/task"
)

// DesignFormats returns the formats in which commands print one design.
func DesignFormats() []string { return []string{"text", "json", "flags", "env"} }

// DesignLines returns a line for each parameter, with its exact value.
func DesignLines(space *task.Space, design task.Design) string {
	var b strings.Builder
	for _, p := range space.Parameters() {
		fmt.Fprintf(&b, "%s  %s\n", p.Name, design.Value(p.Name))
	}
	return b.String()
}

// DesignFlags returns a line with a flag for each parameter, quoted for a POSIX shell.
func DesignFlags(space *task.Space, design task.Design) string {
	var flags []string
	for _, p := range space.Parameters() {
		flags = append(flags, "--"+p.Name+" "+base.ShellQuote(design.Value(p.Name).String()))
	}
	return strings.Join(flags, " ") + "\n"
}

// DesignVariables returns a line with a variable for each parameter, with the names that run gives
// to its command, quoted for a POSIX shell.
func DesignVariables(space *task.Space, design task.Design) string {
	var b strings.Builder
	for _, p := range space.Parameters() {
		fmt.Fprintf(&b, "FBO_PARAM_%s=%s\n", strings.ToUpper(p.Name), base.ShellQuote(design.Value(p.Name).String()))
	}
	return b.String()
}
