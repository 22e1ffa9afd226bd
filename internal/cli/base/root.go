package base

import (
	"github.com/spf13/cobra"
)

// NewRoot returns the program's command without its subcommands.
func NewRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fbo-node",
		Short: "Tune an expensive objective together with peers, without a server",
		Long: `fbo-node tunes an expensive objective together with peers, without a server.

Every machine runs a node on the same task file. Nodes send each other what their
models believe: by default about where each believes its optimum to be, and nothing
of its results. docs/privacy.md says what that guarantees, and what other strategies
tell.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usagef("unknown command %q; `fbo-node help` lists the commands", args[0])
			}
			return nil
		},
		PersistentPreRunE: func(command *cobra.Command, _ []string) error { return ReadEnvironment(command) },
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return Usagef("%s; see `%s --help`", flagProblem(err), command.CommandPath())
	})
	return root
}
