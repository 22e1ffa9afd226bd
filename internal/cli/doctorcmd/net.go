package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/probe"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
)

// wantedBuffer is what quic-go asks of the system for each UDP socket, bytes.
const wantedBuffer = 7 << 20

const probeTimeout = 10 * time.Second

// checkPorts binds every port that a node would listen on, for a moment.
func checkPorts(dir string, listen []string, running *control.NodeState) []finding {
	named := len(listen) > 0
	if !named && running != nil {
		return []finding{ok("port", "the running node holds %s", strings.Join(portsOf(running), ", "))}
	}
	if !named {
		listen = store.LastListen(dir)
	}
	if len(listen) == 0 {
		listen = nethost.DefaultListen()
	}
	var findings []finding
	for _, address := range listen {
		findings = append(findings, checkPort(address, named, running))
	}
	return findings
}

// endpoint is where a multiaddress listens.
type endpoint struct{ network, host, port string }

func endpointOf(text string) (e endpoint, ok bool) {
	address, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return e, false
	}
	value := func(code int) string {
		text, _ := address.ValueForProtocol(code)
		return text
	}
	family := "4"
	if e.host = value(multiaddr.P_IP4); e.host == "" {
		e.host, family = value(multiaddr.P_IP6), "6"
	}
	if e.port = value(multiaddr.P_UDP); e.port != "" {
		e.network = "udp" + family
	} else {
		e.port, e.network = value(multiaddr.P_TCP), "tcp"+family
	}
	return e, e.host != "" && e.port != ""
}

// bind takes the port without sharing it, and gives it back.
func (e endpoint) bind() error {
	address := net.JoinHostPort(e.host, e.port)
	if strings.HasPrefix(e.network, "udp") {
		socket, err := net.ListenPacket(e.network, address)
		if err != nil {
			return err
		}
		return socket.Close()
	}
	listener, err := net.Listen(e.network, address)
	if err != nil {
		return err
	}
	return listener.Close()
}

func checkPort(address string, named bool, running *control.NodeState) finding {
	const what = "port"
	e, understood := endpointOf(address)
	if !understood {
		return skip(what, "%s: only IP addresses with a UDP or TCP port are checked", address)
	}
	err := e.bind()
	switch {
	case err == nil && e.port == "0":
		return ok(what, "%s: any free one can be had", address)
	case err == nil:
		return ok(what, "%s is free", address)
	case addressInUse(err) && holds(running, e):
		return ok(what, "%s is held by the running node of this data directory", address)
	case addressInUse(err) && named:
		return fail(what, whoListens(e)+" shows who has it; stop that or choose another port", "%s is taken", address)
	case addressInUse(err):
		return warn(what, whoListens(e)+" shows which process has it; otherwise the next start takes another port, and addresses given to --peer are void",
			"%s, of the last start, is taken", address)
	case errors.Is(err, fs.ErrPermission):
		return fail(what, "choose a port from 1024 on", "%s: %v", address, err)
	case strings.HasSuffix(e.network, "6") && !named:
		return skip(what, "%s: no IPv6 here, which IPv4 makes up for (%v)", address, err)
	}
	return fail(what, "listen on an address of this machine, or on 0.0.0.0 for all of them", "%s: %v", address, err)
}

// holds compares ports only: a node lists the addresses of its interfaces for
// the one it listens on.
func holds(s *control.NodeState, e endpoint) bool {
	return s != nil && slices.ContainsFunc(s.Addresses, func(address string) bool {
		own, ok := endpointOf(address)
		return ok && own.network == e.network && own.port == e.port
	})
}

