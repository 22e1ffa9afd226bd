package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Spec names one choice, a strategy, surrogate or family, with its settings, as in
// "fts:schedule=inverse-square,mode=one-shot". Names and keys are those of a section of the task
// file.
type Spec struct {
	Name     string
	Settings []Setting
}

// Setting is one key of a section with its value: a number, a text, or a list of these, separated
// by semicolons.
type Setting struct{ Key, Value string }

// ParseSpec parses NAME or NAME:KEY=VALUE,KEY=VALUE. It does not check whether names, keys and
// values exist.
func ParseSpec(text string) (Spec, error) {
	specs, err := ParseSpecs(text)
	if err == nil && len(specs) != 1 {
		err = fmt.Errorf("%q names %d, expected one: NAME or NAME:KEY=VALUE,…", text, len(specs))
	}
	if err != nil {
		return Spec{}, err
	}
	return specs[0], nil
}

// ParseSpecs parses specs that are separated by commas. A part KEY=VALUE without a name belongs to
// the spec before it.
func ParseSpecs(text string) ([]Spec, error) {
	var specs []Spec
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, setting, named := strings.Cut(part, ":")
		equals := strings.Index(part, "=")
		if equals >= 0 && equals < len(name) { // a part KEY=VALUE; the value may contain a colon
			if len(specs) == 0 || len(specs[len(specs)-1].Settings) == 0 {
				return nil, fmt.Errorf("%q has no name before it, expected NAME and NAME:KEY=VALUE,KEY=VALUE", part)
			}
			name, setting, named = "", part, true
		} else {
			if name == "" {
				return nil, fmt.Errorf("%q has an empty name, expected NAME and NAME:KEY=VALUE,…, separated by commas", text)
			}
			specs = append(specs, Spec{Name: name})
		}
		if named {
			key, value, ok := strings.Cut(setting, "=")
			if !ok || key == "" || value == "" {
				return nil, fmt.Errorf("%q in %q is no setting, expected KEY=VALUE", setting, text)
			}
			if key == "type" {
				return nil, fmt.Errorf("%q in %q: the type is the name before the colon", setting, text)
			}
			last := &specs[len(specs)-1]
			if last.has(key) {
				return nil, fmt.Errorf("%s is given twice in %q", key, text)
			}
			last.Settings = append(last.Settings, Setting{key, value})
		}
	}
	return specs, nil
}

// With returns the spec with one more setting.
func (s Spec) With(key, value string) Spec {
	s.Settings = append(slices.Clone(s.Settings), Setting{key, value})
	return s
}

func (s Spec) has(key string) bool {
	return slices.ContainsFunc(s.Settings, func(x Setting) bool { return x.Key == key })
}

// setting returns the value of a key, or "" if the spec does not have it.
func (s Spec) setting(key string) string {
	for _, x := range s.Settings {
		if x.Key == key {
			return x.Value
		}
	}
	return ""
}

// String returns the spec in the form that ParseSpec accepts.
func (s Spec) String() string {
	parts := make([]string, len(s.Settings))
	for i, x := range s.Settings {
		parts[i] = x.Key + "=" + x.Value
	}
	if len(parts) == 0 {
		return s.Name
	}
	return s.Name + ":" + strings.Join(parts, ",")
}

// section returns the spec as a section of a task file, to be encoded as JSON.
func (s Spec) section() map[string]any {
	section := s.keys()
	section["type"] = s.Name
	return section
}

// keys returns the settings in the form of a task file.
func (s Spec) keys() map[string]any {
	keys := map[string]any{}
	for _, x := range s.Settings {
		keys[x.Key] = x.value()
	}
	return keys
}

// value returns the value in the form of a task file. A text with semicolons is a list, whose items
// they separate. A final semicolon is allowed, so that a list can have a single item.
func (x Setting) value() any {
	if !strings.Contains(x.Value, ";") {
		return scalar(x.Value)
	}
	var list []any
	for item := range strings.SplitSeq(strings.TrimSuffix(x.Value, ";"), ";") {
		list = append(list, scalar(strings.TrimSpace(item)))
	}
	return list
}

