package task

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

// version is the value of the key "fbo" in the canonical form. It identifies the format of the task
// and the way in which the shared features are derived from its ID. A change of either increases
// it. Then nodes of different versions have different task IDs and never exchange shares.
const version = 1

// jsonCodec is the multicodec code of JSON.
const jsonCodec = 0x0200

// Canonical returns the task as canonical JSON: keys are sorted, there are no spaces, numbers have
// their shortest form, and all defaults are written out. In place of a table of designs it has the
// table's digest. It lacks the content of About. The result is itself a task file with the same ID.
// Canonical panics if the task
// was not made by Parse or New and contains numbers that are not finite.
func (t *Task) Canonical() []byte { return mustMarshal(t.canonicalForm()) }

// canonicalForm returns the content of the canonical form.
func (t *Task) canonicalForm() map[string]any {
	form := map[string]any{
		"fbo":        version,
		"name":       t.Name,
		"parameters": canonicalParameters(t.Space),
	}
	putGoal(form, t.Goal, t.Objectives)
	if designs := canonicalDesigns(t.Space.Whole().listing, t.MaxMoves); designs != nil {
		form["designs"] = designs
	}
	if rules := t.Space.ParameterConstraints(); rules != nil {
		form[rulesKey] = rules
	}
	if len(t.Constraints) > 0 {
		form["constraints"] = canonicalConstraints(t.Constraints)
	}
	if t.Failures != LearnFailures && t.Failures != "" {
		form["failures"] = string(t.Failures)
	}
	if t.Stop.Shares() {
		form[stopKey] = t.Stop.form()
	}
	if t.Continues.Defined() {
		form[continuesKey] = t.Continues.String()
	}
	for _, s := range sections() {
		if part := s.canonical(t); part != nil {
			form[s.key] = part
		}
	}
	return form
}

// mustMarshal encodes the form of a task, which contains only finite numbers.
func mustMarshal(form map[string]any) []byte {
	text, err := marshal(form)
	if err != nil {
		panic(fmt.Sprintf("task: canonical form: %v", err))
	}
	return text
}

// ID returns the task's identity: the CIDv1 of Canonical, with codec JSON and hash SHA-256.
func (t *Task) ID() cid.Cid {
	sum, err := multihash.Sum(t.Canonical(), multihash.SHA2_256, -1)
	if err != nil {
		panic(fmt.Sprintf("task: %v", err)) // SHA-256 is always registered
	}
	return cid.NewCidV1(jsonCodec, sum)
}

const rulesKey = "parameter_constraints"

func canonicalParameters(s *Space) []map[string]any {
	all := make([]map[string]any, len(s.parameters))
	for i, p := range s.parameters {
		form := map[string]any{"name": p.Name, "type": p.Kind}
		switch {
		case p.Fixed != Value{}:
			form["value"] = p.Fixed
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
		if p.conditional() {
			when := map[string]any{}
			for _, c := range p.When {
				when[c.Parameter] = c.canonical()
			}
			form["when"] = when
		}
		all[i] = form
	}
	return all
}

// marshal encodes v as JSON, without the escapes that encoding/json adds for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
