package task

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scale defines how values of a float or int parameter map to the unit interval.
type Scale string

// The scales of float and int parameters.
const (
	Linear Scale = "linear"
	Log    Scale = "log"
)

// Parameter is one dimension of the search space.
type Parameter struct {
	Name string // [A-Za-z][A-Za-z0-9_]*, at most 64 characters
	Kind Kind

	// Low and High are the inclusive bounds of a float or int.
	Low, High float64
	Scale     Scale // of a float or int; empty means Linear

	// Step restricts a float or int on linear scale to the values Low, Low+Step, Low+2·Step and so
	// on up to High. If High is not among them, a Space replaces it by the largest of them. There
	// may be at most 2^40 values. 0 means no restriction: any float, or every int.
	Step float64

	// Choices has the choices of a categorical: 1 to 64 different texts.
	Choices []string

	// Numbers has the choices of a categorical if they are numbers: 1 to 64, all different. A float
	// or int can have Numbers in place of Low, High, Scale and Step. They are then its values, in
	// ascending order, with equal distances in the unit interval.
	Numbers []float64

	// Fixed is the only value of the parameter, of its kind. A float or int with Fixed has neither
	// bounds nor Numbers. The zero Value means that the parameter is not fixed. Equal bounds other
	// than 0, or a single choice, have the same meaning.
	Fixed Value

	// When has the conditions under which the parameter is active, at most one per parent. Without
	// conditions it is always active.
	When []Condition
}

// single returns the parameter with Fixed set if its bounds or its choices leave one number.
func (p Parameter) single() Parameter {
	v := 0.0
	switch {
	case p.Kind != Float && p.Kind != Int || p.Fixed != Value{} || len(p.Choices) > 0:
		return p
	case len(p.Numbers) == 1:
		v = p.Numbers[0]
	case p.Numbers == nil && p.Low == p.High && p.Low != 0:
		v = p.Low
	default:
		return p
	}
	return Parameter{Name: p.Name, Kind: p.Kind, Fixed: p.point(v), When: p.When}
}

// point returns a number as value of the parameter, or a float if it is none.
func (p Parameter) point(v float64) Value {
	if p.Kind == Int && v == math.Trunc(v) && math.Abs(v) <= maxWhole {
		return IntValue(int64(v))
	}
	return FloatValue(v)
}

// fixedProblems returns the errors of the value of a fixed parameter.
func (p Parameter) fixedProblems() []problem {
	one := func(format string, a ...any) []problem { return []problem{{"value", -1, fmt.Sprintf(format, a...)}} }
	v := p.Fixed
	switch {
	case p.Kind == Categorical:
		return one("a categorical has no value; expected one choice")
	case v.kind != p.Kind && p.Kind == Int:
		return one("value %s must be a whole number from -2^53 to 2^53 for type: int", v.quoted())
	case v.kind != p.Kind:
		return one("value %s is a %s, expected a %s", v.quoted(), v.kind, p.Kind)
	case v.kind == Float && !(math.Abs(v.float) <= maxSize):
		return one("value %s must be a finite number from %g to %g", v, -maxSize, maxSize)
	case v.kind == Int && (v.int > maxWhole || v.int < -maxWhole):
		return one("value %s must be between -2^53 and 2^53 for type: int", v)
	}
	return nil
}

// Limits of a search space.
const (
	maxParameters = 100
	maxChoices    = 64
	maxNameRunes  = 64
	maxChoiceLen  = 256

	maxSize      = 1e300   // absolute value of a float bound
	minLogLow    = 1e-300  // lower bound of a float on log scale
	minLogRatio  = 1.01    // minimum of high/low for a float on log scale
	minRange     = 1e-290  // minimum of high-low for a float on linear scale
	minSteps     = 1000    // minimum number of grid values (see axis) in a float's range
	maxWhole     = 1 << 53 // larger whole numbers are not exact in float64
	maxIntRange  = 1 << 40
	maxLogIntTop = 1 << 41 // upper bound of an int on log scale; above it log and exp are not exact to the unit
)

// problem is an error in one field of a parameter. The parser adds the position of the field to the
// message, NewSpace the name of the parameter.
type problem struct {
	field   string // key of the field in the task file
	item    int    // index in choices, or -1 for the field itself
	message string
}