// privateKeys returns the keys of the section privacy that can be settings of a strategy. The
// roster is not among them, because it is the federation.
func privateKeys() []string {
	return []string{"mechanism", "epsilon", "delta", "clip", "releases", "adjacency", "min_contributors", "committee", "max_colluding"}
}

// isPrivate reports whether a setting of a strategy belongs to the section privacy: the strategy
// uses that section, and has no key of this name itself.
func isPrivate(r strategy.Registration, key string) bool {
	return r.Mechanism != "" && slices.Contains(privateKeys(), key) && !r.Has(key)
}

// private splits the spec into the strategy and the section privacy; the section is nil without
// settings for it.
func (p Plan) private(s Spec, roster []peer.ID) (Spec, map[string]any) {
	rest, section := Spec{Name: s.Name}, map[string]any{}
	registration := p.registrationOf(s)
	for _, x := range s.Settings {
		if isPrivate(registration, x.Key) {
			section[x.Key] = scalar(x.Value)
		} else {
			rest.Settings = append(rest.Settings, x)
		}
	}
	if len(section) == 0 && !p.sums(s) {
		return rest, nil
	}
	if p.sums(s) && section["mechanism"] == nil {
		section["mechanism"] = task.MechanismAggregate
	}
	if section["mechanism"] == task.MechanismAggregate {
		section["roster"] = roster
	}
	return rest, section
}

// known returns the strategies that specs can name, without the baselines.
func (p Plan) known() strategy.Set {
	return append(all.Strategies(), p.Own...).With(all.Extensions()...).WithExchanges(all.Exchanges()...)
}

// registrationOf returns the registration of a strategy of task files. For baselines it is empty.
func (p Plan) registrationOf(s Spec) strategy.Registration {
	r, _ := p.known().Named(s.Name)
	return r
}

// sums reports whether a strategy uses private sums over its roster.
func (p Plan) sums(s Spec) bool { return p.registrationOf(s).Mechanism == task.MechanismAggregate }

// scalar returns a number as it is written, with a 0 added before a leading point, because JSON
// needs it. It returns any other text as a string.
func scalar(text string) any {
	number := text
	if strings.HasPrefix(strings.TrimPrefix(text, "-"), ".") {
		number = strings.Replace(text, ".", "0.", 1)
	}
	if _, err := strconv.ParseFloat(number, 64); err == nil && json.Valid([]byte(number)) {
		return json.Number(number)
	}
	return text
}

// taskOf returns the task of the members of a federation. The name is part of the task's ID, from
// which the shared features are derived. Only strategies that need a roster use roster.
func (p Plan) taskOf(name string, f family.Federation, chosen Spec, roster []peer.ID) (*task.Task, error) {
	chosen, privacy := p.private(chosen, roster)
	if key := p.registrationOf(chosen).BudgetKey; key != "" && !chosen.has(key) {
		chosen = chosen.With(key, strconv.Itoa(max(p.Evaluations-p.Initial, 1)))
	}
	keys := p.rostered(chosen, roster)
	return p.known().NewTask(task.Spec{
		Name: name, Goal: f.Goal, Objectives: f.Objectives, Parameters: f.Space.Parameters(), ParameterConstraints: f.Space.ParameterConstraints(), Listing: f.Space.Listing(), MaxMoves: f.MaxMoves, Constraints: f.Constraints,
		Surrogate: p.Surrogate.section(), Privacy: privacy,
		Strategy: task.Strategy{Type: chosen.Name, InitialDesigns: p.Initial, Settings: task.Settings(keys)},
	})
}

// messages returns the errors of a task file as an error of one line.
func messages(err error) error {
	var parsed *task.ParseError
	if !errors.As(err, &parsed) {
		return err
	}
	var all []string
	for _, one := range parsed.Errors {
		all = append(all, one.Message)
	}
	return errors.New(strings.Join(all, "; "))
}

// canonical returns a section of the task with all its defaults. The text is the same for all specs
// with the same meaning.
func canonical(t *task.Task, section string) string {
	var form map[string]json.RawMessage
	if err := json.Unmarshal(t.Canonical(), &form); err != nil {
		panic(err) // unexpected: Canonical returns a JSON object
	}
	return string(form[section])
}
