package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
)

// addressDir is the folder in a data directory with the addresses by which the node has joined tasks,
// one file per task.
const addressDir = "join-addresses"

// KeepJoinAddresses stores the addresses in the string by which a node has joined a task, and the name
// of the string.
func KeepJoinAddresses(dir, task, name string, hubs, peers []string) error {
	folder, err := datadir.Folder(dir, addressDir)
	if err != nil {
		return fmt.Errorf("addresses: %w", err)
	}
	var out strings.Builder
	fmt.Fprintln(&out, "string", name)
	for _, hub := range hubs {
		fmt.Fprintln(&out, "hub", hub)
	}
	for _, peer := range peers {
		fmt.Fprintln(&out, "peer", peer)
	}
	if err := writeFile(filepath.Join(folder, task), out.String()); err != nil {
		return fmt.Errorf("addresses: %w", err)
	}
	return nil
}

// JoinAddresses returns what KeepJoinAddresses has stored; nothing without such a call.
func JoinAddresses(dir, task string) (name string, hubs, peers []string, err error) {
	path := filepath.Join(dir, addressDir, task)
	if err := datadir.NoLink(filepath.Dir(path)); err != nil {
		return "", nil, nil, fmt.Errorf("addresses: %w", err)
	}
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil, nil
	}
	if err != nil {
		return "", nil, nil, fmt.Errorf("addresses: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		kind, address, ok := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case ok && kind == "string":
			name = address
		case ok && kind == "hub":
			hubs = append(hubs, address)
		case ok && kind == "peer":
			peers = append(peers, address)
		default:
			return "", nil, nil, fmt.Errorf("addresses: %s is damaged: line %q, expected \"string NAME\", \"hub ADDRESS\" or \"peer ADDRESS\"", path, strings.TrimSpace(line))
		}
	}
	return name, hubs, peers, nil
}

// InvitationOf returns the invitation with which the node of a data directory joins by a string
// without another admission: nil for an open task. ok is false if a node must admit it first.
func InvitationOf(dir string, t admission.Ticket) (i *invitation.Invitation, ok bool, err error) {
	if t.Kind != admission.Guest {
		return t.Invitation(), true, nil
	}
	name, _, _, err := JoinAddresses(dir, t.Task.String())
	if err != nil || name != t.Name().String() { // the invitation that is kept may be an earlier one
		return nil, false, err
	}
	i, err = JoinedBy(dir, t.Task.String())
	return i, i != nil, err
}

// KeepTicketAddresses is KeepJoinAddresses with the content of a string.
func KeepTicketAddresses(dir string, t admission.Ticket) error {
	return KeepJoinAddresses(dir, t.Task.String(), t.Name().String(), t.Hubs, t.Peers)
}
