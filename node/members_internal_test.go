package node

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/dialbudget"
	"github.com/fbo-node/fbo/strategy/all"
)

func someMembers() *members {
	n := &Node{Strategies: all.Strategies()}
	book := dialbudget.New(func() time.Time { return noon })
	return &members{self: "self", allowed: func(peer.ID) bool { return true }, attempts: book, trying: n.worthTrying, known: map[peer.ID]*member{}}
}

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

func tellOf(t *testing.T, m *members, referrer peer.ID, scope dialbudget.Scope, addresses ...string) peer.ID {
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
		honest[tellOf(t, m, "honest", dialbudget.Global, fmt.Sprintf("/ip4/11.%d.0.1/tcp/1", i))] = true
	}
	for i := range maxMembers + 100 {
		tellOf(t, m, "liar", dialbudget.Global, fmt.Sprintf("/ip4/12.%d.%d.1/tcp/1", i/256, i%256))
	}
	if known, fresh := m.count(); known != maxMembers || fresh != maxMembers {
		t.Errorf("%d known, %d fresh", known, fresh)
	}
	found, lies := 0, 0
	none := func(peer.AddrInfo) int { return 0 }
	for _, c := range m.pick(20, noon, nobody, none) {
		if honest[c.info.ID] {
			found++
		}
	}
	if found != 10 {
		t.Errorf("of 20 picked %d are of the honest teller, want all 10", found)
	}
	for range 20 {
		for _, c := range m.pick(20, noon, nobody, none) {
			if !honest[c.info.ID] {
				lies++
			}
		}
	}
	if lies != dialbudget.MaxByReferrer-10 {
		t.Errorf("%d more of the liar's, want %d", lies, dialbudget.MaxByReferrer-10)
	}
}

// Those of ranges with many connections come last.
func TestCrowdedRangesAreDialledLast(t *testing.T) {
	m := someMembers()
	for i := range 5 {
		tellOf(t, m, "a", dialbudget.Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/1", i))
	}
	rare := tellOf(t, m, "a", dialbudget.Global, "/ip4/13.0.0.1/tcp/1")
	crowding := func(info peer.AddrInfo) int {
		if info.ID == rare {
			return 0
		}
		return 3
	}
	if picked := m.pick(1, noon, nobody, crowding); len(picked) != 1 || picked[0].info.ID != rare {
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
		tellOf(t, m, "hub", dialbudget.Global, fmt.Sprintf("/ip4/12.0.0.%d/tcp/%d", i%attackers+1, i/attackers+1), "/ip4/12.0.0.100/tcp/1")
	}
	honest := tellOf(t, m, "hub", dialbudget.Global, "/ip4/12.0.0.100/tcp/1")
	none := func(peer.AddrInfo) int { return 0 }
	for visits := 1; ; visits++ {
		picked := m.pick(1, noon, nobody, none)
		if len(picked) != 1 {
			t.Fatal("nobody is picked")
		}
		id := picked[0].info.ID
		if id == honest {
			break
		}
		if visits > attackers {
			t.Fatalf("after %d visits in vain the one elsewhere has not been dialled", visits)
		}
		m.attempts.Answered(id, picked[0].info.Addrs[0])
		m.attempts.Reached("hub")
		m.dialled(id, true, noon)
	}
}

// Who has answered is not forgotten for being no member, and is dialled ever more seldom;
// who has not is forgotten.
func TestWhoAnswersInVainIsDialledSeldom(t *testing.T) {
	m := someMembers()
	answers, silent := tellOf(t, m, "a", dialbudget.Global, "/ip4/12.0.0.1/tcp/1"), tellOf(t, m, "a", dialbudget.Global, "/ip4/12.0.0.2/tcp/1")
	for range maxRedialTries + 1 {
		m.dialled(answers, true, noon)
		m.dialled(silent, false, noon)
	}
	if known, _ := m.count(); known != 1 || m.known[answers] == nil {
		t.Fatalf("%d are known", known)
	}
	if pause := m.known[answers].retry.Sub(noon); pause < maxAnsweredRetry/2 || pause > 2*maxAnsweredRetry {
		t.Errorf("the next dial is after %v", pause)
	}
}

// What is tried of a record, by who told of it; only who has answered is told of.
func TestWhatIsTriedAndToldOfARecord(t *testing.T) {
	m := someMembers()
	id, sealed := newRecord(t, "/ip4/127.0.0.1/tcp/1", "/ip4/192.168.1.7/tcp/1", "/ip4/11.0.0.1/tcp/1", "/dns4/example.org/tcp/1")
	for _, sentTo := range []struct {
		referrer peer.ID
		scope    dialbudget.Scope
		want     int
	}{{"far", dialbudget.Global, 1}, {"near", dialbudget.Local, 2}, {"far again", dialbudget.Global, 2}, {"here", dialbudget.Machine, 3}} {
		if err := m.learn(sealed, sentTo.referrer, sentTo.scope); err != nil {
			t.Fatal(err)
		}
		if got := m.address(id).Addrs; len(got) != sentTo.want {
			t.Errorf("introduced by %s: %v, want %d", sentTo.referrer, got, sentTo.want)
		}
	}
	if len(m.records(10)) != 0 {
		t.Error("a record is passed on of a node that has not answered")
	}
	m.attempts.Answered(id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/2"))
	if len(m.records(10)) != 0 {
		t.Error("a record is passed on of a node that has answered elsewhere")
	}
	m.attempts.Answered(id, multiaddr.StringCast("/ip4/11.0.0.1/tcp/1"))
	if len(m.records(10)) != 1 {
		t.Error("the record is not passed on of a node that has answered")
	}
}
