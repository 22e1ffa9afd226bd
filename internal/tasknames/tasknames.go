// Package tasknames finds the tasks of a connected peer, and which of them have a given name.
package tasknames

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/protocol"
)

const (
	Protocol = "/fbo/task-mismatch/1" // protocol of requests for task names
	Timeout  = 5 * time.Second        // timeout of a request

	// SyncPrefix, followed by the ID or the tag of a task, is the sync protocol of the nodes that
	// take part in the task.
	SyncPrefix = "/fbo/sync/1/"
)

// Summary holds the tasks that a peer advertises.
type Summary struct {
	Tasks   []string // sorted IDs
	Tags    []string // sorted tags of tasks with an invitation
	Answers bool     // the peer answers requests for task names
}

// Of returns the tasks that a connected peer advertises by its protocols.
func Of(h host.Host, id peer.ID) (p Summary) {
	spoken, err := h.Peerstore().GetProtocols(id)
	if err != nil {
		return Summary{} // the peer's protocols are not known yet
	}
	for _, name := range spoken {
		p.Answers = p.Answers || name == Protocol
		task, ok := strings.CutPrefix(string(name), SyncPrefix)
		switch {
		case !ok || !taskref.IsID(task): // not a sync protocol of a task
		case invitation.IsName(cid.MustParse(task)):
			p.Tags = append(p.Tags, task)
		default:
			p.Tasks = append(p.Tasks, task)
		}
	}
	slices.Sort(p.Tasks)
	slices.Sort(p.Tags)
	return p
}

// Query asks a connected peer which of its tasks have the given name, and returns their sorted IDs.
// The argument partIn has the tasks that the peer advertises; Query omits all others from the
// answer.
func Query(ctx context.Context, h host.Host, from peer.ID, name string, partIn []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "tasks of a name"), Timeout)
	defer cancel()
	stream, err := h.NewStream(ctx, from, Protocol)
	if err != nil {
		return nil, err
	}
	tasks, err := exchange(ctx, stream, protocol.NameHash(h.ID(), from, name))
	if err != nil {
		_ = stream.Reset()
		return nil, err
	}
	var named []string
	for _, task := range tasks {
		if id := task.String(); slices.Contains(partIn, id) && !slices.Contains(named, id) {
			named = append(named, id)
		}
	}
	slices.Sort(named)
	return named, stream.Close()
}

func exchange(ctx context.Context, stream network.Stream, nameHash [sha256.Size]byte) ([]cid.Cid, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if err := protocol.WriteTaskMismatchRequest(stream, nameHash); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return protocol.ReadTaskMismatchResponse(stream)
}
