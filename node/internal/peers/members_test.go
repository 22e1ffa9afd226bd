package peers

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/multiformats/go-multiaddr"
)

func someMembers() *Task { return New(config()).NewTask(nil) }

// newRecord returns the ID and the signed record of a new node.
func newRecord(t *testing.T, addresses ...string) (peer.ID, []byte) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	info := peer.AddrInfo{}
	if info.ID, err = peer.IDFromPrivateKey(key); err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		info.Addrs = append(info.Addrs, multiaddr.StringCast(a))
	}
	envelope, err := record.Seal(peer.PeerRecordFromAddrInfo(info), key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return info.ID, sealed
}

func introduce(t *testing.T, m *Task, referrer peer.ID, scope Scope, addresses ...string) peer.ID {
	t.Helper()
	id, sealed := newRecord(t, addresses...)
	if err := m.learn(sealed, referrer, scope); err != nil {
		t.Fatal(err)
	}
	return id
}

func noPeer(peer.ID) bool { return false }

// TestReferrerDisplacesItsOwnMembers checks that a referrer of too many members displaces its own, and
// that after many failed dials its members are not dialled for a while.
func TestReferrerDisplacesItsOwnMembers(t *testing.T) {
	m := someMembers()
	honest := map[peer.ID]bool{}
	for i := range 10 {
		honest[introduce(t, m, "honest", Global, fmt.Sprintf("/ip4/11.%d.0.1/tcp/1", i))] = true
	}
	for i := range MaxMembers + 100 {
		introduce(t, m, "fabricator", Global, fmt.Sprintf("/ip4/12.%d.%d.1/tcp/1", i/256, i%256))
	}
	fresh := 0
	for _, known := range m.known {
		if !known.visited {
			fresh++
		}
	}
	if known := m.Members(); known != MaxMembers || fresh != MaxMembers || !m.unvisited() {
		t.Errorf("%d known, %d fresh", known, fresh)
	}
	found, lies := 0, 0
	none := func(peer.AddrInfo) int { return 0 }
	for _, c := range m.pick(20, noon, noPeer, none) {
		if honest[c.Info.ID] {
			found++
		}
	}
	if found != 10 {
		t.Errorf("of 20 picked %d are of the honest referrer, want all 10", found)
	}
	for range 20 {
		for _, c := range m.pick(20, noon, noPeer, none) {
			if !honest[c.Info.ID] {
				lies++
			}
		}
	}
	if lies != MaxByReferrer-10 {
		t.Errorf("%d more of the other referrer, want %d", lies, MaxByReferrer-10)
	}
}

// TestCrowdedRangesAreDialledLast checks the order by connections of a range.
func TestCrowdedRangesAreDialledLast(t *testing.T) {
	m := someMembers()
	for i := range 5 {
		introduce(t, m, "a", Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/1", i))
	}
	rare := introduce(t, m, "a", Global, "/ip4/13.0.0.1/tcp/1")
	crowding := func(info peer.AddrInfo) int {
		if info.ID == rare {
			return 0
		}
		return 3
	}
	if picked := m.pick(1, noon, noPeer, crowding); len(picked) != 1 || picked[0].Info.ID != rare {
		t.Error("a peer of a crowded range is picked first")
	}
}

// TestExhaustedAddressesAreDialledLast checks that a node visits each address once before it visits one
// again at which members have answered and delivered nothing, although these members also claim an
// honest node's address.
func TestExhaustedAddressesAreDialledLast(t *testing.T) {
	const attackers, names = 20, 10
	m := someMembers()
	for i := range attackers * names {
		introduce(t, m, "hub", Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/%d", i%attackers+1, i/attackers+1), "/ip4/12.0.0.100/tcp/1")
	}
	honest := introduce(t, m, "hub", Global, "/ip4/12.0.0.100/tcp/1")
	none := func(peer.AddrInfo) int { return 0 }
	for visits := 1; ; visits++ {
		picked := m.pick(1, noon, noPeer, none)
		if len(picked) != 1 {
			t.Fatal("no member is picked")
		}
		id := picked[0].Info.ID
		if id == honest {
			break
		}
		if visits > attackers {
			t.Fatalf("the member at another address is not dialled after %d visits", visits)
		}
		m.policy.Answered(noon, id, picked[0].Info.Addrs[0])
		m.Dialled(noon, picked[0], true)
	}
}

// TestAnsweringNonMembersAreDialledSeldom checks that a peer which answers and never joins stays known,
// and that one which does not answer is removed.
func TestAnsweringNonMembersAreDialledSeldom(t *testing.T) {
	m := someMembers()
	answers, silent := introduce(t, m, "a", Global, "/ip4/12.0.0.1/tcp/1"), introduce(t, m, "a", Global, "/ip4/12.0.0.2/tcp/1")
	for range maxRedialTries + 1 {
		m.dialled(noon, answers, true)
		m.dialled(noon, silent, false)
	}
	if known := m.Members(); known != 1 || m.known[answers] == nil {
		t.Fatalf("%d are known", known)
	}
	if pause := m.known[answers].retry.Sub(noon); pause < MaxAnsweredRetry/2 || pause > 2*MaxAnsweredRetry {
		t.Errorf("the next dial is after %v", pause)
	}
}

// TestAddressesOfRecords checks which addresses of a record are dialled, by the scope of its referrer,
// and that only records of peers that have answered are sent to others.
func TestAddressesOfRecords(t *testing.T) {
	m := someMembers()
	id, sealed := newRecord(t, "/ip4/127.0.0.1/tcp/1", "/ip4/192.168.1.7/tcp/1", "/ip4/11.0.0.1/tcp/1", "/dns4/example.org/tcp/1")
	for _, c := range []struct {
		referrer peer.ID
		scope    Scope
		want     int
	}{{"far", Global, 1}, {"near", Local, 2}, {"far again", Global, 2}, {"here", Machine, 3}} {
		if err := m.learn(sealed, c.referrer, c.scope); err != nil {
			t.Fatal(err)
		}
		if got := m.Address(id).Addrs; len(got) != c.want {
			t.Errorf("introduced by %s: %v, want %d", c.referrer, got, c.want)
		}
	}
	if len(m.Records(10)) != 0 {
		t.Error("the record of a node that has not answered is sent")
	}
	m.policy.Answered(noon, id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/2"))
	if len(m.Records(10)) != 0 {
		t.Error("the record of a node that has answered at another address is sent")
	}
	m.policy.Answered(noon, id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/1"))
	if len(m.Records(10)) != 1 {
		t.Error("the record of a node that has answered is not sent")
	}
}
