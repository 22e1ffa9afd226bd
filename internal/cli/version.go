package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			version, revision := base.Version(), "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, setting := range info.Settings {
					if setting.Key == "vcs.revision" {
						revision = setting.Value
					}
				}
			}
			fmt.Fprintf(command.OutOrStdout(), "fbo-node %s, revision %s, %s %s/%s\n",
				version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
