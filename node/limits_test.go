package node

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/gossip"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// TestDocumentedLimits compares the numbers of docs/network.md with those of the program.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../docs/network.md")
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int) string { // as 4,096
		if n < 1000 {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	for _, want := range []string{
		fmt.Sprintf("A node keeps %d connections. Above that, those that are worth least are closed until %d are left", nethost.MaxConnections, nethost.MaxConnections*3/4),
		fmt.Sprintf("| connections | %d; above, those", nethost.MaxConnections),
		fmt.Sprintf("From one IP address (IPv6: one /56) %d, and %d new ones a second after %d at once; of one IPv6 /48 %d.", nethost.MaxConnections, nethost.ConnectionRate, nethost.MaxConnections, 4*nethost.MaxConnections),
		fmt.Sprintf("%d of them with the same node", nethost.MaxConnections),
		fmt.Sprintf("| registrations | %s; %d for a task; %d of a node. They end with the node's connection, or %d minutes after", number(peers.MaxRegistrations), peers.MaxOfTask, peers.MaxTasksOfNode, peers.RegistrationTTL/time.Minute),
		fmt.Sprintf("1, 2, 4 … %s s, other members after 1, 2, 4 … %s s", seconds(nethost.LongestPause), seconds(peers.MaxRetry)),
		fmt.Sprintf("fewer than %d connections itself, it dials a member every %s s", peers.EnoughDialled, seconds(peers.VisitPause)),
		fmt.Sprintf("after 1, 2, 4 … %s s. With more it dials a member every %s s", seconds(peers.LongPause), seconds(peers.LostPause)),
		fmt.Sprintf("addresses of up to %d peers", peers.MaxAnchors),
		fmt.Sprintf("dialled again after 1, 2, 4 … %s s, and not forgotten", seconds(peers.MaxAnsweredRetry)),
		fmt.Sprintf("and %d others of a peer | `MaxTopics`", peers.MaxTopics),
		fmt.Sprintf("| %d a second of a peer, %s at once; comings and goings at own topics %d a second, %d at once. With many tasks %d at once for each.", peers.AnnounceRate, number(peers.AnnounceBurst), peers.TopicChurnRate, peers.TopicChurnBurst, peers.TaskChurnBurst),
		fmt.Sprintf("| %d messages a second that a peer passes on, %s at once; %d a second of an author, %d at once, for each task of the node.", peers.RelayRate, number(peers.RelayBurst), peers.AuthorRate, peers.AuthorBurst),
		fmt.Sprintf("A message has at most %d KiB.", gossip.MaxMessageBytes>>10),
		fmt.Sprintf("| %d a second for all peers that are not named, %s at once. Each group has %d a second, %d at once,", peers.CheckRate, number(peers.CheckBurst), peers.GroupCheckRate, peers.GroupCheckBurst),
		fmt.Sprintf("| %d a second of all that are not named, %s at once, and %d a second of each group, %d at once;", peers.ItemRate, number(peers.ItemBurst), peers.GroupItemRate, peers.GroupItemBurst),
		fmt.Sprintf("| %d streams, %d of a peer, each for %s s and %d KiB", access.MaxSmallStreams, access.MaxSmallStreamsOfPeer, seconds(tasknames.Timeout), access.SmallBytes>>10),
		fmt.Sprintf("| %d a second of a peer, %d at once, for each task of the node; of refused ones %d a second, %d at once.", peers.SyncRate, peers.SyncBurst, peers.ExcessStreamRate, peers.ExcessStreamBurst),
		fmt.Sprintf("; %d streams of %d KiB for each task", peers.MaxDirectStreams, protocol.MaxDirectBytes>>10),
		fmt.Sprintf("| %d of a task, of %d KiB", peers.MaxMembers, protocol.MaxRecordBytes>>10),
		fmt.Sprintf("| %s of peers and of authors, as many bans of each, and %s ranges of addresses.", number(peers.MaxRecords), number(peers.MaxRanges)),
		fmt.Sprintf("| one address (IPv6: one /64) | %d | in %s s |", peers.MaxAtAddress, seconds(peers.AddressPause)),
		fmt.Sprintf("| one range | %d | in %s s |", peers.MaxInRange, seconds(peers.RangePause)),
		fmt.Sprintf("| nodes that one peer has introduced | %d | in %s s |", peers.MaxByReferrer, seconds(peers.ReferrerPause)),
		fmt.Sprintf("| %d | in %s s |\n", peers.MaxByNamed, seconds(peers.NamedPause)),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/network.md lacks %q", want)
		}
	}
}