func (p Parameter) problems() []problem {
	var all []problem
	if message := checkParameterName(p.Name); message != "" {
		all = append(all, problem{"name", -1, message})
	}
	if p = p.single(); (p.Fixed != Value{}) {
		all = append(all, p.fixedProblems()...)
		return append(all, p.misplaced()...)
	}
	switch p.Kind {
	case Float:
		all = append(all, p.floatProblems()...)
	case Int:
		all = append(all, p.intProblems()...)
	case Categorical:
		all = append(all, p.choiceProblems()...)
	case Bool:
	default:
		return append(all, problem{"type", -1, fmt.Sprintf("unknown type %q; accepted: float, int, categorical, bool", p.Kind)})
	}
	return append(all, p.misplaced()...)
}

// misplaced returns an error for each field that is set and does not apply to the parameter's kind.
func (p Parameter) misplaced() []problem {
	var all []problem
	refuse := func(set bool, field, format string, a ...any) {
		if set {
			all = append(all, problem{field, -1, fmt.Sprintf(format, a...)})
		}
	}
	const alone = "%s is not accepted beside value"
	fixed := p.Fixed != Value{}
	for field, set := range map[string]bool{"low": p.Low != 0, "high": p.High != 0, "scale": p.Scale != "", "step": p.Step != 0, "choices": p.Choices != nil || p.Numbers != nil} {
		refuse(fixed && set, field, alone, field)
	}
	if fixed {
		return all
	}
	ordered := p.Kind == Float || p.Kind == Int
	const ranged = "%s applies only with type: float or int"
	refuse(!ordered && p.Low != 0, "low", ranged, "low")
	refuse(!ordered && p.High != 0, "high", ranged, "high")
	refuse(!ordered && p.Scale != "", "scale", ranged, "scale")
	refuse(!ordered && p.Step != 0, "step", ranged, "step")
	refuse(ordered && len(p.Choices) > 0, "choices", "choices must be numbers for type: %s", p.Kind)
	refuse(ordered && p.Numbers != nil && p.Scale != "", "scale", "choices are not accepted beside scale")
	refuse(ordered && p.Numbers != nil && p.Step != 0, "step", "choices are not accepted beside step")
	refuse(p.Kind == Categorical && p.Choices != nil && p.Numbers != nil, "choices", "choices must be all texts or all numbers")
	refuse(p.Kind == Bool && (p.Choices != nil || p.Numbers != nil), "choices", "choices apply only with type: categorical, float or int")
	return all
}

func checkParameterName(name string) string {
	ok := name != "" && len(name) <= maxNameRunes
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		ok = ok && (letter || i > 0 && (c >= '0' && c <= '9' || c == '_'))
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("name %s is not accepted; a letter (a-z, A-Z) followed by letters, digits or _, at most %d characters",
		quote(name), maxNameRunes)
}

// boundProblems returns the errors of bounds for which floats and ints have the same rules.
func (p Parameter) boundProblems() []problem {
	var all []problem
	for _, b := range []struct {
		field string
		value float64
	}{{"low", p.Low}, {"high", p.High}} {
		if math.IsNaN(b.value) || math.IsInf(b.value, 0) {
			all = append(all, problem{b.field, -1, fmt.Sprintf("%s must be a finite number", b.field)})
		}
	}
	if len(all) > 0 {
		return all
	}
	if p.Scale != Linear && p.Scale != Log && p.Scale != "" {
		return []problem{{"scale", -1, fmt.Sprintf("unknown scale %q; accepted: linear, log", p.Scale)}}
	}
	if p.Low >= p.High {
		return []problem{{"low", -1, fmt.Sprintf("low %s must be below high %s", formatFloat(p.Low), formatFloat(p.High))}}
	}
	if p.Scale == Log && p.Low <= 0 {
		return []problem{{"low", -1, fmt.Sprintf("low %s must be above 0 with scale: log", formatFloat(p.Low))}}
	}
	return nil
}

