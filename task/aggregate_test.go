package task_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/task"
)

// nodeID returns the ID of the n-th of many nodes, always the same, of 52
// characters when it is written. Nobody has its private key.
func nodeID(n int) peer.ID {
	public := sha256.Sum256([]byte(strconv.Itoa(n)))
	key, err := crypto.UnmarshalEd25519PublicKey(public[:])
	if err != nil {
		panic(err)
	}
	id, err := peer.IDFromPublicKey(key)
	if err != nil {
		panic(err)
	}
	return id
}

// withIDs replaces @1 by the ID of the first node and so on, and @types by all types of
// strategy.
func withIDs(text string) string {
	text = strings.ReplaceAll(text, "@types", types())
	return regexp.MustCompile(`@[0-9]+`).ReplaceAllStringFunc(text, func(name string) string {
		n, err := strconv.Atoi(name[1:])
		if err != nil {
			panic(err)
		}
		return nodeID(n).String()
	})
}

// rosterOf names the first nodes.
func rosterOf(nodes int) string {
	names := make([]string, nodes)
	for i := range names {
		names[i] = nodeID(i + 1).String()
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// summing is a task with distributed exploration of so many nodes. Keys of the
// strategy begin at 5:26, those of the section privacy, each with its comma, at
// 6:45.
func summing(strategyKeys, privacyKeys string, nodes int) string {
	if strategyKeys != "" {
		strategyKeys = ", " + strategyKeys
	}
	return one + "strategy: {type: fts-de" + strategyKeys + "}\n" +
		"privacy: {mechanism: aggregate, epsilon: 4, " + privacyKeys + "roster: " + rosterOf(nodes) + "}\n"
}

func TestAggregateDefaults(t *testing.T) {
	for _, c := range []struct {
		keys                                      string
		nodes, committee, colluding, contributors int
	}{
		{"", 2, 2, 1, 2},
		{"", 3, 3, 1, 3},
		{"", 4, 4, 1, 3},
		{"", 7, 7, 2, 6},
		{"", 20, 7, 2, 15},
		{"", 100, 7, 2, 75},
		{"", 1024, 7, 2, 768},
		{"committee: 20, ", 20, 20, 6, 15},
		{"committee: 64, ", 100, 64, 21, 75},
		{"committee: 2, ", 100, 2, 1, 75},
		{"max_colluding: 6, ", 7, 7, 6, 7}, // more than three quarters of the roster
		{"max_colluding: 63, committee: 64, ", 64, 64, 63, 64},
		{"min_contributors: 3, ", 20, 7, 2, 3},
		{"min_contributors: 20, committee: 5, max_colluding: 4, ", 20, 5, 4, 20},
	} {
		got, err := parse("", []byte(summing("", c.keys, c.nodes)))
		if err != nil {
			t.Errorf("%s%d nodes: %v", c.keys, c.nodes, err)
			continue
		}
		p, a := got.Privacy, got.Privacy.Aggregate
		if a == nil || p.Mechanism != "aggregate" || p.Epsilon != 4 || p.Delta != 1e-5 || p.Releases != 10 || p.Adjacency != "replace-one" {
			t.Fatalf("privacy %+v", p)
		}
		if a.Committee != c.committee || a.MaxColluding != c.colluding || a.MinContributors != c.contributors {
			t.Errorf("%s%d nodes: committee %d, colluding %d, contributors %d, want %d, %d, %d",
				c.keys, c.nodes, a.Committee, a.MaxColluding, a.MinContributors, c.committee, c.colluding, c.contributors)
		}
		if len(a.Roster) != c.nodes || !slices.IsSorted(a.Roster) {
			t.Errorf("a roster of %d, sorted %t, want %d", len(a.Roster), slices.IsSorted(a.Roster), c.nodes)
		}
	}
}

func TestCommitteeErrors(t *testing.T) {
	var cases []errorCase
	for _, c := range []struct {
		keys  string
		nodes int
		want  string
	}{
		{"committee: 1, ", 20, `6:56: privacy: committee 1 must be a whole number from 2 to 64`},
		{"committee: 65, ", 100, `6:56: privacy: committee 65 must be a whole number from 2 to 64`},
		{"committee: 2.5, ", 20, `6:56: privacy: committee 2.5 must be a whole number from 2 to 64`},
		{"committee: all, ", 20, `6:56: privacy: committee must be a number, not the text "all"`},
		{"committee: 5, ", 4, `6:56: privacy: committee 5 must be at most the 4 nodes of the roster`},
		{"max_colluding: 0, ", 20, `6:60: privacy: max_colluding 0 must be a whole number from 1 to 63`},
		{"max_colluding: 64, ", 100, `6:60: privacy: max_colluding 64 must be a whole number from 1 to 63`},
		{"max_colluding: 7, ", 20, `6:60: privacy: max_colluding 7 must be less than the 7 nodes of the committee, or no quorum is left`},
		{"max_colluding: 2, ", 2, `6:60: privacy: max_colluding 2 must be less than the 2 nodes of the committee, or no quorum is left`},
		{"max_colluding: 9, committee: 5, ", 20, `6:60: privacy: max_colluding 9 must be less than the 5 nodes of the committee, or no quorum is left`},
		{"min_contributors: 1, ", 20, `6:63: privacy: min_contributors 1 must be a whole number from 2 to 1024`},
		{"min_contributors: 1025, ", 20, `6:63: privacy: min_contributors 1025 must be a whole number from 2 to 1024`},
		{"min_contributors: 2, ", 20, `6:63: privacy: min_contributors 2 must be more than max_colluding, 2, since the noise of colluding nodes gives no privacy`},
		{"min_contributors: 5, max_colluding: 6, ", 20, `6:63: privacy: min_contributors 5 must be more than max_colluding, 6, since the noise of colluding nodes gives no privacy`},
		{"min_contributors: 21, ", 20, `6:63: privacy: min_contributors 21 must be at most the 20 nodes of the roster`},
		// what follows from another error is not said
		{"committee: 70, max_colluding: 20, ", 100, `6:56: privacy: committee 70 must be a whole number from 2 to 64`},
		{"committee: 30, max_colluding: 20, min_contributors: 9, ", 20, `6:56: privacy: committee 30 must be at most the 20 nodes of the roster`},
		{"committee: 5, max_colluding: five, min_contributors: 2, ", 20, `6:74: privacy: max_colluding must be a number, not the text "five"`},
		{"committee: 5, max_colluding: 5, ", 5, `6:74: privacy: max_colluding 5 must be less than the 5 nodes of the committee, or no quorum is left`},
		// what does not, is
		{"committee: 0, max_colluding: x, min_contributors: 30, rounds: 3, ", 20, `6:56: privacy: committee 0 must be a whole number from 2 to 64
6:74: privacy: max_colluding must be a number, not the text "x"
6:95: privacy: min_contributors 30 must be at most the 20 nodes of the roster
6:99: privacy: unknown key "rounds"; accepted: mechanism, epsilon, delta, clip, releases, adjacency, roster, committee, max_colluding, min_contributors`},
		{"releases: 0, committee: 30, ", 20, `6:55: privacy: releases 0 must be a whole number from 1 to 1000
6:69: privacy: committee 30 must be at most the 20 nodes of the roster`},
	} {
		cases = append(cases, errorCase{summing("", c.keys, c.nodes), c.want})
	}
	checkErrors(t, cases)
}

func TestRosterErrors(t *testing.T) {
	private, err := crypto.UnmarshalSecp256k1PrivateKey(append(make([]byte, 31), 1))
	if err != nil {
		t.Fatal(err)
	}
	koblitz, err := peer.IDFromPublicKey(private.GetPublic())
	if err != nil {
		t.Fatal(err)
	}
	const rsa = "QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBjMTezGAJN" // as all RSA keys, too long for its ID to contain it
	const begin = one + "strategy: {type: fts-de}\nprivacy:\n  mechanism: aggregate\n  epsilon: 4\n"
	roster := func(entries ...string) string {
		return begin + "  roster:\n  - " + strings.Join(entries, "\n  - ") + "\n"
	}
	form := "must be a peer ID, as `fbo-node peer-id` prints it, not "
	kind := "must be the ID of an Ed25519 key, as `fbo-node peer-id` prints it, not "
	checkErrors(t, []errorCase{
		{begin, `7:3: privacy: missing key "roster"`},
		{one + "strategy: {type: fts-de}\nprivacy: {mechanism: aggregate, committee: 0}\n", `6:10: privacy: missing key "epsilon"
6:10: privacy: missing key "roster"`},
		{begin + "  roster:\n", `9:11: privacy: roster must be a list, not empty`},
		{begin + "  roster: @1\n", `9:11: privacy: roster must be a list, not the text "@1"`},
		{begin + "  roster: {a: @1}\n", `9:11: privacy: roster must be a list, not a mapping`},
		{begin + "  roster: []\n", `9:11: privacy: roster must name 2 to 1024 nodes, not 0`},
		{begin + "  roster: [@1]\n", `9:11: privacy: roster must name 2 to 1024 nodes, not 1`},
		{begin + "  roster: " + rosterOf(1025) + "\n", `9:11: privacy: roster must name 2 to 1024 nodes, not 1025`},
		{roster("@1", "@2", "alice"), `12:5: privacy: roster: entry 3 ` + form + `the text "alice"`},
		{roster("@1", "/ip4/10.0.0.1/tcp/4001/p2p/@2"), `11:5: privacy: roster: entry 2 ` + form + `the text "/ip4/10.0.0.1/tcp/4001/p2p/@2"`},
		{roster("@1", "@2x"), `11:5: privacy: roster: entry 2 ` + form + `the text "@2x"`},
		{roster("@1", withIDs("@2")[:51]), `11:5: privacy: roster: entry 2 ` + form + `the text "` + withIDs("@2")[:51] + `"`},
		{roster("@1", strings.Repeat("1", 3000)), `11:5: privacy: roster: entry 2 ` + form + `the number ` + strings.Repeat("1", 40) + `...`},
		{roster("@1", "Qm"+strings.Repeat("z", 3000)), `11:5: privacy: roster: entry 2 ` + form + `the text "Qm` + strings.Repeat("z", 78) + `..."`},
		{roster("''", "' @2'", "[@3]", "{a: @4}", "true", "null", "12"), `10:5: privacy: roster: entry 1 ` + form + `the text ""
11:5: privacy: roster: entry 2 ` + form + `the text " @2"
12:5: privacy: roster: entry 3 ` + form + `a list
13:5: privacy: roster: entry 4 ` + form + `a mapping
14:5: privacy: roster: entry 5 ` + form + `true
15:5: privacy: roster: entry 6 ` + form + `empty
16:5: privacy: roster: entry 7 ` + form + `the number 12`},
		{roster("@1", rsa), `11:5: privacy: roster: entry 2 ` + kind + rsa},
		{roster(koblitz.String(), "@1", rsa), `10:5: privacy: roster: entry 1 ` + kind + koblitz.String() + `
12:5: privacy: roster: entry 3 ` + kind + rsa},
		{roster("@1", otherIDOf(t, nodeID(1)).String()), `11:5: privacy: roster: entry 2 ` + kind + otherIDOf(t, nodeID(1)).String()},
		{roster("@1", "@2", "@1"), `12:5: privacy: roster: entry 3 repeats entry 1, @1`},
		{roster("bob", "@2", "@3", "@3", "@2"), `10:5: privacy: roster: entry 1 ` + form + `the text "bob"
13:5: privacy: roster: entry 4 repeats entry 3, @3
14:5: privacy: roster: entry 5 repeats entry 2, @2`},
		{roster("@1", peer.ToCid(nodeID(1)).String()), `11:5: privacy: roster: entry 2 repeats entry 1, @1`},
		// what depends on the roster is not said, unknown keys are
		{roster("@1", "@1") + "  committee: 9\n  size: 2\n", `11:5: privacy: roster: entry 2 repeats entry 1, @1
13:3: privacy: unknown key "size"; accepted: mechanism, epsilon, delta, clip, releases, adjacency, roster, min_contributors, committee, max_colluding`},
	})
}

// otherIDOf writes the key in an ID another way, with a field that nobody knows.
func otherIDOf(t *testing.T, id peer.ID) peer.ID {
	t.Helper()
	decoded, err := multihash.Decode([]byte(id))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := multihash.Encode(append(decoded.Digest, 3<<3, 1), multihash.IDENTITY)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := peer.ID(hash).ExtractPublicKey(); err != nil || !id.MatchesPublicKey(key) {
		t.Fatalf("not the same key: %v", err)
	}
	return peer.ID(hash)
}

func TestTooMuchToSum(t *testing.T) {
	features := func(n int) string { return fmt.Sprintf("surrogate: {features: %d}\n", n) }
	for _, text := range []string{
		summing("cells: 16", "", 2) + features(1874),
		summing("cells: 8", "", 2) + features(3750), // 30000
		summing("cells: 4", "", 512) + features(4096),
		summing("cells: 2", "", 1024) + features(4096), // 2^23
	} {
		if _, err := parse("", []byte(text)); err != nil {
			t.Error(err)
		}
	}
	checkErrors(t, []errorCase{
		{summing("cells: 8", "", 2) + features(3752), `6:22: privacy: 8 cells times 3752 features make 30016 numbers to sum, expected up to 30000`},
		{summing("cells: 16", "", 1024) + features(4096), `6:22: privacy: 16 cells times 4096 features make 65536 numbers to sum, expected up to 30000`},
		{summing("cells: 4", "", 513) + features(4096), `6:53: privacy: 513 nodes times 16384 numbers each (4 cells times 4096 features) make 8404992 to hold, expected up to 8388608`},
		// what follows from another error is not said
		{summing("cells: 32", "", 2) + features(4096), `5:33: strategy: cells 32 must be a whole number from 1 to 16`},
		{summing("cells: 16", "", 2) + features(5000), `7:23: surrogate: features 5000 must be a whole number from 2 to 4096`},
	})
}

// A committee is accepted when it protects and can finish, and only then:
// two quorums of q among C have more than t in common, and so one at least that
// serves no two rounds, when 2q > C+t, and there are q when q <= C.
func TestAcceptedCommitteesAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.OneOf(rapid.IntRange(2, 9), rapid.IntRange(2, 90)).Draw(t, "nodes")
		keys := ""
		setting := func(key string, most int) (int, bool) {
			if !rapid.Bool().Draw(t, "with "+key) {
				return 0, false
			}
			n := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, most)).Draw(t, key)
			keys += fmt.Sprintf("%s: %d, ", key, n)
			return n, true
		}
		committee, ok := setting("committee", 80)
		if !ok {
			committee = min(7, nodes)
		}
		colluding, ok := setting("max_colluding", 80)
		if !ok {
			colluding = max(1, (committee-1)/3)
		}
		contributors, ok := setting("min_contributors", 100)
		if !ok {
			contributors = nodes // by default fewer, but never too few
		}
		quorum := (committee+colluding)/2 + 1
		good := 2 <= committee && committee <= min(64, nodes) &&
			1 <= colluding && quorum <= committee && contributors > colluding && contributors <= nodes

		got, err := parse("", []byte(summing("", keys, nodes)))
		if err != nil {
			var all *task.ParseError
			if good {
				t.Fatalf("%s%d nodes: %v", keys, nodes, err)
			}
			if !errors.As(err, &all) || all.Errors[0].Line != 6 {
				t.Fatalf("%s%d nodes: %v", keys, nodes, err)
			}
			return
		}
		a := got.Privacy.Aggregate
		if !good {
			t.Fatalf("%s%d nodes: expected %+v", keys, nodes, a)
		}
		q := (a.Committee+a.MaxColluding)/2 + 1
		if a.Committee < 2 || a.Committee > min(64, nodes) || a.MaxColluding < 1 || 2*q <= a.Committee+a.MaxColluding || q > a.Committee {
			t.Fatalf("%s%d nodes: %+v", keys, nodes, a)
		}
		if a.MinContributors <= a.MaxColluding || a.MinContributors > nodes {
			t.Fatalf("%s%d nodes: %+v", keys, nodes, a)
		}
	})
}
