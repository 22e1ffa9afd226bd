package base

import (
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/evaluator"
)

// NewSupervisor returns the command that run starts beside each command that it evaluates.
func NewSupervisor() *cobra.Command {
	return &cobra.Command{
		Use:                superviseCommand + " PATH NAME [ARGS…]",
		Short:              "Run a command for a node and end it with the node (started by run)",
		Hidden:             true,
		DisableFlagParsing: true, // they are the command's
		RunE: func(_ *cobra.Command, args []string) error {
			if err := evaluator.Supervise(args); err != nil {
				return BadUsage(err)
			}
			return nil
		},
	}
}

const superviseCommand = "supervise"