func (p Parameter) floatProblems() []problem {
	if p.Numbers != nil || len(p.Choices) > 0 {
		return p.numberProblems()
	}
	if all := p.boundProblems(); len(all) > 0 {
		return all
	}
	one := func(field, format string, a ...any) []problem {
		return []problem{{field, -1, fmt.Sprintf(format, a...)}}
	}
	switch {
	case p.Low < -maxSize:
		return one("low", "low %s must be at least %g", formatFloat(p.Low), -maxSize)
	case p.High > maxSize:
		return one("high", "high %s must be at most %g", formatFloat(p.High), maxSize)
	case p.Scale == Log && p.Low < minLogLow:
		return one("low", "low %s must be at least %g with scale: log", formatFloat(p.Low), minLogLow)
	case p.Scale == Log && p.High/p.Low < minLogRatio:
		return one("high", "high %s must be at least %g times low %s with scale: log; use scale: linear for a narrow range",
			formatFloat(p.High), minLogRatio, formatFloat(p.Low))
	case p.Scale == Log:
		return p.stepProblems()
	}
	apart := minRange
	if p.High-p.Low >= minRange {
		apart = minSteps * math.Pow10(stepExponent(p.Low, p.High))
	}
	if p.High-p.Low < apart {
		return one("high", "high %s is too close to low %s: they must be at least %g apart (a float64 has no more digits)",
			formatFloat(p.High), formatFloat(p.Low), apart)
	}
	return p.stepProblems()
}

// stepProblems returns the errors of the step. The bounds must be valid.
func (p Parameter) stepProblems() []problem {
	least := 1.0
	if p.Kind == Float {
		least = math.Max(16*largestUlp(p), (p.High-p.Low)/maxIntRange)
	}
	one := func(format string, a ...any) []problem { return []problem{{"step", -1, fmt.Sprintf(format, a...)}} }
	switch {
	case p.Step == 0:
		return nil
	case !(p.Step > 0) || math.IsInf(p.Step, 1):
		return one("step %s must be a number above 0", formatFloat(p.Step))
	case p.Scale == Log:
		return one("step applies only with scale: linear")
	case p.Kind == Int && p.Step != math.Trunc(p.Step):
		return one("step %s must be a whole number for type: int", formatFloat(p.Step))
	case p.Step < least:
		return one("step %s must be at least %g between these bounds", formatFloat(p.Step), least)
	case newGrid(p).count < 2:
		return one("step %s must be at most %s, from low to high", formatFloat(p.Step), formatFloat(p.High-p.Low))
	case p.Kind == Float && len(p.upToLastStep().floatProblems()) > 0:
		return one("step %s leaves values from %s to %s, which are too close together (a float64 has no more digits)",
			formatFloat(p.Step), formatFloat(p.Low), formatFloat(p.upToLastStep().High))
	}
	return nil
}

// upToLastStep returns the parameter with its last value as upper bound, and without a step.
func (p Parameter) upToLastStep() Parameter {
	g := newGrid(p)
	p.High, p.Step = g.value(g.count-1).size(), 0
	return p
}

func (p Parameter) intProblems() []problem {
	if p.Numbers != nil || len(p.Choices) > 0 {
		return p.numberProblems()
	}
	all := p.boundProblems()
	for _, b := range []struct {
		field string
		value float64
	}{{"low", p.Low}, {"high", p.High}} {
		switch {
		case math.IsNaN(b.value) || math.IsInf(b.value, 0):
		case b.value != math.Trunc(b.value):
			all = append(all, problem{b.field, -1, fmt.Sprintf("%s %s must be a whole number for type: int", b.field, formatFloat(b.value))})
		case math.Abs(b.value) > maxWhole:
			all = append(all, problem{b.field, -1, fmt.Sprintf("%s %s must be between -2^53 and 2^53 for type: int", b.field, formatFloat(b.value))})
		}
	}
	switch {
	case len(all) > 0:
	case p.High-p.Low > maxIntRange:
		all = append(all, problem{"high", -1, fmt.Sprintf("high %s must be at most 2^40 above low %s for type: int; use type: float for a wider range",
			formatFloat(p.High), formatFloat(p.Low))})
	case p.Scale == Log && p.High > maxLogIntTop:
		all = append(all, problem{"high", -1, fmt.Sprintf("high %s must be at most 2^41 for type: int with scale: log", formatFloat(p.High))})
	default:
		all = p.stepProblems()
	}
	return all
}

