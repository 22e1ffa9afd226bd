package task

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

// version is the "fbo" key of the canonical form. It identifies the format of the
// task and the derivation of the shared features from its ID. It increases when either
// changes, so that incompatible nodes have different task IDs and never exchange shares.
const version = 1

// jsonCodec is the multicodec code of JSON.
const jsonCodec = 0x0200

// Canonical returns the task as canonical JSON: keys sorted, no spaces, numbers in their shortest
// form, all defaults written out. The result is itself a task file with the same ID; it contains the
// digest of a table of designs. Canonical panics if the task was not made by Parse and has numbers
// that are not finite.
func (t *Task) Canonical() []byte {
	form := map[string]any{
		"fbo":        version,
		"name":       t.Name,
		"goal":       t.Goal,
		"parameters": canonicalParameters(t.Space),
	}
	if designs := canonicalDesigns(t.Space.Whole().listing, t.MaxMoves); designs != nil {
		form["designs"] = designs
	}
	if len(t.Constraints) > 0 {
		form["constraints"] = canonicalConstraints(t.Constraints)
	}
	if t.Failures != LearnFailures && t.Failures != "" {
		form["failures"] = string(t.Failures)
	}
	for _, s := range sections() {
		if part := s.canonical(t); part != nil {
			form[s.key] = part
		}
	}
	text, err := marshal(form)
	if err != nil {
		panic(fmt.Sprintf("task: canonical form: %v", err))
	}
	return text
}

// ID returns the task's identity: the CIDv1 (codec JSON, SHA-256) of Canonical.
func (t *Task) ID() cid.Cid {
	sum, err := multihash.Sum(t.Canonical(), multihash.SHA2_256, -1)
	if err != nil {
		panic(fmt.Sprintf("task: %v", err)) // SHA-256 is always registered
	}
	return cid.NewCidV1(jsonCodec, sum)
}

func canonicalParameters(s *Space) []map[string]any {
	all := make([]map[string]any, len(s.parameters))
	for i, p := range s.parameters {
		form := map[string]any{"name": p.Name, "type": p.Kind}
		switch {
		case p.Kind == Bool:
		case p.Numbers != nil:
			form["choices"] = p.Numbers
		case p.Kind == Categorical:
			form["choices"] = p.Choices
		default:
			form["low"], form["high"], form["scale"] = p.Low, p.High, p.Scale
			if p.Step != 0 {
				form["step"] = p.Step
			}
		}
		all[i] = form
	}
	return all
}

// marshal writes JSON without the escapes that encoding/json adds for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
