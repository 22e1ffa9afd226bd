package protocol

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
)

// Limits of a peer record.
const (
	MaxRecordBytes = 4096
	MaxAddresses   = 32
)

// OpenRecord verifies a signed peer record, which libp2p hosts create for themselves: the peer's
// key has signed its addresses. A record does not prove that the peer takes part in a task.
func OpenRecord(sealed []byte) (*peer.PeerRecord, error) {
	if len(sealed) > MaxRecordBytes {
		return nil, fmt.Errorf("peer record: %w: %d bytes, the limit is %d", ErrMalformed, len(sealed), MaxRecordBytes)
	}
	envelope, opened, err := record.ConsumeEnvelope(sealed, peer.PeerRecordEnvelopeDomain)
	if err != nil {
		return nil, fmt.Errorf("peer record: %w: %w", ErrMalformed, err)
	}
	r, ok := opened.(*peer.PeerRecord)
	if !ok {
		return nil, fmt.Errorf("peer record: %w: it is a %T", ErrMalformed, opened)
	}
	if !r.PeerID.MatchesPublicKey(envelope.PublicKey) {
		return nil, fmt.Errorf("peer record: %w: of peer %v, signed by another", ErrMalformed, r.PeerID)
	}
	if len(r.Addrs) == 0 || len(r.Addrs) > MaxAddresses {
		return nil, fmt.Errorf("peer record: %w: %d addresses, expected 1 to %d", ErrMalformed, len(r.Addrs), MaxAddresses)
	}
	return r, nil
}
