package sim_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// post is an exchange that notes what comes, and sends what and when the test
// says. A second is a tick of its timer.
type post struct {
	office *office
	member int
	second int
}

// office is what the exchanges of a run have in common.
type office struct {
	ids  []peer.ID
	send func(from, second int) []strategy.Send
	got  []arrival
}

type arrival struct {
	from, to, second int
	text             string
}

func (*post) Name() string                       { return "post" }
func (*post) Decode(payload []byte) (any, error) { return payload, nil }

func (p *post) Step(view strategy.View, in strategy.Input) (outputs []strategy.Output) {
	switch in := in.(type) {
	case strategy.Start:
		p.office.ids[p.member] = view.Self
	case strategy.Timer:
		p.second++
		for _, message := range p.office.send(p.member, p.second) {
			outputs = append(outputs, message)
		}
	case strategy.Direct:
		p.office.got = append(p.office.got, arrival{slices.Index(p.office.ids, in.From), p.member, p.second, string(in.Data)})
		return nil
	default:
		return nil
	}
	return append(outputs, strategy.SetTimer{Name: "second", After: time.Second})
}

// open puts the exchange into a scenario of members that run for a while.
func open(s *sim.Scenario, send func(o *office, from, second int) []strategy.Send) *office {
	o := &office{ids: make([]peer.ID, len(s.Members))}
	o.send = func(from, second int) []strategy.Send { return send(o, from, second) }
	for i := range s.Members {
		s.Members[i].Exchanges = []strategy.Exchange{presence.New(), &post{office: o, member: i}}
	}
	return o
}

// One message of member 0 to member 1, sent in second 10.
func TestWhatBecomesOfADirectMessage(t *testing.T) {
	const never = -1
	for name, test := range map[string]struct {
		change         func(s *sim.Scenario)
		earliest, last int // second of its arrival
	}{
		"at once":      {func(*sim.Scenario) {}, 10, 10},
		"slow network": {func(s *sim.Scenario) { s.Network.Delay = 25 * time.Second }, 34, 35},
		"jitter":       {func(s *sim.Scenario) { s.Network.Jitter = 9 * time.Second }, 10, 19},
		"by degree":    {func(s *sim.Scenario) { s.Network.Degree = 1 }, 10, 10},
		"target lacks the sender's shares": {func(s *sim.Scenario) {
			s.Receives = func(receiver, author int) bool { return receiver != 1 || author != 0 }
		}, never, never},
		"sender lacks the target's shares": {func(s *sim.Scenario) {
			s.Receives = func(receiver, author int) bool { return receiver != 0 || author != 1 }
		}, 10, 10},
		"it is away":    {func(s *sim.Scenario) { s.Members[1].Offline = []sim.Span{{Until: 40 * time.Second}} }, 40, 65},
		"sender away":   {func(s *sim.Scenario) { s.Members[0].Offline = []sim.Span{{Until: 40 * time.Second}} }, 40, 65},
		"away for long": {func(s *sim.Scenario) { s.Members[1].Offline = []sim.Span{{Until: 80 * time.Second}} }, never, never},
		"cut": {func(s *sim.Scenario) {
			s.Network.Partitions = []sim.Partition{{Span: sim.Span{Until: 30 * time.Second}, Parts: 2}}
		}, 30, 55},
		"cut for good": {func(s *sim.Scenario) {
			s.Network.Partitions = []sim.Partition{{Span: sim.Span{Until: time.Hour}, Parts: 2}}
		}, never, never},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario(t, "ts", 3, 12)
			test.change(&s)
			o := open(&s, func(o *office, from, second int) []strategy.Send {
				if from != 0 || second != 10 {
					return nil
				}
				return []strategy.Send{{To: o.ids[1], Data: []byte("hello")}}
			})
			sender := run(t, s).Members[0]
			lost := 0
			if test.last == never {
				lost = 1
				if len(o.got) != 0 {
					t.Errorf("got %+v", o.got)
				}
			} else if len(o.got) != 1 || o.got[0] != (arrival{0, 1, o.got[0].second, "hello"}) ||
				o.got[0].second < test.earliest || o.got[0].second > test.last {
				t.Errorf("got %+v, want one in seconds %d to %d", o.got, test.earliest, test.last)
			}
			if sender.Direct != 1 || sender.DirectBytes != 5 || sender.DirectLost != lost {
				t.Errorf("%d messages of %d bytes, %d lost", sender.Direct, sender.DirectBytes, sender.DirectLost)
			}
		})
	}
}

