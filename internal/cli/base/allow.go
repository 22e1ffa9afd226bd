package base

import (
	"os"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/node"
)

// AddAllow adds the flag of commands that take connections.
func AddAllow(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "allow", "", "file of the peer IDs, one a line, of the only nodes that may connect (default: all may)")
	FromEnvironment(command, "allow")
}

// ReadAllow reads the list of AddAllow; no file means all nodes.
func ReadAllow(path string) ([]peer.ID, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, Usagef("--allow: %w", err)
	}
	defer file.Close()
	allowed, err := node.ParseAllow(file)
	if err != nil {
		return nil, Usagef("--allow: %s:%w", path, err)
	}
	return allowed, nil
}
