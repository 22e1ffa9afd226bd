package cli

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/store"
)

func newPeerID() *cobra.Command {
	var dir string
	var asJSON bool
	command := &cobra.Command{
		Use:   "peer-id",
		Short: "Print this node's peer ID, making an identity on first use",
		Args:  base.Exactly(0),
		RunE: func(command *cobra.Command, _ []string) error {
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			if err := datadir.Make(dataDir); err != nil {
				return err
			}
			key, err := store.LoadIdentity(dataDir)
			if err != nil {
				return err
			}
			id, err := peer.IDFromPrivateKey(key)
			if err != nil {
				return err
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), base.Object{"peer_id": id.String()})
			}
			fmt.Fprintln(command.OutOrStdout(), id)
			return nil
		},
	}
	base.AddDataDir(command, &dir)
	base.AddJSON(command, &asJSON)
	return command
}
