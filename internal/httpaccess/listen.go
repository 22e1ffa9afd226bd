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

// ListenSocket listens on a Unix socket that only its owner can use. It replaces an existing file
// at the path. The caller must ensure that no process listens there.
func ListenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	config := net.ListenConfig{Control: closeToOthers}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, &fs.PathError{Op: "listen", Path: path, Err: err}
	}
	if err := os.Chmod(path, 0o600); err != nil { // in case closeToOthers could not set the mode
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// CheckAddress checks an address of the form HOST:PORT, whose host must be an IP address or
// localhost. The result local reports whether only this machine can connect.
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
	return fmt.Errorf("%.100q: expected an address with a port, such as 127.0.0.1:7070 (port 0: any free one)", address)
}
