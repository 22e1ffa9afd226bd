package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/task"
)

// Info describes a kind of family.
type Info struct {
	Name  string // as a spec begins
	About string // a sentence without a full stop
	Keys  []Key
}

// Kind is a kind of family.
type Kind struct {
	Info

	// Build returns the space of the federations and a function that draws them with these values
	// of the keys. Each value has been accepted by its Key. The error reports values that do not
	// fit together.
	Build func(v Values) (*task.Space, DrawFunc, error)

	// Constraints, when not nil, returns those of the federations with these values,
	// which are in each Federation as well.
	Constraints func(v Values) []task.Constraint

	// Floor is Family.Floor.
	Floor float64

	// MaxMoves, when not nil, returns those of the federations with these values.
	MaxMoves func(v Values) int

	// Content, when not nil, returns a digest of the data that Build reads in addition to the
	// values.
	Content func(v Values) (string, error)
}

// Catalogue is a list of kinds with different names.
type Catalogue []Kind

// List returns what is known about each kind.
func (c Catalogue) List() []Info {
	var all []Info
	for _, kind := range c {
		all = append(all, kind.Info)
	}
	return all
}

// Parse returns the family that a text "kind" or "kind:key=value,key=value" names.
// List has the kinds and keys. Values cannot have commas in them; spaces around names,
// keys and values do not matter. An error names the key, its value, and what is
// accepted.
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
	adversaries := values.given[adversariesKey] // of kinds without the key, and specs, none
	family := Family{
		Name:   name + values.canonical(),
		About:  kind.About,
		Space:  space,
		Forges: values.given[othersKey] == forged || adversaries != "" && adversaries != "0",
		Floor:  kind.Floor,
		draw:   draw,
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
