package control

import (
	"path/filepath"
)

// HubDir returns the hub's own directory within the data directory of a node.
func HubDir(dataDir string) string { return filepath.Join(dataDir, "hub") }

// Hub is the answer of a hub's socket.
type Hub struct {
	PeerID    string   `json:"peer_id"`
	Addresses []string `json:"addresses"`
}
