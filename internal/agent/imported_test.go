package agent

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// TestImportAcceptsAllOrNone imports shares of a peer, among them one that no honest node sends.
func TestImportAcceptsAllOrNone(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	peer, other := fbotest.Key(t, 50), fbotest.Key(t, 51)
	good := say(t, d, peer, "weights", 0, protocol.Stamp{Epoch: 2, Sequence: 3}, 3*time.Hour, weights(t, 3, 1))
	bad := say(t, d, other, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, 3*time.Hour, []byte("no weights"))
	if counts, err := d.agent.ImportShares(d.now, []ImportedShare{{Share: good}, {Share: bad}}); err == nil || counts != (ImportCounts{}) {
		t.Errorf("a malformed share: %+v, %v", counts, err)
	}
	if d.agent.Holds(good) {
		t.Error("a share beside a malformed one is stored")
	}
	older := say(t, d, peer, "weights", 0, protocol.Stamp{Epoch: 2, Sequence: 2}, 3*time.Hour, weights(t, 2, 1))
	for _, step := range []struct {
		share protocol.Share
		age   time.Duration
		want  ImportCounts
	}{
		{good, 4 * time.Hour, ImportCounts{Expired: 1}},
		{good, 2 * time.Hour, ImportCounts{New: 1}},
		{good, 0, ImportCounts{Known: 1}},
		{older, 0, ImportCounts{Older: 1}},
	} {
		counts, err := d.agent.ImportShares(d.now, []ImportedShare{{Share: step.share, Age: step.age}})
		if err != nil || counts != step.want {
			t.Errorf("import %v of age %v: %+v, %v; want %+v", step.share.Stamp, step.age, counts, err, step.want)
		}
	}
	d.carryOut()
	if left := d.agent.shares.held[good.Key].expires.Sub(d.now); left != time.Hour {
		t.Errorf("the share expires in %v, want 1h: the file has its age", left)
	}
	contradicting := say(t, d, peer, "weights", 0, protocol.Stamp{Epoch: 2, Sequence: 3}, 3*time.Hour, weights(t, 9, 1))
	counts, err := d.agent.ImportShares(d.now, []ImportedShare{{Share: contradicting}})
	if err != nil || counts != (ImportCounts{Ignored: 1}) {
		t.Errorf("a contradicting share: %+v, %v", counts, err)
	}
}

// TestOwnSharesThatComeBackChangeNothing imports an agent's own shares, the newest and an older one.
func TestOwnSharesThatComeBackChangeNothing(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	var own []ImportedShare
	value := 0.0
	for range 3 {
		d.run(1, func(task.Design) float64 { value++; return value })
		exported, omitted := d.agent.ExportedShares(d.now, false, 64)
		if omitted != 0 {
			t.Fatalf("%d authors omitted", omitted)
		}
		for _, e := range exported {
			share, err := protocol.Open(e.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			own = append(own, ImportedShare{Share: share, Age: time.Minute})
		}
	}
	if len(own) < 2 {
		t.Fatalf("the agent has exported %d shares", len(own))
	}
	epoch, stamp, held := d.agent.epoch, d.agent.sequence, d.agent.OwnShares(d.now)
	counts, err := d.agent.ImportShares(d.now, own)
	if err != nil || counts != (ImportCounts{Own: len(own)}) {
		t.Fatalf("%+v, %v", counts, err)
	}
	d.carryOut()
	if d.agent.epoch != epoch || d.agent.sequence != stamp || d.agent.OwnShares(d.now) != held {
		t.Errorf("stamp %d.%d, before %d.%d", d.agent.epoch, d.agent.sequence, epoch, stamp)
	}
}
