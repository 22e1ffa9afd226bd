package sums

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/strategy"
)

// The first byte of a record is the type of its content.
const (
	ofSecureSum = 's' // a record of package securesum
	ofDealt     = 'd'
	ofSum       = 'a'
	ofRefusal   = 'r'
)

// dealt is the record of a contribution. It is on disk before any part of the contribution is sent.
type dealt struct {
	Round  int      `json:"round"`
	Trials []uint64 `json:"trials"` // of which the observations are spent
	Units  units    `json:"units"`
	Vector []int64  `json:"vector"`
}

// total is the sum of a round, over all contributors.
type total struct {
	Round        int     `json:"round"`
	Contributors []int   `json:"contributors"` // indices of the sorted roster, ascending
	Vector       []int64 `json:"vector"`
}

// refusal is the record of the reason why the node contributes nothing more.
type refusal struct {
	Reason string `json:"reason"`
}

func record(tag byte, content any) strategy.Output {
	data, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("sums: %v", err)) // all numbers are finite
	}
	return strategy.Record{Data: append([]byte{tag}, data...)}
}

const unreadable = "the journal has a record of sums that this version cannot read"

// replay applies a record of an earlier run. A record that cannot be read ends all contributions,
// since it may be about spent observations or a vote.
func (e *Exchange) replay(view strategy.View, data []byte) {
	if len(data) == 0 {
		e.refused = unreadable
		return
	}
	var d dealt
	var t total
	var r refusal
	switch body := data[1:]; data[0] {
	case ofSecureSum:
		e.sum.Step(view, strategy.Replayed{Data: body})
	case ofDealt:
		if json.Unmarshal(body, &d) != nil || !e.fits(d) {
			e.refused = unreadable
			return
		}
		e.spend(d)
	case ofSum:
		if json.Unmarshal(body, &t) == nil && e.plausible(t) {
			e.add(t)
		}
	case ofRefusal:
		e.refused = unreadable
		if json.Unmarshal(body, &r) == nil && r.Reason != "" {
			e.refused = r.Reason
		}
	default:
		e.refused = unreadable
	}
}

func (e *Exchange) fits(d dealt) bool {
	return d.Round > e.latest && d.Round <= MaxRounds && d.Units.valid() && len(d.Trials) == e.every && len(d.Vector) == e.statistic.Numbers()
}

// plausible reports whether a sum can be one of honest contributors: as many as a sum needs, none of
// them with a number beyond the bound.
func (e *Exchange) plausible(t total) bool {
	limit := int64(len(t.Contributors)) * maxUnits(e.statistic, e.every)
	return t.Round >= 1 && t.Round <= MaxRounds && len(t.Vector) == e.statistic.Numbers() &&
		len(t.Contributors) >= e.least && len(t.Contributors) <= len(e.roster) &&
		slices.IsSorted(t.Contributors) && len(slices.Compact(slices.Clone(t.Contributors))) == len(t.Contributors) &&
		t.Contributors[0] >= 0 && t.Contributors[len(t.Contributors)-1] < len(e.roster) &&
		!slices.ContainsFunc(t.Vector, func(v int64) bool { return v > limit || v < -limit })
}
