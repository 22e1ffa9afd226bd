package experiment

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/sim"
)

// faulty has a slow agent, a cut, and every third delivery failing.
func faulty(p *Plan) {
	p.Agents, p.Slow = 4, 3
	p.Network = sim.Network{Delay: 50 * time.Millisecond, Jitter: time.Second, Loss: 0.3, Partitions: cut(15, 45)}
}

// Whatever goes wrong with the others, everybody evaluates what was asked for.
func TestEveryAgentFinishesAmongFaults(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		faulty(p)
		p.Strategies = specsOf(t, "ts,logei,ucb,fts,peer-prior,pooled,random,density,constrained-gp,constrained-gp:threshold=open,"+
			"consensus,consensus:weights=leader,consensus:weights=metropolis,consensus:mode=asynchronous")
	})
	for name, r := range playAll(t, p, drawn(t, p)) {
		if len(r.Members) != p.Agents || !r.complete(p.Evaluations, len(p.Checkpoints)) {
			t.Errorf("%s: %+v", name, r.Members)
		}
	}
}

// With the same designs, an agent that hears nobody does not notice that anything
// is wrong; one that hears others does.
func TestFaultsConcernWhoeverListens(t *testing.T) {
	strategies := func(p *Plan) { p.Agents, p.Strategies = 4, specsOf(t, "ts,fts:schedule=constant,own_probability=0") }
	whole := tiny(t, strategies)
	f := drawn(t, whole)
	want := playAll(t, whole, f)
	for name, change := range map[string]func(p *Plan){
		"slow": func(p *Plan) { p.Slow = 3 },
		"cut":  func(p *Plan) { p.Network.Partitions = cut(0, 1000) },
	} {
		got := playAll(t, tiny(t, func(p *Plan) { strategies(p); change(p) }), f)
		if !reflect.DeepEqual(got["ts"], want["ts"]) {
			t.Errorf("%s: ts became %+v", name, got["ts"])
		}
		const fts = "fts:schedule=constant,own_probability=0"
		if reflect.DeepEqual(got[fts].Members, want[fts].Members) {
			t.Errorf("%s: fts stays as it was", name)
		}
	}
}

func TestTheLastAgentIsTheSlowOne(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Slow, p.Family = 2.5, familyOf(t, "gp:d=1,newcomer=true") })
	f := drawn(t, p)
	own, err := p.template(p.Strategies[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{10 * time.Second, 10 * time.Second, 25 * time.Second} {
		if m, _ := p.member(i, p.Strategies[0], own, f, func() {}); m.Duration != want {
			t.Errorf("an evaluation of agent %d lasts %v, want %v", i, m.Duration, want)
		}
	}
	if !f.Members[2].Late {
		t.Error("the newcomer is not the last one: it would come before the slow one has ended")
	}
}

func TestReportTellsOfFaults(t *testing.T) {
	p := tiny(t, faulty)
	r := p.report([]sample{{records: []Record{{Members: []MemberRecord{{}}}}}}, "")
	var b bytes.Buffer
	r.writeCaption(&b)
	for _, want := range []string{"loss 30 %, the last agent 3 times as slow, cut in halves from 15s to 45s."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the caption does not say %q:\n%s", want, b.String())
		}
	}
	text, err := json.Marshal(r.Network)
	want := `{"delay_seconds":0.05,"jitter_seconds":1,"loss":0.3,"degree":0,"slow":3,"partitions":[{"from_seconds":15,"until_seconds":45,"parts":2}]}`
	if err != nil || string(text) != want {
		t.Errorf("%v, JSON %s, want %s", err, text, want)
	}
}