// portsOf lists, as "udp 4001", where the node listens.
func portsOf(s *control.NodeState) []string {
	var ports []string
	for _, address := range s.Addresses {
		if e, ok := endpointOf(address); ok {
			ports = append(ports, e.network[:3]+" "+e.port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// whoListens is a command for the user, not for this program.
func whoListens(e endpoint) string {
	kind := e.network[:3]
	switch runtime.GOOS {
	case "linux":
		return fmt.Sprintf("`ss -lnp --%s 'sport = :%s'`", kind, e.port)
	case "windows":
		return fmt.Sprintf("`netstat -ano -p %s`", kind)
	}
	return fmt.Sprintf("`lsof -nP -i %s:%s`", kind, e.port)
}

// checkBuffers asks for what quic-go asks and reads what was granted.
func checkBuffers() []finding {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return []finding{fail("udp buffers", "allow this user to open UDP sockets", "%v", err)}
	}
	defer socket.Close()
	udp, ok := socket.(*net.UDPConn)
	if !ok {
		return []finding{skip("udp buffers", "not checked: %T is no UDP socket", socket)}
	}
	raw, err := udp.SyscallConn()
	if err != nil {
		return []finding{skip("udp buffers", "not checked: %v", err)}
	}
	_, _ = udp.SetReadBuffer(wantedBuffer), udp.SetWriteBuffer(wantedBuffer) // the size read below shows the result
	return []finding{checkBuffer(raw, receiving), checkBuffer(raw, sending)}
}

// direction is one of the two buffers of a socket.
type direction struct {
	what   string
	sysctl string // on Linux
	send   bool
}

var (
	receiving = direction{"udp receive", "net.core.rmem_max", false}
	sending   = direction{"udp send", "net.core.wmem_max", true}
)

func checkBuffer(raw syscall.RawConn, d direction) finding {
	size, err := bufferSize(raw, d.send)
	if err == nil && size < wantedBuffer {
		if forceBuffer(raw, d.send, wantedBuffer) == nil { // as quic-go does; needs a privilege
			size, err = bufferSize(raw, d.send)
		}
	}
	return d.judge(size, err)
}

func (d direction) judge(size int, err error) finding {
	switch {
	case err != nil:
		return skip(d.what, "%v", err)
	case size < wantedBuffer:
		return warn(d.what, d.advice(), "buffer of %d KiB, QUIC asks for %d: packets may be lost when much comes at once", size>>10, wantedBuffer>>10)
	}
	return ok(d.what, "buffer of %d KiB", size>>10)
}

func (d direction) advice() string {
	switch runtime.GOOS {
	case "linux":
		return fmt.Sprintf("sysctl -w %s=7500000, or leave it: shares are small", d.sysctl)
	case "darwin", "freebsd", "openbsd", "netbsd":
		return "sysctl -w kern.ipc.maxsockbuf=8441037, or leave it: shares are small"
	}
	return "raise the system's limit for UDP buffers, or leave it: shares are small"
}

// sought is the task that a peer shall take part in.
type sought struct {
	id, name string
	tag      string // with an invitation
}

// checkPeer names the step that failed: the address, the connection, the identity that answers, the
// task.
func checkPeer(ctx context.Context, address string, wanted sought) []finding {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	name := wanted.name
	if wanted.tag != "" {
		name = "" // with an invitation, no peer is asked for names
	}
	reach, err := probe.Probe(ctx, address, name)
	const what = "peer"
	switch {
	case errors.Is(err, probe.ErrPeerAddress):
		return []finding{fail(what, "copy the address that the other node prints at its start", "%v", err)}
	case errors.Is(err, probe.ErrWrongPeer):
		return []finding{fail(what, "copy the address anew: that node has another identity by now, or another node has its place", "%s: %v", address, err)}
	case errors.Is(err, probe.ErrClock):
		return []finding{fail(what, "compare the clocks of both machines (`date -u`) and set the wrong one (NTP)", "%s: %v", address, err)}
	case errors.Is(err, probe.ErrUnreachable):
		return []finding{fail(what, "see that the node runs, that the address and port are right, and that firewalls let UDP and TCP to it pass", "%s: %v", address, err)}
	case err != nil:
		return []finding{fail(what, "", "%s: %v", address, err)}
	}
	findings := []finding{ok(what, "%s answers at %s after %v (%s)", reach.ID, reach.Address, reach.RTT.Round(10*time.Microsecond), program(reach))}
	if wanted.id != "" {
		findings = append(findings, checkPeerTask(reach, wanted))
	}
	return findings
}

func program(r probe.Reach) string {
	if r.Agent == "" {
		return "of an unknown program"
	}
	return r.Agent
}

func checkPeerTask(r probe.Reach, wanted sought) finding {
	const what = "peer's task"
	taskID, byInvitation := wanted.id, sanitize.Count(len(r.Tags), "task")
	switch {
	case wanted.tag != "" && slices.Contains(r.Tags, wanted.tag):
		return ok(what, "it takes part in %s by this invitation", taskID)
	case wanted.tag != "" && slices.Contains(r.Tasks, taskID):
		return fail(what, "give it the invitation too (run --invite)", "it takes part in %s without an invitation", taskID)
	case wanted.tag != "" && len(r.Tags) > 0:
		return fail(what, "compare what `fbo-node task check FILE --invite FILE` says that nodes announce, on both machines",
			"it takes part in %s by another invitation", byInvitation)
	case slices.Contains(r.Tasks, taskID):
		return ok(what, "it takes part in %s", taskID)
	case len(r.Named) > 0:
		return fail(what, "compare what `fbo-node task check FILE` prints on both machines: the task files differ",
			"it takes part in another task of the same name, %s, not in %s", sanitize.List(r.Named), taskID)
	case len(r.Tags) > 0 && wanted.tag == "":
		return fail(what, "if it has an invitation to this task, get it and name it by --invite",
			"it does not take part in %s openly; it takes part in %s by invitation, which cannot be checked from outside", taskID, byInvitation)
	case len(r.Tasks) == 0:
		return fail(what, "start it on this task; if it is not a node of fbo, copy the address of one", "it takes part in no task")
	}
	return fail(what, "compare `fbo-node task id` on both machines: the task files differ", "it takes part in %s, not in %s", sanitize.List(r.Tasks), taskID)
}
