package peeraddr

import (
	"strings"
	"testing"
)

func TestParseHubsReturnsErrorForAddressesThatAreNoHubs(t *testing.T) {
	const relay, node = "12D3KooWA1bSJE6SBBNV2nVUSC5kqfLrfzvXd7YYwWySbr1bzxBk", "12D3KooWNQF6ahPCnJc3BuUEJzJWfaTLsCPuTsUVFtzn9DWTtbiM"
	for address, want := range map[string]string{
		"/ip4/192.0.2.7/tcp/4001/p2p/" + relay + "/p2p-circuit/p2p/" + node: "it is a relayed one",
		"/ip4/192.0.2.7/tcp/4001": "must end in /p2p/",
		"192.0.2.7":               "accepted: an address as the other node prints it",
	} {
		if _, err := ParseHubs([]string{address}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected one with %q", address, err, want)
		}
	}
}
