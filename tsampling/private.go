package tsampling

import (
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/exchange/presence"
)

// A Sharing under a promise of privacy releases draws with noise, at observations
// that are fixed beforehand, as long as its ledger has some left.

// dueAt is after how many observations a release is due.
func (s *Sharing) dueAt(release int) int {
	if s.settings.Mode == OneShot {
		return s.atLeast
	}
	return s.atLeast + (release-1)*s.settings.ShareEvery
}

// drawForRelease asks for the next release when it is due, one at most for each
// observation: releases that were missed, since the peers had not told enough yet,
// or that imported trials made due all at once, would cost as much as new ones and
// tell nothing new.
func (s *Sharing) drawForRelease(view strategy.View) []strategy.Output {
	next := s.ledger.State().Released + 1
	if s.drawing || view.Observations <= s.drawnAt || !s.ledger.Open() || view.Observations < s.dueAt(next) {
		return nil
	}
	if present := presence.Of(view).Present; !s.ledger.Trusted(present) {
		return warning(s.ledger.Waits(present))
	}
	s.drawing, s.drawnAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: "draw", Run: drawWeights}}
}

func warning(message string) []strategy.Output {
	if message == "" {
		return nil
	}
	return []strategy.Output{strategy.Warn{Message: message}}
}

// release spends a release on the draw; the record of it goes before the share.
// Where the surrogate could not be fitted there is no draw; silence would tell that,
// so noise on zeros goes out.
func (s *Sharing) release(draw []float64) []strategy.Output {
	if draw == nil {
		draw = make([]float64, s.features)
	}
	noisy, number, record, err := s.ledger.Release(draw)
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	payload, err := protocol.Weights{Observations: s.dueAt(number), Values: noisy, Release: number}.Encode()
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: err.Error()}}
	}
	ttl := concurrentTTL
	if s.settings.Mode == OneShot {
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
	switch value := share.Value.(type) {
	case protocol.Weights:
		return s.carry(s.ledger.Echo(value.Release))
	case protocol.Receipt:
		return s.carry(s.ledger.Told(value))
	}
	return nil
}

// carry carries out what the ledger has found; the record is nil where nothing is new.
func (s *Sharing) carry(record []byte, reason string) []strategy.Output {
	if record == nil {
		return nil
	}
	out := []strategy.Output{strategy.Record{Data: record}, strategy.Result{Value: s.ledger.State()}}
	if reason != "" {
		out = append(out, strategy.Warn{Message: "this node shares nothing more: " + reason})
	}
	return out
}

// stepPrivately is Step under a promise of privacy. Whatever happened, the receipt goes
// out behind the records that it speaks of.
func (s *Sharing) stepPrivately(view strategy.View, in strategy.Input) []strategy.Output {
	out := s.account(view, in)
	if _, replays := in.(strategy.Replayed); replays {
		return out
	}
	if payload := s.ledger.Announce(); payload != nil {
		out = append(out, strategy.Receipt{Payload: payload})
	}
	return out
}

func (s *Sharing) account(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		s.ledger.Replay(in.Data)
	case strategy.Start:
		return append([]strategy.Output{strategy.Result{Value: s.ledger.State()}}, s.drawForRelease(view)...)
	case strategy.CaughtUp:
		s.ledger.CaughtUp(in.Peer)
		return s.drawForRelease(view)
	case strategy.Told:
		return s.drawForRelease(view)
	case strategy.Echo:
		return append(s.echo(in.Share), s.drawForRelease(view)...)
	case strategy.Contradicted:
		return s.carry(s.ledger.Contradicted(in.Contradiction))
	case strategy.WorkDone:
		s.drawing = false
		if !s.ledger.Open() {
			return nil // refused while the draw was computed
		}
		draw, _ := in.Result.(protocol.Weights)
		return append(s.release(draw.Values), s.drawForRelease(view)...)
	}
	return nil
}
