package tsampling

import (
	"github.com/fbo-node/fbo/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// A Sharing under a promise of privacy releases draws with noise, at observations
// that are fixed beforehand, as long as its ledger has some left.

// dueAt is after how many observations a release is due.
func (s *Sharing) dueAt(release int) int {
	if s.spec.Mode == OneShot {
		return s.atLeast
	}
	return s.atLeast + (release-1)*s.spec.ShareEvery
}

// drawForRelease asks for the next release when it is due. Draws that were missed,
// since the peers had not told enough yet, are made up for.
func (s *Sharing) drawForRelease(view strategy.View) []strategy.Output {
	next := s.ledger.State().Released + 1
	if s.drawing || !s.ledger.Open() || view.Observations < s.dueAt(next) || !s.ledger.Trusted(presence.Of(view).Present) {
		return nil
	}
	s.drawing = true
	return []strategy.Output{strategy.Work{Name: "draw", Run: drawWeights}}
}

// release spends a release on the draw; the record of it goes before the share.
func (s *Sharing) release(weights protocol.Weights) []strategy.Output {
	noisy, number, record, err := s.ledger.Release(weights.Values)
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	payload, err := protocol.Weights{Observations: s.dueAt(number), Values: noisy, Release: number}.Encode()
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	ttl := concurrentTTL
	if s.spec.Mode == OneShot {
		ttl = oneShotTTL
	}
	return []strategy.Output{
		strategy.Record{Data: record},
		strategy.Publish{Payload: payload, TTL: ttl},
		strategy.Result{Value: s.ledger.State()},
	}
}

// echo looks whether the journal knows what peers hold of this node.
func (s *Sharing) echo(share strategy.Share) []strategy.Output {
	weights, ok := share.Value.(protocol.Weights)
	if !ok {
		return nil
	}
	record, reason := s.ledger.Echo(weights.Release)
	if record == nil {
		return nil
	}
	return []strategy.Output{
		strategy.Record{Data: record},
		strategy.Warn{Message: "this node shares nothing more: " + reason},
		strategy.Result{Value: s.ledger.State()},
	}
}

// stepPrivately is Step under a promise of privacy.
func (s *Sharing) stepPrivately(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		s.ledger.Replay(in.Data)
	case strategy.Start:
		return append([]strategy.Output{strategy.Result{Value: s.ledger.State()}}, s.drawForRelease(view)...)
	case strategy.CaughtUp:
		s.ledger.CaughtUp(in.Peer)
		return s.drawForRelease(view)
	case strategy.Told, strategy.Received:
		return s.drawForRelease(view)
	case strategy.Echo:
		return s.echo(in.Share)
	case strategy.WorkDone:
		s.drawing = false
		weights, ok := in.Result.(protocol.Weights)
		if !ok || !s.ledger.Open() {
			return nil
		}
		return append(s.release(weights), s.drawForRelease(view)...)
	}
	return nil
}
