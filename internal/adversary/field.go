package adversary

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Attack is one kind of attack on the nodes of a task.
type Attack struct {
	Name string
	// Run returns when ctx ends, or earlier with the reason why it cannot continue. Before it
	// returns, it closes everything that it has opened.
	Run func(ctx context.Context, f *Field) error
}

// Attacks returns all attacks in the order of the published table.
func Attacks() []Attack {
	return []Attack{
		{"nothing", nothing},
		{"made-up topics", fabricatedTopics},
		{"1,024 made-up authors by one connection", fabricatedAuthors},
		{"60 identities around newcomers", surround},
		{"another peer's address in signed records", foreignAddresses},
		{"sync streams held by 50 identities", heldStreams},
		{"sync streams filled by 50 identities", filledStreams},
		{"streams opened as fast as possible", fastStreams},
		{"coming and going 1,000 times a second", churn},
		{"a ban washed out by made-up authors", washedBan},
		{"520 identities at the hub", exhaustedHub},
		{"520 identities at the hub that do not answer", muteHub},
		{"direct streams that dribble", dribble},
		{"ten ghosts", ghosts},
		{"1,101 large shares in sync answers", largeShares},
		{"a mean of level 1e100", extremeMean},
		{"copies by a relayer over its budget", shadow},
		{"10,000 bad messages a second", badMessages},
	}
}

// ByName returns the attack with this name.
func ByName(name string) (Attack, error) {
	all := Attacks()
	i := slices.IndexFunc(all, func(a Attack) bool { return a.Name == name })
	if i < 0 {
		return Attack{}, fmt.Errorf("there is no attack %q", name)
	}
	return all[i], nil
}

func nothing(ctx context.Context, f *Field) error {
	f.Ready()
	<-ctx.Done()
	return nil
}

// Plan has the data of a Field in a form that can be passed to another process.
type Plan struct {
	Attack    string
	Task      string   // content of the task file
	Targets   []string // addresses, with peer IDs, of the attacked nodes or of their hub
	Addresses []string // IPv4 addresses that the attackers may use; at least one
}

// Field is the environment of an attack. Its methods may be called from any goroutine.
type Field struct {
	Task    *task.Task
	Targets []peer.AddrInfo

	addresses []string
	ready     func()

	mu     sync.Mutex
	counts map[string]int
}

// NewField returns the Field of a plan, or an error if the plan is invalid. The function ready is
// called at most once.
func NewField(plan Plan, ready func()) (*Field, error) {
	parsed, err := all.Strategies().Parse("task.yaml", []byte(plan.Task))
	if err != nil {
		return nil, err
	}
	if len(plan.Addresses) == 0 {
		return nil, fmt.Errorf("no address to attack from")
	}
	f := &Field{Task: parsed, addresses: plan.Addresses, ready: sync.OnceFunc(ready), counts: map[string]int{}}
	for _, text := range plan.Targets {
		address, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		info, err := peer.AddrInfoFromP2pAddr(address)
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		f.Targets = append(f.Targets, *info)
	}
	return f, nil
}

// Ready reports that the attack has taken effect.
func (f *Field) Ready() { f.ready() }

// Count adds n to a count that the attack reports at its end.
func (f *Field) Count(what string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what] += n
}

// Counts returns all counts.
func (f *Field) Counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// Address returns the attackers' address number i, modulo the number of addresses.
func (f *Field) Address(i int) string { return f.addresses[i%len(f.addresses)] }

// each calls do concurrently for all targets, and waits for all calls.
func (f *Field) each(do func(target peer.AddrInfo)) {
	var all sync.WaitGroup
	for _, target := range f.Targets {
		all.Go(func() { do(target) })
	}
	all.Wait()
}

// every calls do immediately and then at intervals, until ctx ends or do returns false.
func every(ctx context.Context, pause time.Duration, do func() bool) {
	next := time.NewTicker(pause)
	defer next.Stop()
	for ctx.Err() == nil && do() {
		select {
		case <-ctx.Done():
		case <-next.C:
		}
	}
}

// again calls do until ctx ends, with a pause after each call. Attackers use it to reconnect after
// they were disconnected.
func again(ctx context.Context, do func()) {
	every(ctx, comeback, func() bool { do(); return true })
}

// comeback is the pause before an attacker reconnects from an address. It is a little shorter than
// half a second, the average pause that nodes enforce per address.
const comeback = 400 * time.Millisecond
