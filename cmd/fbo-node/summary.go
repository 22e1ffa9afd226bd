package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// summary is what a run came to; printed by run --json as its last event.
type summary struct {
	Event       string          `json:"event"` // "summary"
	Task        string          `json:"task"`
	PeerID      string          `json:"peer_id"`
	Evaluations int             `json:"evaluations"` // by this node, with an outcome or failed
	Failed      int             `json:"failed"`
	Imported    int             `json:"imported"`
	Best        *strategy.Trial `json:"best"`

	PeerQueries int `json:"peer_queries"` // designs that came from peers' samples
	PeerRecords int `json:"peer_records"` // those of them that were the best so far when they ended
	Queries     int `json:"queries"`      // designs after the random start

	SharesSent     int   `json:"shares_sent"`
	SharesReceived int   `json:"shares_received"`
	BytesSent      int64 `json:"bytes_sent"`
	BytesReceived  int64 `json:"bytes_received"`
}

func (p *progress) summary(ctx context.Context, session *node.Session) error {
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	trials, err := session.Trials(ctx)
	if err != nil {
		return err
	}
	s := summarise(p.task, trials)
	s.PeerID, s.Best = status.PeerID.String(), status.Best
	s.SharesSent, s.SharesReceived = status.SharesSent, status.SharesReceived
	s.BytesSent, s.BytesReceived = status.BytesSent, status.BytesReceived
	p.say(s, "%s", s.text())
	return nil
}

func summarise(t *task.Task, trials []strategy.Trial) summary {
	s := summary{Event: "summary", Task: t.ID().String()}
	for _, trial := range trials {
		if trial.Why.Source == strategy.Imported {
			s.Imported++
			continue
		}
		switch trial.State {
		case strategy.Failed:
			s.Failed++
			s.Evaluations++
		case strategy.Done:
			s.Evaluations++
		}
		if trial.Why.Source != strategy.Initial {
			s.Queries++
		}
		if trial.Why.Source == strategy.Peer {
			s.PeerQueries++
			if record(t, trials, trial) {
				s.PeerRecords++
			}
		}
	}
	return s
}

// record tells whether a trial was better than everything before it.
func record(t *task.Task, trials []strategy.Trial, trial strategy.Trial) bool {
	if trial.State != strategy.Done {
		return false
	}
	for _, other := range trials {
		if other.ID < trial.ID && other.State == strategy.Done && !better(t, trial.Outcome.Value, other.Outcome.Value) {
			return false
		}
	}
	return true
}

func (s summary) text() string {
	if s.Best == nil {
		return fmt.Sprintf("no result: %d evaluations, all failed", s.Evaluations)
	}
	lines := []string{
		fmt.Sprintf("best %s in %d evaluations (%d failed): trial %d, %s  [%s]",
			valueText(*s.Best), s.Evaluations, s.Failed, s.Best.ID, s.Best.Design, s.Best.Why),
		s.help(),
		fmt.Sprintf("this run sent %d shares and received %d; %s sent on the network in all", s.SharesSent, s.SharesReceived, byteText(s.BytesSent)),
	}
	return strings.Join(lines, "\n")
}

// help says whether peers helped.
func (s summary) help() string {
	switch {
	case s.PeerQueries == 0:
		return fmt.Sprintf("peers: none of the %d designs after the random start came from a peer", s.Queries)
	case s.PeerRecords == 0:
		return fmt.Sprintf("peers: %d of the %d designs after the random start came from peers; none of these set a new best", s.PeerQueries, s.Queries)
	}
	also := ""
	if s.Best.Why.Source == strategy.Peer {
		also = ", the final one among them"
	}
	return fmt.Sprintf("peers: %d of the %d designs after the random start came from peers; %d of these set a new best%s", s.PeerQueries, s.Queries, s.PeerRecords, also)
}

func byteText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
