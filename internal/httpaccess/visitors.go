package httpaccess

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Bounds of the connections of a port.
const (
	maxUnauthenticated       = 1024 // connections without a request that bore the token
	maxUnauthenticatedOfHost = 512  // the same of one address
	maxProven                = 1024 // connections with one
)

// visitors keeps the connections of a port within bounds. Strangers, who have not shown a token,
// are counted apart from the others and cannot keep them out: the oldest stranger gives way.
type visitors struct {
	mu              sync.Mutex
	unauthenticated *list.List // of *visitor, the oldest first
	ofHost          map[netip.Addr]*list.List
	proven          int
}

// KeepOut bounds the connections of a server's port. The server's handler is that of a Guard with a
// token, and its listeners are those that KeepOut returns.
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

// prove notes that a request bears the token; false when too many connections have one.
func prove(ctx context.Context) bool {
	v, ok := ctx.Value(visitorKey{}).(*visitor)
	return !ok || v.prove()
}

type visited struct {
	net.Listener
	visitors *visitors
}

// Accept returns the next connection at once, however many strangers there are.
func (l *visited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.visitors.add(conn), nil
}

// visitor is a connection. Its other fields are the visitors'.
type visitor struct {
	net.Conn
	of         *visitors
	host       netip.Addr
	all, among *list.Element // in the lists of strangers; nil when it is none
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

// forget takes a connection out of the lists of strangers.
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
