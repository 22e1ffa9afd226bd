package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// build describes this program.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	System   string `json:"system"`
	Arch     string `json:"arch"`
}

func thisBuild() build {
	b := build{base.Version(), "unknown", runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Revision = setting.Value
			}
		}
	}
	return b
}

func (b build) String() string {
	return fmt.Sprintf("fbo-node %s, revision %s, %s %s/%s", b.Version, b.Revision, b.Go, b.System, b.Arch)
}

// addVersion adds the flag --version of the program, which prints the same as the command.
func addVersion(root *cobra.Command) {
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
}

func newVersion() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), thisBuild())
			}
			_, err := fmt.Fprintln(command.OutOrStdout(), thisBuild())
			return err
		},
	}
	base.AddJSON(command, &asJSON)
	return command
}
