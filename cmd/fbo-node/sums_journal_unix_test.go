//go:build unix

package main_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// recordDealt is the kind of the record that a contribution to a sum leaves, after
// its version and before the round.
const recordDealt = 2

// journalOfSums is what a node's journal says about sums.
type journalOfSums struct {
	agent.History
	fitted *agent.FitRecord
	sums   map[int][]string // the records of each round's sum; a second one would count twice
	dealt  map[int]int      // how often the node has contributed to a round
	spent  map[uint64]int   // how often a trial is in a contribution to sums without noise
}

// readJournalOfSums reads a file that may be written to: what is the same before
// and after is what was there in between, as a power cut would leave it.
func readJournalOfSums(path string) (journalOfSums, error) {
	copied, err := os.CreateTemp("", "fbo")
	if err != nil {
		return journalOfSums{}, err
	}
	defer os.Remove(copied.Name())
	defer copied.Close()
	for attempt := 0; ; attempt++ {
		before, err := os.ReadFile(path)
		if err != nil {
			return journalOfSums{}, err
		}
		after, err := os.ReadFile(path)
		switch {
		case err != nil:
			return journalOfSums{}, err
		case bytes.Equal(before, after):
			if err := os.WriteFile(copied.Name(), before, 0o600); err != nil {
				return journalOfSums{}, err
			}
			return parseJournalOfSums(copied.Name())
		case attempt > 1000:
			return journalOfSums{}, fmt.Errorf("%s never rests", path)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func parseJournalOfSums(path string) (journalOfSums, error) {
	j := journalOfSums{sums: map[int][]string{}, dealt: map[int]int{}, spent: map[uint64]int{}}
	opened, err := journal.OpenReadOnly(path, time.Second)
	if err != nil {
		return j, err
	}
	defer opened.Close()
	tasks, err := opened.Tasks()
	if err != nil || len(tasks) == 0 {
		return j, err
	}
	log, err := opened.Log(tasks[0])
	if err != nil {
		return j, err
	}
	var records []agent.Record
	if err := log.Replay(func(entry journal.Entry) error {
		record, err := agent.DecodeRecord(entry.Data)
		records = append(records, record)
		return err
	}); err != nil {
		return j, err
	}
	for _, r := range records {
		if r.Fit != nil {
			j.fitted = r.Fit
		}
		if r.Note != nil && (r.Note.Exchange == protocol.AggregateKind || r.Note.Exchange == sums.Kind) {
			if err := j.note(r.Note.Data); err != nil {
				return j, err
			}
		}
	}
	j.History, err = agent.ReadHistory(records, all.Strategies())
	return j, err
}

func (j *journalOfSums) note(data []byte) error {
	switch body := data[1:]; data[0] {
	case 'a':
		var s struct{ Round int }
		if err := json.Unmarshal(body, &s); err != nil {
			return err
		}
		j.sums[s.Round] = append(j.sums[s.Round], string(body))
	case 'd':
		var d struct{ Trials []uint64 }
		if err := json.Unmarshal(body, &d); err != nil {
			return err
		}
		for _, trial := range d.Trials {
			j.spent[trial]++
		}
	case 's':
		if body[1] == recordDealt {
			j.dealt[int(binary.BigEndian.Uint64(body[2:10]))]++
		}
	}
	return nil
}

// check holds what every journal of a fleet must fulfil against the task, and
// returns the sums that anybody knows, by round.
func (f *fleet) check(t *testing.T) map[int]ftsde.Sum {
	t.Helper()
	terms, err := ledger.NewTerms(f.task)
	if err != nil {
		t.Fatal(err)
	}
	known := map[int]ftsde.Sum{}
	text := map[int]string{}
	for _, n := range f.nodes {
		opened, err := parseJournalOfSums(filepath.Join(n.dir, store.JournalFile)) // fails while the node runs
		if err != nil {
			t.Fatal(err)
		}
		contributed := 0
		for round, times := range opened.dealt {
			contributed += times
			if times != 1 {
				t.Errorf("%s contributed %d times to round %d", n.id, times, round)
			}
		}
		if s := opened.Spent; contributed > s.Planned || s.Released != contributed || s.Refused != "" || n.contributions() > contributed {
			t.Errorf("%s contributed to %d rounds and announced %d; the ledger says %+v", n.id, contributed, n.contributions(), *s)
		}
		for round, records := range opened.sums {
			if len(records) != 1 {
				t.Errorf("%s has the sum of round %d %d times", n.id, round, len(records))
			}
			for _, record := range records {
				if text[round] == "" {
					text[round] = record
				}
				if record != text[round] {
					t.Errorf("%s has another sum of round %d:\n%s\nthan the others:\n%s", n.id, round, record, text[round])
				}
				var s ftsde.Sum
				decode(t, record, &s)
				known[round] = s
			}
		}
	}
	for round, s := range known {
		f.checkSum(t, round, s, terms)
	}
	return known
}

// checkSum sees to it that enough nodes have added noise, and that no average is
// longer than honest ones can be.
func (f *fleet) checkSum(t *testing.T, round int, s ftsde.Sum, terms ledger.Terms) {
	t.Helper()
	dealt := 0
	for _, n := range f.nodes {
		dealt += n.journal(t).dealt[round]
	}
	if least := f.task.Privacy.Aggregate.MinContributors; s.Contributors < least || s.Contributors > dealt {
		t.Errorf("round %d: a sum of %d nodes, %d are needed and %d have contributed", round, s.Contributors, least, dealt)
	}
	if f.task.Strategy.Settings.(ftsde.Settings).Cells > 1 {
		return
	}
	noise := terms.Sigma / math.Sqrt(float64(s.Contributors))
	if math.Abs(s.Noise[0]-noise) > 1e-9*noise {
		t.Errorf("round %d: noise of deviation %g, of %d nodes it is %g", round, s.Noise[0], s.Contributors, noise)
	}
	// The norm of the noise exceeds this once in a billion times.
	if norm, most := norm(s.Weights[0]), terms.Clip+noise*(math.Sqrt(float64(len(s.Weights[0])))+6); norm > most {
		t.Errorf("round %d: an average of norm %g, at most %g", round, norm, most)
	}
}

func norm(v []float64) float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	return math.Sqrt(square)
}
