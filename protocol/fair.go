package protocol

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Limits of the messages between parties of fair batches.
const (
	MaxParties    = 64 // parties on a roster
	HeadBytes     = 16 // bytes of the hash that identifies the chain of a party's evaluations
	maxNumber     = 1 << 24
	maxStatements = 4096 // shares in one message; its size is limited by MaxDirectBytes
	maxReason     = 255
)

// batchBytes returns the maximum encoded size of a batch.
func batchBytes(space *task.Space, parties int) int {
	return parties*(pointBytes(space)+HeadBytes+payloadOverhead) + 16*space.Len() + payloadOverhead
}

// Evaluation is the share with one evaluation of a party.
type Evaluation struct {
	Number   int // consecutive number among the evaluations of its author, from 1
	Round    int // round in which the design was assigned; 0: it was not assigned
	Point    Point
	Value    *float64 // observed value, signed so that larger is better; nil if the evaluation failed
	Imported bool     // the author imported the evaluation
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (e Evaluation) Encode(space *task.Space) ([]byte, error) {
	if err := e.validate(space); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Evaluation{Number: uint32(e.Number), Round: uint32(e.Round), Point: e.Point.message(), Value: e.Value, Imported: e.Imported})
}

// DecodeEvaluation is the inverse of Encode. The point must be one of the space.
func DecodeEvaluation(payload []byte, space *task.Space) (Evaluation, error) {
	if limit := pointBytes(space) + payloadOverhead; len(payload) > limit {
		return Evaluation{}, fmt.Errorf("%w: an evaluation of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Evaluation
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Evaluation{}, fmt.Errorf("%w: evaluation: %w", ErrMalformed, err)
	}
	e := Evaluation{Number: whole(m.Number), Round: whole(m.Round), Point: pointFrom(m.Point), Value: m.Value, Imported: m.Imported}
	if err := e.validate(space); err != nil {
		return Evaluation{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

func (e Evaluation) validate(space *task.Space) error {
	if err := checkCount("number of an evaluation", e.Number, 1); err != nil {
		return err
	}
	if err := checkCount("round of an evaluation", e.Round, 0); err != nil {
		return err
	}
	if err := checkUnit("value", e.Value); err != nil {
		return err
	}
	return e.Point.check(space)
}

// Batch is the share with the designs of a round, and with the data that determined them. Its author
// is the leader of a turn of the round. If a leader sends no batch, the next turn has another leader.
type Batch struct {
	Round, Turn int
	Counts      []int  // number of evaluations of each party that were used, in the order of the roster
	Heads       []byte // HeadBytes for each party: the hash of the chain of these evaluations

	// Lengthscales and Noise are the hyperparameters of the surrogate's Gaussian process.
	Lengthscales []float64
	Noise        float64

	Assigned []Assigned // assigned designs in the order of the roster; at least one
}

// Assigned is a design with the party that evaluates it. Party is an index on the roster.
type Assigned struct {
	Party int
	Point Point
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (b Batch) Encode(space *task.Space) ([]byte, error) {
	if err := b.validate(space, len(b.Counts)); err != nil {
		return nil, err
	}
	m := &pb.Batch{Round: uint32(b.Round), Turn: uint32(b.Turn), Counts: unsigned(b.Counts), Heads: b.Heads, Lengthscales: b.Lengthscales, Noise: b.Noise}
	for _, a := range b.Assigned {
		m.Assigned = append(m.Assigned, &pb.Assigned{Party: uint32(a.Party), Point: a.Point.message()})
	}
	return proto.Marshal(m)
}

// DecodeBatch is the inverse of Encode, for a roster with the given number of parties.
func DecodeBatch(payload []byte, space *task.Space, parties int) (Batch, error) {
	if limit := batchBytes(space, parties); len(payload) > limit {
		return Batch{}, fmt.Errorf("%w: a batch of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Batch
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Batch{}, fmt.Errorf("%w: batch: %w", ErrMalformed, err)
	}
	b := Batch{Round: whole(m.Round), Turn: whole(m.Turn), Counts: wholes(m.Counts), Heads: m.Heads, Lengthscales: m.Lengthscales, Noise: m.Noise}
	for _, a := range m.Assigned {
		b.Assigned = append(b.Assigned, Assigned{Party: whole(a.Party), Point: pointFrom(a.Point)})
	}
	if err := b.validate(space, parties); err != nil {
		return Batch{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return b, nil
}

func (b Batch) validate(space *task.Space, parties int) error {
	if err := checkCount("round of a batch", b.Round, 1); err != nil {
		return err
	}
	if err := checkCount("turn of a batch", b.Turn, 0); err != nil {
		return err
	}
	if parties > MaxParties || len(b.Counts) != parties || len(b.Heads) != HeadBytes*parties {
		return fmt.Errorf("a batch with %d counts and %d bytes of heads, the roster has %d parties", len(b.Counts), len(b.Heads), parties)
	}
	for _, count := range b.Counts {
		if err := checkCount("count of evaluations", count, 0); err != nil {
			return err
		}
	}
	if n := len(b.Lengthscales); n > space.Len() {
		return fmt.Errorf("a batch with %d lengthscales, the task has %d parameters", n, space.Len())
	}
	for _, v := range append([]float64{b.Noise}, b.Lengthscales...) {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("a batch with hyperparameter %g, expected numbers above 0", v)
		}
	}
	if len(b.Assigned) == 0 {
		return errors.New("a batch without designs")
	}
	for i, a := range b.Assigned {
		if a.Party < 0 || a.Party >= parties || i > 0 && a.Party <= b.Assigned[i-1].Party {
			return fmt.Errorf("design %d of a batch is for party %d of %d, expected one for each, in order", i, a.Party, parties)
		}
		if err := a.Point.check(space); err != nil {
			return err
		}
	}
	return nil
}

// Assignment is the message with which a mediator assigns a design to one party.
type Assignment struct {
	Round            int
	Party            peer.ID
	Point            Point
	Parties          int     // number of parties that evaluate in this round, 1 to MaxParties
	RewardDifference float64 // cumulative reward of the party minus the average over all parties, in the objective's units
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (a Assignment) Encode(space *task.Space) ([]byte, error) {
	if err := a.validate(space); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Assignment{Round: uint32(a.Round), Party: []byte(a.Party), Point: a.Point.message(), Parties: uint32(a.Parties), RewardDifference: a.RewardDifference})
}

// DecodeAssignment is the inverse of Encode. The point must be one of the space.
func DecodeAssignment(payload []byte, space *task.Space) (Assignment, error) {
	if limit := pointBytes(space) + 2*payloadOverhead; len(payload) > limit {
		return Assignment{}, fmt.Errorf("%w: an assignment of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Assignment
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Assignment{}, fmt.Errorf("%w: assignment: %w", ErrMalformed, err)
	}
	a := Assignment{Round: whole(m.Round), Party: peer.ID(m.Party), Point: pointFrom(m.Point), Parties: whole(m.Parties), RewardDifference: m.RewardDifference}
	if err := a.validate(space); err != nil {
		return Assignment{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return a, nil
}

func (a Assignment) validate(space *task.Space) error {
	if err := checkCount("round of an assignment", a.Round, 1); err != nil {
		return err
	}
	if _, err := peer.IDFromBytes([]byte(a.Party)); err != nil {
		return fmt.Errorf("the party of an assignment is no peer ID: %w", err)
	}
	if a.Parties < 1 || a.Parties > MaxParties {
		return fmt.Errorf("an assignment of a round with %d parties, expected 1 to %d", a.Parties, MaxParties)
	}
	if err := checkUnit("gain", &a.RewardDifference); err != nil {
		return err
	}
	return a.Point.check(space)
}

// FairMessage is a direct message between parties of fair batches.
type FairMessage struct {
	Shares   [][]byte  // envelopes of forwarded shares
	Progress *Progress // nil if the sender does not report it
	Notices  []Notice
}

// Progress is the state of the sender of a FairMessage.
type Progress struct {
	Round   int   // latest round of which it has the batch or an assignment
	Counts  []int // number of evaluations of each party that it has, in the order of the roster
	Waiting bool  // it waits for the next round
}

// Notice reports that the data of a party are inconsistent. Party is an index on the roster. The
// exchange defines the meaning of the reasons, 1 to 255.
type Notice struct{ Party, Reason int }

// Encode returns the message. It returns an error for values that Decode would reject.
func (f FairMessage) Encode() ([]byte, error) {
	parties := 0
	m := &pb.FairMessage{Shares: f.Shares}
	if f.Progress != nil {
		parties = len(f.Progress.Counts)
		m.Progress = &pb.Progress{Round: uint32(f.Progress.Round), Counts: unsigned(f.Progress.Counts), Waiting: f.Progress.Waiting}
	}
	for _, n := range f.Notices {
		parties = max(parties, n.Party+1)
		m.Notices = append(m.Notices, &pb.Notice{Party: uint32(n.Party), Reason: uint32(n.Reason)})
	}
	if err := f.validate(parties); err != nil {
		return nil, err
	}
	if n := proto.Size(m); n > MaxDirectBytes {
		return nil, fmt.Errorf("a message of %d bytes, the limit is %d", n, MaxDirectBytes)
	}
	return proto.Marshal(m)
}

// DecodeFairMessage is the inverse of Encode, for a roster with the given number of parties. It
// does not open the shares in the message.
func DecodeFairMessage(data []byte, parties int) (FairMessage, error) {
	if len(data) > MaxDirectBytes {
		return FairMessage{}, fmt.Errorf("%w: a message of %d bytes, the limit is %d", ErrMalformed, len(data), MaxDirectBytes)
	}
	var m pb.FairMessage
	if err := proto.Unmarshal(data, &m); err != nil {
		return FairMessage{}, fmt.Errorf("%w: message: %w", ErrMalformed, err)
	}
	f := FairMessage{Shares: m.Shares}
	if h := m.Progress; h != nil {
		f.Progress = &Progress{Round: whole(h.Round), Counts: wholes(h.Counts), Waiting: h.Waiting}
	}
	for _, n := range m.Notices {
		f.Notices = append(f.Notices, Notice{Party: whole(n.Party), Reason: whole(n.Reason)})
	}
	if err := f.validate(parties); err != nil {
		return FairMessage{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return f, nil
}

func (f FairMessage) validate(parties int) error {
	if n := len(f.Shares); n > maxStatements {
		return fmt.Errorf("a message of %d statements, expected up to %d", n, maxStatements)
	}
	if parties > MaxParties {
		return fmt.Errorf("a message among %d parties, expected up to %d", parties, MaxParties)
	}
	if h := f.Progress; h != nil {
		if len(h.Counts) != parties {
			return fmt.Errorf("a message with %d counts, the roster has %d parties", len(h.Counts), parties)
		}
		for _, count := range append([]int{h.Round}, h.Counts...) {
			if err := checkCount("round or count of a message", count, 0); err != nil {
				return err
			}
		}
	}
	if len(f.Notices) > MaxParties {
		return fmt.Errorf("a message of %d notices, expected up to %d", len(f.Notices), MaxParties)
	}
	for _, n := range f.Notices {
		if n.Party < 0 || n.Party >= parties {
			return fmt.Errorf("a notice about party %d, the roster has %d", n.Party, parties)
		}
		if n.Reason < 1 || n.Reason > maxReason {
			return fmt.Errorf("a notice with reason %d, expected 1 to %d", n.Reason, maxReason)
		}
	}
	return nil
}

func checkCount(name string, v, least int) error {
	if v < least || v > maxNumber {
		return fmt.Errorf("the %s is %d, expected %d to %d", name, v, least, maxNumber)
	}
	return nil
}

// whole converts v to an int. It limits v to a number that fits into an int of 32 bits and that
// checkCount rejects.
func whole(v uint32) int { return int(min(v, maxNumber+1)) }

func wholes(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = whole(x)
	}
	return out
}

func unsigned(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}
