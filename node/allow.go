package node

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
)

// ParseAllow reads a list for Node.Allow: one peer ID per line, as `fbo-node peer-id` prints it. It
// ignores empty lines, and the rest of a line after a #. An error starts with the number of its
// line. An empty list is an error too, since it is more likely a mistake than intended.
func ParseAllow(r io.Reader) ([]peer.ID, error) {
	var allowed []peer.ID
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		id, err := peer.Decode(text)
		if err != nil {
			return nil, fmt.Errorf("%d: %q is no peer ID: %w (accepted: one ID a line, as `fbo-node peer-id` prints it, such as 12D3Koo…)", number, text, err)
		}
		allowed = append(allowed, id)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", number+1, err)
	}
	if len(allowed) == 0 {
		return nil, fmt.Errorf("%d: the list names no node", max(number, 1))
	}
	return allowed, nil
}
