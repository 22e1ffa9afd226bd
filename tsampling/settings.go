package tsampling

import (
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	defaultShareEvery = 1
	defaultShareAfter = 50 // t_n, the observations behind a peer's sample, in the experiments of Dai, Low and Jaillet (NeurIPS 2020)
	// MaxShareTrials is the maximum number of observations between two shares.
	MaxShareTrials = 10000
)

// Settings are the keys of a task file for strategy fts.
type Settings struct {
	// Mode is Concurrent or OneShot. With Concurrent, nodes share while they run. With OneShot, a
	// node shares once, as in the paper.
	Mode string
	// Schedule defines the probability p_t that a node's trial t uses its own surrogate.
	Schedule Schedule
	// ShareAfter is the number of observations after which a node shares in mode one-shot, 1 to
	// MaxShareTrials; 0 in mode concurrent.
	ShareAfter int
	// Message is the content of a share: WeightDraw, as in the paper, or Projection.
	Message string
	// Peers is P_N, the distribution over the peers whose samples a node uses.
	Peers PeerDistribution
	// ShareEvery is the number of observations between two shares in mode concurrent, 1 to
	// MaxShareTrials; 0 in mode one-shot.
	ShareEvery int
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	var f Settings
	f.Mode = s.Word("mode", Concurrent, Concurrent, OneShot)
	f.Schedule = ReadSchedule(s, InverseSqrt)
	f.Message = s.Word("message", WeightDraw, WeightDraw, Projection)
	f.Peers = readPeers(s)
	if f.Mode != OneShot {
		f.ShareEvery = s.Whole("share_every", defaultShareEvery, 1, MaxShareTrials)
	}
	if f.Mode != Concurrent {
		f.ShareAfter = s.Whole("share_after", defaultShareAfter, 1, MaxShareTrials)
	}
	switch f.Mode {
	case OneShot:
		s.Refuse("share_every", "mode: "+Concurrent)
	case Concurrent:
		s.Refuse("share_after", "mode: "+OneShot)
	}
	return f
}

// Keys implements task.StrategySettings.
func (f Settings) Keys() map[string]any {
	keys := map[string]any{"mode": f.Mode}
	f.Schedule.AddKeys(keys)
	f.Peers.addKeys(keys)
	if f.Message != WeightDraw {
		keys["message"] = f.Message
	}
	if f.Mode == OneShot {
		keys["share_after"] = f.ShareAfter
	} else {
		keys["share_every"] = f.ShareEvery
	}
	return keys
}

// Release implements task.Releaser.
func (f Settings) Release(t *task.Task) task.Release { return strategy.ReleaseOf(disclosures(), t) }
