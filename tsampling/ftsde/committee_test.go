package ftsde

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/strategy"
)

// What a task may ask for, the exchange of sums must accept: who runs the task
// has no other file to correct.
func TestSumsOfATaskAreAccepted(t *testing.T) {
	for _, c := range []struct {
		nodes                   int
		strategy, keys, section string
	}{
		{nodes: 2}, {nodes: 3}, {nodes: 4}, {nodes: 7}, {nodes: 20}, {nodes: 100}, {nodes: 1024},
		{nodes: 2, strategy: ", cells: 8", section: "surrogate: {features: 3750}\n"}, // the largest dimension
		{nodes: 1024, strategy: ", cells: 2", section: "surrogate: {features: 4096}\n"},
		{nodes: 100, keys: "committee: 64, "},
		{nodes: 100, keys: "committee: 2, "},
		{nodes: 64, keys: "committee: 64, max_colluding: 63, "},
		{nodes: 9, keys: "committee: 5, max_colluding: 4, min_contributors: 5, releases: 1000, "},
		{nodes: 9, keys: "max_colluding: 6, "},
		{nodes: 9, keys: "min_contributors: 9, "},
	} {
		roster := make([]string, c.nodes)
		for i := range roster {
			roster[i] = identity(t, i)
		}
		text := fmt.Sprintf("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n"+
			"strategy: {type: fts-de%s}\nprivacy: {mechanism: aggregate, epsilon: 4, %sroster: [%s]}\n%s", c.strategy, c.keys, strings.Join(roster, ", "), c.section)
		got, err := strategy.Set{Register()}.Parse("", []byte(text))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		a := got.Privacy.Aggregate
		committee, err := securesum.NewCommittee(a.Committee, a.MaxColluding)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		_, err = securesum.New(securesum.Config{
			Task: got.ID(), Self: a.Roster[0], Roster: a.Roster, Committee: committee, MinContributors: a.MinContributors,
			Dimension: got.Strategy.Settings.(Settings).Cells * got.Surrogate.Features, Rounds: uint64(got.Privacy.Releases),
			Random: rand.Reader, Verify: securesum.Verify, Sign: func([]byte) ([]byte, error) { return make([]byte, 64), nil },
		})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func identity(t *testing.T, n int) string {
	t.Helper()
	public := sha256.Sum256([]byte(strconv.Itoa(n)))
	key, err := crypto.UnmarshalEd25519PublicKey(public[:])
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}
