package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Record is one fact or decision for the journal. Exactly one field is set.
type Record struct {
	Task   *TaskRecord   `json:"task,omitempty"`
	Epoch  *EpochRecord  `json:"epoch,omitempty"`
	Trial  *TrialRecord  `json:"trial,omitempty"`
	Offer  *OfferRecord  `json:"offer,omitempty"`
	Return *ReturnRecord `json:"return,omitempty"`
	Tell   *TellRecord   `json:"tell,omitempty"`
	Fail   *FailRecord   `json:"fail,omitempty"`
	Fit    *FitRecord    `json:"fit,omitempty"`
	Sent   *SentRecord   `json:"sent,omitempty"`
	Note   *NoteRecord   `json:"note,omitempty"`
	Reply  *ReplyRecord  `json:"reply,omitempty"`
	Stop   *StopRecord   `json:"enough,omitempty"`

	Enqueue   *EnqueueRecord   `json:"enqueue,omitempty"`
	Withdraw  *WithdrawRecord  `json:"withdraw,omitempty"`
	TrialNote *TrialNoteRecord `json:"trial_note,omitempty"`
}

type (
	// TaskRecord holds the canonical form of the task, without which the other records cannot be
	// read.
	TaskRecord struct {
		Canonical json.RawMessage `json:"canonical"`
	}
	// EpochRecord states that the agent started, or adopted a larger epoch.
	EpochRecord struct {
		Epoch uint64 `json:"epoch"`
	}
	// TrialRecord is the decision to evaluate a design; it includes the first offer to an evaluator
	// unless the trial was imported.
	TrialRecord struct {
		ID       uint64            `json:"id"`
		Design   json.RawMessage   `json:"parameters"`
		Why      strategy.Why      `json:"why"`
		Time     time.Time         `json:"time"`
		Imported *strategy.Outcome `json:"imported,omitempty"`
		Aside    int               `json:"aside,omitempty"`  // number of first trials that are set aside from here on
		Queued   uint64            `json:"queued,omitempty"` // the queued design that it evaluates
		Claim
	}
	// OfferRecord offers a trial again after its evaluation was interrupted.
	OfferRecord struct {
		ID   uint64    `json:"id"`
		Time time.Time `json:"time"`
		Claim
	}
	// ReturnRecord withdraws an offer that was not accepted. It does not count as an attempt,
	// unless a lease has ended.
	ReturnRecord struct {
		ID      uint64 `json:"id"`
		Expired bool   `json:"expired,omitempty"`
	}
	// TellRecord ends a trial with an outcome.
	TellRecord struct {
		ID      uint64           `json:"id"`
		Outcome strategy.Outcome `json:"outcome"`
		Gain    *float64         `json:"peer_gain,omitempty"` // Trial.PeerGain
		Time    time.Time        `json:"time"`
	}
	// FailRecord ends a trial without one.
	FailRecord struct {
		ID     uint64    `json:"id"`
		Reason string    `json:"reason"`
		Time   time.Time `json:"time"`
	}
	// FitRecord is a decision about an output's hyperparameters; it is never taken again.
	FitRecord struct {
		Output          task.Output               `json:"output,omitempty"` // empty: the objective
		Observations    int                       `json:"observations"`
		Hyperparameters surrogate.Hyperparameters `json:"hyperparameters"`
	}
	// SentRecord holds the exact bytes of a published share.
	SentRecord struct {
		Kind     string    `json:"kind"`
		Slot     uint64    `json:"slot"`
		Envelope []byte    `json:"envelope"`
		Time     time.Time `json:"time"`
	}
	// NoteRecord is a fact of an exchange.
	NoteRecord struct {
		Exchange string `json:"exchange"`
		Data     []byte `json:"data"`
	}
	// StopRecord states that a run ended because the bound on the regret of its best design was
	// small enough. Only the newest is kept.
	StopRecord struct {
		Observations int       `json:"observations"` // behind the bound
		Bound        float64   `json:"bound"`        // of the regret, in the objective's units
		Regret       float64   `json:"regret"`       // the requested regret
		Time         time.Time `json:"time"`
	}
	// EnqueueRecord adds a design of the user to the queue.
	EnqueueRecord struct {
		ID     uint64          `json:"id"` // 1, 2, …
		Design json.RawMessage `json:"parameters"`
		Time   time.Time       `json:"time"`
	}
	// WithdrawRecord removes a design from the queue.
	WithdrawRecord struct {
		ID uint64 `json:"id"`
	}
	// TrialNoteRecord sets the user's note on a trial. Only the newest of a trial is kept.
	TrialNoteRecord struct {
		ID   uint64 `json:"id"`
		Text string `json:"text"` // empty: none
	}
	// ReplyRecord is the result of a request with a key. Only the newest MaxReplies are kept.
	ReplyRecord struct {
		Number uint64 `json:"number"` // 1, 2, …
		Key    string `json:"key"`
		Digest string `json:"digest"`
		Reply
	}
)

// Key returns the key of a record. It is empty for records that are kept forever; others replace
// the earlier record with the same key.
func (r Record) Key() string {
	switch {
	case r.Task != nil:
		return "task"
	case r.Epoch != nil:
		return "epoch"
	case r.Fit != nil:
		return fitName(r.Fit.Output)
	case r.Sent != nil:
		// Only the highest slots of each kind are held; a newer one replaces one that is not held.
		return "sent/" + r.Sent.Kind + "/" + strconv.FormatUint(r.Sent.Slot%maxSlots, 10)
	case r.Reply != nil:
		return r.Reply.key()
	case r.Stop != nil:
		return "enough"
	case r.TrialNote != nil:
		return "trial_note/" + strconv.FormatUint(r.TrialNote.ID, 10)
	}
	return ""
}

// Encode returns the record as JSON.
func (r Record) Encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return data, nil
}

// DecodeRecord is the inverse of Encode. Unknown fields are errors: a record of a newer version
// must not be read in part.
func DecodeRecord(data []byte) (Record, error) {
	var r Record
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Record{}, errors.New("decode record: more than one value")
	}
	if n := r.fields(); n != 1 {
		return Record{}, fmt.Errorf("decode record: %d kinds in one record, want 1", n)
	}
	return r, nil
}

func (r Record) fields() int {
	n := 0
	for _, set := range []bool{r.Task != nil, r.Epoch != nil, r.Trial != nil, r.Offer != nil, r.Return != nil, r.Tell != nil,
		r.Fail != nil, r.Fit != nil, r.Sent != nil, r.Note != nil, r.Reply != nil, r.Stop != nil,
		r.Enqueue != nil, r.Withdraw != nil, r.TrialNote != nil} {
		if set {
			n++
		}
	}
	return n
}
