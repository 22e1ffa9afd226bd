package nethost

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/x/rate"
)

// ConnectionRate is the number of connections per second that one IP address may open, after a
// burst of as many as it may have open at the same time.
const ConnectionRate = 2

// NewResources returns libp2p's resource manager with a limit of perAddress connections per IP
// address. libp2p's default, eight, is too low for a hub with many nodes behind one NAT. It is also
// too low for a node, since all connections that a hub relays come from the hub's address.
func NewResources(perAddress int, limits rcmgr.PartialLimitConfig) (network.ResourceManager, error) {
	scaling := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&scaling)
	often := rate.Limit{RPS: ConnectionRate, Burst: perAddress}
	resources, err := rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(limits.Build(scaling.AutoScale())),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: perAddress}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: perAddress}, {PrefixLength: 48, ConnCount: 4 * perAddress}},
		),
		rcmgr.WithConnRateLimiters(&rate.Limiter{
			NetworkPrefixLimits: []rate.PrefixLimit{{Prefix: netip.MustParsePrefix("127.0.0.0/8")}, {Prefix: netip.MustParsePrefix("::1/128")}},
			SubnetRateLimiter: rate.SubnetLimiter{
				IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: often}},
				IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: often}},
				GracePeriod:      time.Minute,
			},
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	return resources, nil
}
