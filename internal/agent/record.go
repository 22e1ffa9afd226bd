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

// Record is one fact or decision for the journal. Exactly one field is not nil.
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

	Enqueue  *EnqueueRecord  `json:"enqueue,omitempty"`
	Withdraw *WithdrawRecord `json:"withdraw,omitempty"`
	Annotate *AnnotateRecord `json:"annotate,omitempty"`

	Cost      *CostRecord      `json:"cost,omitempty"`
	Steps     *StepsRecord     `json:"steps,omitempty"`
	StopTrial *StopTrialRecord `json:"stop,omitempty"`
	Stopped   *StoppedRecord   `json:"stopped,omitempty"`
}

type (
	// TaskRecord holds the task, which is needed to read the other records. Each start replaces it,
	// since the rest of the task file (task.About) may have changed.
	TaskRecord struct {
		File json.RawMessage `json:"canonical"` // task.Task.File
	}
	// EpochRecord states that the agent opened an epoch, at a start or later.
	EpochRecord struct {
		Epoch uint64 `json:"epoch"`
	}
	// TrialRecord is the decision to evaluate a design. Unless the trial was imported, the record
	// also begins its first evaluation.
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
	// OfferRecord begins another evaluation of a trial that was interrupted.
	OfferRecord struct {
		ID   uint64    `json:"id"`
		Time time.Time `json:"time"`
		Claim
	}
	// ReturnRecord makes a running trial wait for another evaluation. The interrupted one does not
	// count as an attempt, unless its lease has expired.
	ReturnRecord struct {
		ID      uint64 `json:"id"`
		Expired bool   `json:"expired,omitempty"`
	}
	// TellRecord ends a trial with an outcome.
	TellRecord struct {
		ID      uint64           `json:"id"`
		Outcome strategy.Outcome `json:"outcome"`
		Gain    *float64         `json:"peer_gain,omitempty"` // see Trial.PeerGain
		Time    time.Time        `json:"time"`
	}
	// FailRecord ends a trial without an outcome.
	FailRecord struct {
		ID     uint64    `json:"id"`
		Reason string    `json:"reason"`
		Time   time.Time `json:"time"`
	}
	// FitRecord holds the fitted hyperparameters of an output. A restart uses them and does not fit
	// again.
	FitRecord struct {
		Output          task.Output               `json:"output,omitempty"` // empty for the objective
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
	// NoteRecord is a record of an exchange, in that exchange's encoding.
	NoteRecord struct {
		Exchange string `json:"exchange"`
		Data     []byte `json:"data"`
	}
	// StopRecord states that the stopping rule ended a run. Only the newest is kept.
	StopRecord struct {
		Observations int       `json:"observations"` // number of observations of the model that gave the bound
		Bound        float64   `json:"bound"`        // regret bound, in the objective's units
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
	// AnnotateRecord holds all annotations of a trial. Only the newest of a trial is kept.
	AnnotateRecord struct {
		ID uint64 `json:"id"`
		strategy.Annotations
	}
	// ReplyRecord is the result of a request with a key. Only the newest MaxReplies are kept.
	ReplyRecord struct {
		Number uint64 `json:"number"` // consecutive number, from 1
		Key    string `json:"key"`
		Digest string `json:"digest"`
		Reply
	}
)

// Key returns the key of a record in the journal. A record replaces the earlier record with the
// same key. Records with an empty key are kept forever.
func (r Record) Key() string {
	switch {
	case r.Task != nil:
		return "task"
	case r.Epoch != nil:
		return "epoch"
	case r.Fit != nil:
		return fitName(r.Fit.Output)
	case r.Sent != nil:
		// Only the maxSlots highest slots of a kind are kept. So a newer record replaces one that
		// is no longer needed.
		return "sent/" + r.Sent.Kind + "/" + strconv.FormatUint(r.Sent.Slot%maxSlots, 10)
	case r.Reply != nil:
		return r.Reply.key()
	case r.Stop != nil:
		return "enough"
	case r.Steps != nil:
		return r.Steps.key()
	case r.Cost != nil:
		return "cost/" + strconv.FormatUint(r.Cost.ID, 10)
	case r.Annotate != nil:
		return "annotate/" + strconv.FormatUint(r.Annotate.ID, 10)
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

// DecodeRecord is the inverse of Encode. Unknown fields are errors, so that a record of a newer
// version is not read in part.
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
		r.Enqueue != nil, r.Withdraw != nil, r.Annotate != nil, r.Cost != nil, r.Steps != nil, r.StopTrial != nil, r.Stopped != nil} {
		if set {
			n++
		}
	}
	return n
}
