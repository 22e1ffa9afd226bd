package campaign

import (
	"bufio"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/random"
)

// FaultKind is the kind of a fault.
type FaultKind string

// Kinds of faults; the package comment describes them.
const (
	Loss  FaultKind = "loss"
	Delay FaultKind = "delay"
	Cut   FaultKind = "cut"
	Clock FaultKind = "clock"
	Crash FaultKind = "crash"
	Full  FaultKind = "full"
	Cache FaultKind = "cache"
	Stop  FaultKind = "stop"
)

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind { return []FaultKind{Loss, Delay, Cut, Clock, Crash, Full, Cache, Stop} }

// States of the journal after a crash at an append.
const (
	Lost = "lost" // nothing of the append is on disk
	Torn = "torn" // some of its pages are on disk, but not the header that refers to them
	Kept = "kept" // the append is on disk
)

// Damages of a cache.
const (
	Truncated = "truncated"
	Flipped   = "flipped"
	Older     = "older"
	Missing   = "missing"
)

// Fault is one fault. The kind determines which fields have a meaning.
type Fault struct {
	Kind   FaultKind
	Member int           // all but loss and delay; of a cut: the member that is cut off
	At     time.Duration // begin
	For    time.Duration // loss, delay, cut, full: duration. crash, stop: time until the next start

	Append int    // crash: the member's append at which it happens, counted from At; 0: at a time
	State  string // crash at an append: what is on disk; cache: the damage
	Part   int    // crash: number of outputs that leave the member; loss: probability in per mille; cache: place in per mille

	Jump time.Duration // clock: the jump; delay: maximum delay
}

// Schedule is one run of a campaign.
type Schedule struct {
	Seed    uint64
	Task    string // one of Tasks
	Members []int  // numbers of the members that take part
	Faults  []Fault
}

// Times of a run. All faults end before Calm.
const (
	faultsBegin = 20 * time.Second
	faultsEnd   = 6 * time.Minute
	maxOutage   = 90 * time.Second

	// Calm is the time at which the last fault has ended and all members run.
	Calm = faultsEnd + maxOutage + 30*time.Second
	// Settling is the time after Calm within which shares are delivered.
	Settling = 3 * time.Minute
)

// mixture lists the kinds of tasks of consecutive seeds. Those that take longer occur once.
var mixture = []string{
	taskDefault, taskFTS, taskPrivate, taskThreshold, taskSum, taskAggregate, taskFair, taskFTS, taskSpent, taskSum,
}

