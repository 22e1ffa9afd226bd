package store

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A file of anchors is refused or names a few peers, and reads back the same after it is written.
func FuzzParseAnchors(f *testing.F) {
	const one = "/p2p/12D3KooWA1bSJE6SBBNV2nVUSC5kqfLrfzvXd7YYwWySbr1bzxBk"
	for _, text := range []string{
		"", one, "/ip4/192.0.2.7/udp/4001/quic-v1" + one + "\n/ip4/192.0.2.7/tcp/4001" + one + "\n",
		"/ip6/::1/tcp/4001/p2p/12D3KooWNQF6ahPCnJc3BuUEJzJWfaTLsCPuTsUVFtzn9DWTtbiM\n" + one,
		"/ip4/192.0.2.7/tcp/4001" + one + "/p2p-circuit" + one, "/ip4/192.0.2.7/tcp/4001", "\x00 is no address",
	} {
		f.Add([]byte(text))
	}
	sorted := func(anchors []peer.AddrInfo) []string {
		var all []string
		for _, anchor := range anchors {
			all = append(all, anchor.String())
		}
		slices.Sort(all)
		return all
	}
	const most = 8
	f.Fuzz(func(t *testing.T, text []byte) {
		anchors, err := parseAnchors(text, most)
		if err != nil {
			return
		}
		addresses := 0
		for _, anchor := range anchors {
			if anchor.ID.Validate() != nil {
				t.Errorf("the anchor %+v has no ID", anchor)
			}
			addresses += len(anchor.Addrs)
		}
		if len(anchors) > most || addresses > most {
			t.Errorf("%d anchors at %d addresses, the limit is %d", len(anchors), addresses, most)
		}
		var again bytes.Buffer
		if err := formatAnchors(&again, anchors); err != nil {
			t.Fatal(err)
		}
		if other, err := parseAnchors(again.Bytes(), most); err != nil || !reflect.DeepEqual(sorted(other), sorted(anchors)) {
			t.Errorf("%q reads back as %v, %v, want %v", text, other, err, anchors)
		}
	})
}
