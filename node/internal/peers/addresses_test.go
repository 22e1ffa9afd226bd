package peers

import (
	"testing"

	"github.com/multiformats/go-multiaddr"
)

func TestGroupsOfAddresses(t *testing.T) {
	const hub = "/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	for _, c := range []struct {
		address, group string
		direct         bool
	}{
		{"/ip4/203.0.113.7/udp/4001/quic-v1", "203.0.113.7/32", true},
		{"/ip6/::ffff:203.0.113.7/tcp/1", "203.0.113.7/32", true},
		{"/ip6/2001:db8:1:2ff:1:2:3:4/tcp/1", "2001:db8:1:200::/56", true},
		{"/ip6zone/eth0/ip6/fe80::1/tcp/1", "fe80::/56", true},
		{"/ip4/127.0.0.1/tcp/1", "127.0.0.1/32", true},
		{"/ip6/::1/tcp/1", "::1/128", true},
		{"/ip4/203.0.113.7/tcp/1" + hub + "/p2p-circuit", "hub 12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp", false},
		{hub + "/p2p-circuit", "hub 12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp", false},
		{"/dns4/example.org/tcp/1", "elsewhere", false},
	} {
		direct, group := groupOf(multiaddr.StringCast(c.address))
		if direct != c.direct || group != c.group {
			t.Errorf("%s: %v, %q; want %v, %q", c.address, direct, group, c.direct, c.group)
		}
		if rangeOf(multiaddr.StringCast(c.address)).IsValid() != c.direct {
			t.Errorf("%s: range %v", c.address, rangeOf(multiaddr.StringCast(c.address)))
		}
	}
}