// The seven attempts fail with the chance of one to the seventh power. Of 600
// messages at a loss of .7, 49.4 ± 6.7 are lost; the bounds are four deviations.
func TestDirectMessagesAreTriedAFewTimes(t *testing.T) {
	s := scenario(t, "ts", 2, 40)
	s.Network.Loss = 0.7
	o := open(&s, func(o *office, from, second int) []strategy.Send {
		if second > 300 {
			return nil
		}
		return []strategy.Send{{To: o.ids[1-from], Data: fmt.Append(nil, second)}}
	})
	result := run(t, s)
	lost := result.Members[0].DirectLost + result.Members[1].DirectLost
	if lost+len(o.got) != 600 {
		t.Errorf("%d lost and %d arrived of 600", lost, len(o.got))
	}
	mean := 600 * math.Pow(0.7, 7)
	if math.Abs(float64(lost)-mean) > 4*math.Sqrt(mean) {
		t.Errorf("%d lost, want %.0f ± %.0f", lost, mean, 4*math.Sqrt(mean))
	}
	once := map[arrival]bool{}
	disordered := 0
	for i, a := range o.got {
		a.second = 0
		if once[a] {
			t.Errorf("%+v came twice", a)
		}
		once[a] = true
		if i > 0 && a.from == o.got[i-1].from && a.text < o.got[i-1].text {
			disordered++
		}
	}
	if disordered == 0 {
		t.Error("all came in order")
	}
}

func TestDirectMessagesToNobody(t *testing.T) {
	s := scenario(t, "ts", 2, 4)
	o := open(&s, func(o *office, from, second int) []strategy.Send {
		if from != 0 || second != 3 {
			return nil
		}
		return []strategy.Send{{To: o.ids[0], Data: []byte("me")}, {To: "a stranger"}}
	})
	if sender := run(t, s).Members[0]; len(o.got) != 0 || sender.Direct != 2 || sender.DirectLost != 2 {
		t.Errorf("got %+v; %d sent, %d lost", o.got, sender.Direct, sender.DirectLost)
	}
}

func TestTooLongADirectMessageIsAFaultOfTheExchange(t *testing.T) {
	s := scenario(t, "ts", 2, 4)
	open(&s, func(o *office, from, second int) []strategy.Send {
		return []strategy.Send{{To: o.ids[1-from], Data: make([]byte, protocol.MaxDirectBytes+1)}}
	})
	if _, err := sim.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), "exchange post") {
		t.Errorf("the error is %v", err)
	}
}

// The receiver may keep and change what it gets, and the sender what it sent.
func TestDirectMessagesAreNotAliased(t *testing.T) {
	s := scenario(t, "ts", 2, 4)
	shared := []byte("as sent")
	o := open(&s, func(o *office, from, second int) []strategy.Send {
		if from != 0 || second != 3 {
			return nil
		}
		return []strategy.Send{{To: o.ids[1], Data: shared}}
	})
	s.Members[0].Objective = func(task.Design, uint64) float64 { shared[0] = 'X'; return 0 }
	s.Members[0].Duration = 2970 * time.Millisecond // it ends while the message is on its way
	run(t, s)
	if len(o.got) != 1 || o.got[0].text != "as sent" {
		t.Errorf("got %+v", o.got)
	}
}

// chatter is what every member says to every other every second.
func chatter(o *office, from, second int) (all []strategy.Send) {
	for to, id := range o.ids {
		if to != from {
			all = append(all, strategy.Send{To: id, Data: fmt.Append(nil, from, second)})
		}
	}
	return all
}

func TestDirectMessagesDoNotDependOnWorkers(t *testing.T) {
	s := scenario(t, "ts", 4, 8)
	s.Network.Jitter, s.Network.Loss = time.Second, 0.3
	s.Members[2].Offline = []sim.Span{{From: 20 * time.Second, Until: 50 * time.Second}}
	play := func() string {
		o := open(&s, chatter)
		result := text(t, run(t, s))
		return fmt.Sprint(result, o.got)
	}
	s.Workers = 1
	one := play()
	s.Workers = 3
	if again := play(); again != one {
		t.Error("other workers, other messages")
	}
	s.Seed = random.SeedOf(2)
	if other := play(); other == one {
		t.Error("another seed gives the same")
	}
}

// What happens to shares is the same whether there are direct messages or not.
func TestDirectMessagesDisturbNoShares(t *testing.T) {
	trials := func(direct bool) string {
		s := scenario(t, "peer-prior", 3, 10)
		s.Network.Jitter, s.Network.Loss = time.Second, 0.3
		o := &office{ids: make([]peer.ID, len(s.Members)), send: func(int, int) []strategy.Send { return nil }}
		if direct {
			o.send = func(from, second int) []strategy.Send { return chatter(o, from, second) }
		}
		for i := range s.Members {
			s.Members[i].Exchanges = []strategy.Exchange{presence.New(), peerprior.NewSharing(s.Task), &post{office: o, member: i}}
		}
		result := run(t, s)
		if direct != (len(o.got) > 0) {
			t.Fatalf("%d messages", len(o.got))
		}
		for i := range result.Members {
			m := &result.Members[i]
			m.Direct, m.DirectBytes, m.DirectLost = 0, 0, 0
		}
		return text(t, result)
	}
	if trials(false) != trials(true) {
		t.Error("direct messages change what becomes of shares")
	}
}
