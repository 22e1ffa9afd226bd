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

Every machine runs a node on the same task file. Nodes publish shares, and use those
of peers to choose designs. By default a share contains a coarse location of the
node's estimated optimum and its number of results, and no measured values.
docs/privacy.md lists the shares of all strategies, and what is guaranteed.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(command, args)
			}
			return nil
		},
		PersistentPreRunE: func(command *cobra.Command, _ []string) error { return ReadEnvironment(command) },
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return Usagef("%s%s; see `%s --help`", flagProblem(err), didYouMean(nearFlags(command, err)), command.CommandPath())
	})
	return root
}
