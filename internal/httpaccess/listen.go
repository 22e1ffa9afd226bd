package httpaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
)

// ListenSocket listens on a Unix socket that its owner alone can reach. What has this
// name is replaced: the caller makes sure that nobody listens.
func ListenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	config := net.ListenConfig{Control: closeToOthers}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, &fs.PathError{Op: "listen", Path: path, Err: err}
	}
	if err := os.Chmod(path, 0o600); err != nil { // where closeToOthers could not
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// CheckAddress reads HOST:PORT of which the host is an address or localhost. local tells
// whether it can be reached from this machine alone.
func CheckAddress(address string) (local bool, err error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return false, notAnAddress(address)
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, notAnAddress(address)
	}
	return ip.Unmap().IsLoopback(), nil
}

func notAnAddress(address string) error {
	return fmt.Errorf("%.100q: accepted is an address with a port, such as 127.0.0.1:7070 (port 0: any free one)", address)
}
