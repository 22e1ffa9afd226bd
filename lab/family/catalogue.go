package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/task"
)

// Info describes a kind of family.
type Info struct {
	Name  string // name with which a spec begins
	About string // one sentence without a full stop
	Keys  []Key
}

// Kind is a kind of family.
type Kind struct {
	Info

	// Build returns the space of the federations, and a function that draws federations, for these
	// values of the keys. Its caller has checked each value with its Key. Build returns an error if
	// values do not fit together.
	Build func(v Values) (*task.Space, DrawFunc, error)

	// Objectives, if not nil, returns the objectives of the federations for these values. Each Federation
	// contains them as well.
	Objectives func(v Values) []task.ObjectiveGoal

	// Constraints, if not nil, returns the constraints of the federations for these values. Each
	// Federation contains them as well.
	Constraints func(v Values) []task.Constraint

	// Floor is Family.Floor.
	Floor float64

	// Costly is Family.Costly.
	Costly bool

	// MaxMoves, if not nil, returns the MaxMoves of the federations for these values.
	MaxMoves func(v Values) int

	// Content, if not nil, returns a digest of the files that Build reads.
	Content func(v Values) (string, error)
}

// Catalogue is a list of kinds with different names.
type Catalogue []Kind

// List returns name, description and keys of each kind.
func (c Catalogue) List() []Info {
	var all []Info
	for _, kind := range c {
		all = append(all, kind.Info)
	}
	return all
}

// Parse returns the family for a text "kind" or "kind:key=value,key=value". List returns the kinds
// and keys. Values cannot contain commas; spaces around names, keys and values are ignored. An
// error names the key, its value, and what is accepted.
func (c Catalogue) Parse(spec string) (Family, error) {
	name, settings, hasSettings := strings.Cut(spec, ":")
	name = strings.TrimSpace(name)
	at := slices.IndexFunc(c, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		return Family{}, fmt.Errorf("family %q: unknown name %q; accepted: %s", spec, name, strings.Join(c.names(), ", "))
	}
	kind := c[at]
	values := Values{keys: kind.Keys, given: map[string]string{}}
	if hasSettings {
		for setting := range strings.SplitSeq(settings, ",") {
			if err := values.set(setting); err != nil {
				return Family{}, fmt.Errorf("family %q: %w", spec, err)
			}
		}
	}
	space, draw, err := kind.Build(values)
	if err != nil {
		return Family{}, fmt.Errorf("family %q: %w", spec, err)
	}
	adversaries := values.given[adversariesKey] // "" if the spec does not set the key or the kind does not have it
	family := Family{
		Name:   name + values.canonical(),
		About:  kind.About,
		Space:  space,
		Forges: values.given[othersKey] == forged || adversaries != "" && adversaries != "0",
		Floor:  kind.Floor,
		Costly: kind.Costly,
		draw:   draw,
	}
	if kind.Objectives != nil {
		family.Objectives = kind.Objectives(values)
	}
	if kind.Constraints != nil {
		family.Constraints = kind.Constraints(values)
	}
	if kind.MaxMoves != nil {
		family.MaxMoves = kind.MaxMoves(values)
	}
	if kind.Content != nil {
		if family.Content, err = kind.Content(values); err != nil {
			return Family{}, fmt.Errorf("family %q: %w", spec, err)
		}
	}
	return family, nil
}

func (c Catalogue) names() []string {
	var all []string
	for _, kind := range c {
		all = append(all, kind.Name)
	}
	return all
}
