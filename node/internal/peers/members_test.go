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

// newRecord is a new node's signed record.
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

func tellOf(t *testing.T, m *Task, referrer peer.ID, scope Scope, addresses ...string) peer.ID {
	t.Helper()
	id, sealed := newRecord(t, addresses...)
	if err := m.learn(sealed, referrer, scope); err != nil {
		t.Fatal(err)
	}
	return id
}

func nobody(peer.ID) bool { return false }

// Whoever tells of more than there is room for displaces his own, and whoever tells of
// many that do not answer is believed no more for a while.
func TestOneTellerDisplacesNobodyElses(t *testing.T) {
	m := someMembers()
	honest := map[peer.ID]bool{}
	for i := range 10 {
		honest[tellOf(t, m, "honest", Global, fmt.Sprintf("/ip4/11.%d.0.1/tcp/1", i))] = true
	}
	for i := range MaxMembers + 100 {
		tellOf(t, m, "liar", Global, fmt.Sprintf("/ip4/12.%d.%d.1/tcp/1", i/256, i%256))
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
	for _, c := range m.pick(20, noon, nobody, none) {
		if honest[c.Info.ID] {
			found++
		}
	}
	if found != 10 {
		t.Errorf("of 20 picked %d are of the honest teller, want all 10", found)
	}
	for range 20 {
		for _, c := range m.pick(20, noon, nobody, none) {
			if !honest[c.Info.ID] {
				lies++
			}
		}
	}
	if lies != MaxByReferrer-10 {
		t.Errorf("%d more of the liar's, want %d", lies, MaxByReferrer-10)
	}
}

// Those of ranges with many connections come last.
func TestCrowdedRangesAreDialledLast(t *testing.T) {
	m := someMembers()
	for i := range 5 {
		tellOf(t, m, "a", Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/1", i))
	}
	rare := tellOf(t, m, "a", Global, "/ip4/13.0.0.1/tcp/1")
	crowding := func(info peer.AddrInfo) int {
		if info.ID == rare {
			return 0
		}
		return 3
	}
	if picked := m.pick(1, noon, nobody, crowding); len(picked) != 1 || picked[0].Info.ID != rare {
		t.Error("a peer of a crowded range is picked first")
	}
}

// Where many have answered and brought nothing, those who come from elsewhere are dialled
// first, and from one such address no more than one of each: however many names it has, and
// however many claim an honest node's address beside their own.
func TestAddressesThatWereVisitedInVainAreDialledLast(t *testing.T) {
	const attackers, names = 20, 10
	m := someMembers()
	for i := range attackers * names {
		tellOf(t, m, "hub", Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/%d", i%attackers+1, i/attackers+1), "/ip4/12.0.0.100/tcp/1")
	}
	honest := tellOf(t, m, "hub", Global, "/ip4/12.0.0.100/tcp/1")
	none := func(peer.AddrInfo) int { return 0 }
	for visits := 1; ; visits++ {
		picked := m.pick(1, noon, nobody, none)
		if len(picked) != 1 {
			t.Fatal("nobody is picked")
		}
		id := picked[0].Info.ID
		if id == honest {
			break
		}
		if visits > attackers {
			t.Fatalf("after %d visits in vain the one elsewhere has not been dialled", visits)
		}
		m.policy.Answered(noon, id, picked[0].Info.Addrs[0])
		m.Dialled(noon, picked[0], true)
	}
}

// Who has answered is not forgotten for being no member, and is dialled ever more seldom;
// who has not is forgotten.
func TestWhoAnswersInVainIsDialledSeldom(t *testing.T) {
	m := someMembers()
	answers, silent := tellOf(t, m, "a", Global, "/ip4/12.0.0.1/tcp/1"), tellOf(t, m, "a", Global, "/ip4/12.0.0.2/tcp/1")
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

// What is tried of a record, by who told of it; only who has answered is told of.
func TestWhatIsTriedAndToldOfARecord(t *testing.T) {
	m := someMembers()
	id, sealed := newRecord(t, "/ip4/127.0.0.1/tcp/1", "/ip4/192.168.1.7/tcp/1", "/ip4/11.0.0.1/tcp/1", "/dns4/example.org/tcp/1")
	for _, sentTo := range []struct {
		referrer peer.ID
		scope    Scope
		want     int
	}{{"far", Global, 1}, {"near", Local, 2}, {"far again", Global, 2}, {"here", Machine, 3}} {
		if err := m.learn(sealed, sentTo.referrer, sentTo.scope); err != nil {
			t.Fatal(err)
		}
		if got := m.Address(id).Addrs; len(got) != sentTo.want {
			t.Errorf("introduced by %s: %v, want %d", sentTo.referrer, got, sentTo.want)
		}
	}
	if len(m.Records(10)) != 0 {
		t.Error("a record is passed on of a node that has not answered")
	}
	m.policy.Answered(noon, id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/2"))
	if len(m.Records(10)) != 0 {
		t.Error("a record is passed on of a node that has answered elsewhere")
	}
	m.policy.Answered(noon, id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/1"))
	if len(m.Records(10)) != 1 {
		t.Error("the record is not passed on of a node that has answered")
	}
}