// numberProblems returns the errors of choices that are numbers. It returns nothing for choices
// that are texts: misplaced reports these.
func (p Parameter) numberProblems() []problem {
	if len(p.Choices) > 0 {
		return nil
	}
	var all []problem
	if n := len(p.Numbers); n < 1 || n > maxChoices {
		all = append(all, problem{"choices", -1, fmt.Sprintf("choices must be 1 to %d, not %d", maxChoices, n)})
	}
	for i, v := range p.Numbers {
		report := func(format string, a ...any) {
			all = append(all, problem{"choices", i, fmt.Sprintf("choice "+formatFloat(v)+" "+format, a...)})
		}
		switch {
		case !(math.Abs(v) <= maxSize):
			report("must be a finite number from %g to %g", -maxSize, maxSize)
		case p.Kind == Int && v != math.Trunc(v):
			report("must be a whole number for type: int")
		case p.Kind == Int && math.Abs(v) > maxWhole:
			report("must be between -2^53 and 2^53 for type: int")
		case slices.Contains(p.Numbers[:i], v):
			report("is repeated")
		case p.Kind != Categorical && i > 0 && v < p.Numbers[i-1]:
			report("must be above %s, the one before, for type: %s; choices without an order are type: categorical", formatFloat(p.Numbers[i-1]), p.Kind)
		}
	}
	return all
}

func (p Parameter) choiceProblems() []problem {
	if p.Numbers != nil {
		return p.numberProblems()
	}
	var all []problem
	if n := len(p.Choices); n < 1 || n > maxChoices {
		all = append(all, problem{"choices", -1, fmt.Sprintf("choices must be 1 to %d, not %d", maxChoices, n)})
	}
	seen := map[string]bool{}
	for i, c := range p.Choices {
		if message := checkText(c, maxChoiceLen); message != "" {
			all = append(all, problem{"choices", i, fmt.Sprintf("choice %s is not accepted: %s", quote(c), message)})
		} else if seen[c] {
			all = append(all, problem{"choices", i, fmt.Sprintf("choice %s is repeated", quote(c))})
		}
		seen[c] = true
	}
	return all
}

// checkText checks a text that users see, such as a task's name or a choice. It returns an error
// message, or "" if the text is valid.
func checkText(text string, most int) string {
	switch {
	case !utf8.ValidString(text):
		return "it is not valid UTF-8"
	case text == "":
		return "it is empty"
	case utf8.RuneCountInString(text) > most:
		return fmt.Sprintf("it is longer than %d characters", most)
	case strings.TrimSpace(text) != text:
		return "it begins or ends with a space"
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }):
		return "it has a character that cannot be printed"
	}
	return ""
}

// quote returns a text in quotes, shortened to 80 characters. It is for error messages that repeat
// input.
func quote(text string) string {
	const most = 80
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "..."
	}
	return strconv.Quote(text)
}

func (p Parameter) clone() Parameter {
	p.Choices = slices.Clone(p.Choices)
	p.Numbers = slices.Clone(p.Numbers)
	p.When = slices.Clone(p.When)
	for i, c := range p.When {
		p.When[i].Values = slices.Clone(c.Values)
	}
	return p
}

// listed returns the values of a parameter that lists them, in order; nil for a parameter with
// bounds. Numbers of a categorical become ints if all of them are whole, else floats.
func (p Parameter) listed() []Value {
	var all []Value
	if p.Fixed != (Value{}) {
		return []Value{p.Fixed}
	}
	if p.Kind == Bool {
		return []Value{BoolValue(false), BoolValue(true)}
	}
	for _, text := range p.Choices {
		all = append(all, ChoiceValue(text))
	}
	for _, v := range p.Numbers {
		if p.wholeNumbers() {
			all = append(all, IntValue(int64(v)))
		} else {
			all = append(all, FloatValue(v))
		}
	}
	return all
}

// wholeNumbers reports whether the Numbers of the parameter are ints.
func (p Parameter) wholeNumbers() bool {
	fraction := func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > maxWhole }
	return p.Kind == Int || p.Kind == Categorical && !slices.ContainsFunc(p.Numbers, fraction)
}
