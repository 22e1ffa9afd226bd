package httpaccess

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Limits on the connections to a port.
const (
	maxUnauthenticated       = 1024 // connections that have not sent a request with the token
	maxUnauthenticatedOfHost = 512  // such connections from one IP address
	maxProven                = 1024 // connections that have sent a request with the token
)

// visitors limits the connections to a port. Connections that have not sent the token yet count
// separately and cannot displace the others. If there are too many of them, the oldest one is
// closed.
type visitors struct {
	mu              sync.Mutex
	unauthenticated *list.List // elements are *visitor, oldest first
	ofHost          map[netip.Addr]*list.List
	proven          int
}

// KeepOut limits the connections to a server's port. The server's handler must come from Protect of
// a Policy with a token, and it must serve the listeners that KeepOut returns.
func KeepOut(server *http.Server, listener net.Listener) net.Listener {
	v := &visitors{unauthenticated: list.New(), ofHost: map[netip.Addr]*list.List{}}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secure.NetConn()
		}
		return context.WithValue(ctx, visitorKey{}, c)
	}
	return &visited{listener, v}
}

type visitorKey struct{}

// prove records that a request has the token. It returns false if too many connections have sent
// it.
func prove(ctx context.Context) bool {
	v, ok := ctx.Value(visitorKey{}).(*visitor)
	return !ok || v.prove()
}

type visited struct {
	net.Listener
	visitors *visitors
}

// Accept returns the next connection without waiting, whatever the number of connections without a
// token.
func (l *visited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.visitors.add(conn), nil
}

// visitor is a connection. The mutex of visitors protects its fields.
type visitor struct {
	net.Conn
	of         *visitors
	host       netip.Addr
	all, among *list.Element // its elements in the two lists of connections without a token; nil if it has sent the token
	isProven   bool
}

func (v *visitors) add(conn net.Conn) *visitor {
	c := &visitor{Conn: conn, of: v}
	if address, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		c.host = address.Addr().Unmap()
	}
	v.mu.Lock()
	own := v.ofHost[c.host]
	if own == nil {
		own = list.New()
		v.ofHost[c.host] = own
	}
	c.all, c.among = v.unauthenticated.PushBack(c), own.PushBack(c)
	var leaves *visitor
	if own.Len() > maxUnauthenticatedOfHost {
		leaves = own.Front().Value.(*visitor)
	} else if v.unauthenticated.Len() > maxUnauthenticated {
		leaves = v.unauthenticated.Front().Value.(*visitor)
	}
	if leaves != nil {
		v.forget(leaves)
	}
	v.mu.Unlock()
	if leaves != nil {
		leaves.Conn.Close()
	}
	return c
}

// forget removes a connection from the lists of connections without a token.
func (v *visitors) forget(c *visitor) {
	if c.all == nil {
		return
	}
	v.unauthenticated.Remove(c.all)
	own := v.ofHost[c.host]
	if own.Remove(c.among); own.Len() == 0 {
		delete(v.ofHost, c.host)
	}
	c.all, c.among = nil, nil
}

func (c *visitor) prove() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.isProven {
		return true
	}
	if c.of.proven >= maxProven {
		return false
	}
	c.of.forget(c)
	c.isProven = true
	c.of.proven++
	return true
}

// Close implements net.Conn.
func (c *visitor) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	if c.isProven {
		c.isProven = false
		c.of.proven--
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}
