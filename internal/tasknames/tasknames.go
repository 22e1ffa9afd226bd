// Package tasknames finds the tasks of a connected peer, and those of them with a given name.
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
	Protocol = "/fbo/task-mismatch/1" // the stream protocol of requests for task names
	Timeout  = 5 * time.Second        // of a request

	// SyncPrefix, and the ID or tag of a task, is a stream protocol of the nodes that work on the task.
	SyncPrefix = "/fbo/sync/1/"
)

// Summary holds the tasks that a peer advertises.
type Summary struct {
	Tasks   []string // IDs, sorted
	Tags    []string // of tasks by invitation, sorted
	Answers bool     // whether the peer answers requests for task names
}

// Of returns the tasks that a connected peer advertises.
func Of(h host.Host, id peer.ID) (p Summary) {
	spoken, err := h.Peerstore().GetProtocols(id)
	if err != nil {
		return Summary{} // not known yet
	}
	for _, name := range spoken {
		p.Answers = p.Answers || name == Protocol
		task, ok := strings.CutPrefix(string(name), SyncPrefix)
		switch {
		case !ok || !taskref.IsID(task): // ignore protocols without a valid task ID
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

// Query asks a connected peer which of its tasks have a name. It omits tasks of the answer that are
// not in partIn, the tasks that the peer advertises.
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