// Generate returns the schedule of a seed.
func Generate(seed uint64) Schedule {
	rng := random.SeedOf(seed).Stream("campaign", 0)
	s := Schedule{Seed: seed, Task: mixture[seed%uint64(len(mixture))]}
	for i := range rosterOf(s.Task) {
		s.Members = append(s.Members, i)
	}
	begin, end := faultsBegin, faultsEnd
	if rng.IntN(2) == 0 { // faults soon after each other
		begin = between(rng, faultsBegin, faultsEnd-maxOutage)
		end = begin + between(rng, 10*time.Second, maxOutage)
	}
	count := 2 + rng.IntN(9)
	if rng.IntN(4) == 0 {
		count += rng.IntN(20)
	}
	for range count {
		f := draw(rng, len(s.Members), begin, end)
		if s.Faults = append(s.Faults, f); (f.Kind == Loss || f.Kind == Cut) && rng.IntN(2) == 0 {
			// What a member has sent may be known only to itself when it crashes.
			crash := Fault{Kind: Crash, Member: f.Member, At: f.At + between(rng, 0, f.For), For: between(rng, time.Second, maxOutage/2)}
			if f.Kind == Loss {
				crash.Member = rng.IntN(len(s.Members))
			}
			crash.Append, crash.State, crash.Part = 1+rng.IntN(8), Kept, rng.IntN(5)
			s.Faults = append(s.Faults, crash)
		}
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return s
}

// draw returns a random fault. Half of them are crashes.
func draw(rng *rand.Rand, members int, begin, end time.Duration) Fault {
	kinds := append(FaultKinds(), Crash, Crash, Crash, Crash, Crash, Cache)
	f := Fault{Kind: kinds[rng.IntN(len(kinds))], At: between(rng, begin, end)}
	if f.Kind != Loss && f.Kind != Delay {
		f.Member = rng.IntN(members)
	}
	switch f.Kind {
	case Loss:
		f.For, f.Part = between(rng, time.Second, maxOutage), 50+rng.IntN(951)
	case Delay:
		f.For, f.Jump = between(rng, time.Second, maxOutage), between(rng, time.Second, 20*time.Second)
	case Cut, Full:
		f.For = between(rng, time.Second, maxOutage)
	case Clock:
		jumps := []time.Duration{10 * time.Second, 2 * time.Minute, time.Hour, 30 * time.Hour, 100 * 24 * time.Hour}
		f.Jump = jumps[rng.IntN(len(jumps))]
		if rng.IntN(2) == 0 {
			f.Jump = -f.Jump
		}
	case Stop:
		f.For = between(rng, time.Second, maxOutage/2)
	case Cache:
		f.State = []string{Truncated, Flipped, Older, Missing}[rng.IntN(4)]
		f.Part = rng.IntN(1000)
	case Crash:
		f.For, f.Part = between(rng, time.Second, maxOutage/2), rng.IntN(5)
		if rng.IntN(4) > 0 {
			if f.Append = 1 + rng.IntN(8); rng.IntN(4) == 0 {
				f.At = 0 // during the first starts
			}
			f.State = []string{Lost, Torn, Kept, Kept}[rng.IntN(4)]
		}
	}
	return f
}

func between(rng *rand.Rand, low, high time.Duration) time.Duration {
	return (low + time.Duration(rng.Int64N(int64(high-low)))).Round(time.Millisecond)
}

// String returns the schedule as text, which Parse reads.
func (s Schedule) String() string {
	members := make([]string, len(s.Members))
	for i, m := range s.Members {
		members[i] = strconv.Itoa(m)
	}
	text := fmt.Sprintf("campaign seed=%d task=%s members=%s\n", s.Seed, s.Task, strings.Join(members, ","))
	for _, f := range s.Faults {
		text += f.String() + "\n"
	}
	return text
}

// String returns one line of the text of a schedule.
func (f Fault) String() string {
	text := string(f.Kind)
	field := func(name string, value any, set bool) {
		if set {
			text += fmt.Sprintf(" %s=%v", name, value)
		}
	}
	field("member", f.Member, f.Kind != Loss && f.Kind != Delay)
	field("at", f.At, f.At != 0)
	field("for", f.For, f.For != 0)
	field("append", f.Append, f.Append != 0)
	field("state", f.State, f.State != "")
	field("part", f.Part, f.Part != 0)
	field("jump", f.Jump, f.Jump != 0)
	return text
}

// Parse is the inverse of Schedule.String.
func Parse(text string) (s Schedule, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		var f Fault
		if words[0] == "campaign" {
			err = parse(words[1:], map[string]func(string) error{
				"seed":    func(v string) (err error) { s.Seed, err = strconv.ParseUint(v, 10, 64); return err },
				"task":    func(v string) error { s.Task = v; return nil },
				"members": func(v string) (err error) { s.Members, err = parseMembers(v); return err },
			})
		} else {
			f, err = parseFault(words)
			s.Faults = append(s.Faults, f)
		}
		if err != nil {
			return Schedule{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return s, s.validate()
}

func parseMembers(text string) (members []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		m, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

func parseFault(words []string) (f Fault, err error) {
	f.Kind = FaultKind(words[0])
	if !slices.Contains(FaultKinds(), f.Kind) {
		return f, fmt.Errorf("fault %q, expected one of %v", words[0], FaultKinds())
	}
	number := func(to *int) func(string) error {
		return func(v string) (err error) { *to, err = strconv.Atoi(v); return err }
	}
	duration := func(to *time.Duration) func(string) error {
		return func(v string) (err error) { *to, err = time.ParseDuration(v); return err }
	}
	return f, parse(words[1:], map[string]func(string) error{
		"member": number(&f.Member), "append": number(&f.Append), "part": number(&f.Part),
		"at": duration(&f.At), "for": duration(&f.For), "jump": duration(&f.Jump),
		"state": func(v string) error { f.State = v; return nil },
	})
}

// parse calls the function of each word of the form key=value.
func parse(words []string, keys map[string]func(string) error) error {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		set, known := keys[key]
		if !known {
			return fmt.Errorf("unknown key %q", key)
		}
		if err := set(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func (s Schedule) validate() error {
	if !slices.Contains(Tasks(), s.Task) {
		return fmt.Errorf("task %q, expected one of %v", s.Task, Tasks())
	}
	if len(s.Members) == 0 || !slices.IsSorted(s.Members) || s.Members[0] < 0 || s.Members[len(s.Members)-1] >= rosterOf(s.Task) {
		return fmt.Errorf("members %v, expected sorted numbers from 0 to %d", s.Members, rosterOf(s.Task)-1)
	}
	return nil
}
