package task

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar is a value of the file, interpreted by this package's own rules. YAML versions and
// libraries disagree on the meaning of 1e3, 010 or 1_000, but a task must mean the same for every
// node.
type scalar struct {
	form form
	text string
}

type form int

const (
	formText      form = iota // a quoted text, or a plain text of no other form
	formNumber                // a decimal number
	formOddNumber             // a number in another notation, such as 0x1F; always rejected
	formNotFinite
	formBool
	formNull
	formList
	formMapping
)

// decimalPattern matches decimal numbers. It does not match octal 010, hexadecimal 0x1F or 1_000,
// which are rejected.
func decimalPattern() *regexp.Regexp {
	return regexp.MustCompile(`^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
}

func oddPattern() *regexp.Regexp {
	return regexp.MustCompile(`^[+-]?(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]+)?)$`)
}

func (d *decoder) scalar(n ast.Node) scalar {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return scalar{form: formMapping}
	case *ast.SequenceNode:
		return scalar{form: formList}
	case *ast.NullNode:
		return scalar{form: formNull}
	case *ast.LiteralNode:
		return scalar{formText, n.Value.Value}
	case *ast.StringNode:
		if kind := n.Token.Type; kind == token.SingleQuoteType || kind == token.DoubleQuoteType {
			return scalar{formText, n.Value}
		}
		return d.plain(n.Value)
	}
	if t := n.GetToken(); t != nil {
		return d.plain(t.Value)
	}
	return scalar{form: formNull}
}

func (d *decoder) plain(text string) scalar {
	switch strings.ToLower(text) {
	case "", "~", "null":
		return scalar{formNull, text}
	case "true", "false":
		return scalar{formBool, text}
	case ".inf", "+.inf", "-.inf", ".nan", "+.nan", "-.nan":
		return scalar{formNotFinite, text}
	}
	switch {
	case d.decimal.MatchString(text):
		return scalar{formNumber, text}
	case d.odd.MatchString(text):
		return scalar{formOddNumber, text}
	}
	return scalar{formText, text}
}

// describe returns a description for messages of the form "must be ..., not ...".
func (s scalar) describe() string {
	switch s.form {
	case formText:
		return "the text " + quote(s.text)
	case formNumber, formOddNumber, formNotFinite:
		return "the number " + shorten(s.text)
	case formBool:
		return s.text
	case formList:
		return "a list"
	case formMapping:
		return "a mapping"
	}
	return "empty"
}

func shorten(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

// maxNumberLen is the maximum number of characters of a number. A float64 needs 17 digits.
const maxNumberLen = 64

// number returns the value of a number, or an error message. The result exact reports whether the
// float64 equals the written number.
func (s scalar) number() (v float64, exact bool, message string) {
	switch s.form {
	case formNumber:
	case formOddNumber:
		return 0, false, fmt.Sprintf("must be a decimal number without leading zeros or _, not %s", shorten(s.text))
	case formNotFinite:
		return 0, false, fmt.Sprintf("must be a finite number, not %s", s.text)
	default:
		return 0, false, fmt.Sprintf("must be a number, not %s", s.describe())
	}
	if len(s.text) > maxNumberLen {
		return 0, false, fmt.Sprintf("must be a number of at most %d characters, not %s", maxNumberLen, shorten(s.text))
	}
	v, err := strconv.ParseFloat(s.text, 64)
	if err != nil {
		return 0, false, fmt.Sprintf("must be a number within the range of a float64, not %s", shorten(s.text))
	}
	written, _, err := big.ParseFloat(s.text, 10, 512, big.ToNearestEven)
	exact = err == nil && written.Cmp(big.NewFloat(v)) == 0
	return FloatValue(v).float, exact, "" // converts negative zero to zero
}

// exact returns the value of a number, or an error message. Whole numbers must not be rounded:
// otherwise 9007199254740993 would become 9007199254740992.
func (s scalar) exact() (v float64, message string) {
	v, exact, message := s.number()
	if message == "" && !exact && v == math.Trunc(v) && math.Abs(v) <= maxWhole {
		return 0, fmt.Sprintf("must be a number without more digits than a float64 holds, not %s", shorten(s.text))
	}
	return v, message
}

// value returns the scalar in the form that Space.ParseDesign accepts, or an error message about the
// number. A list and a mapping are empty, and null is nil.
func (s scalar) value() (given any, message string) {
	switch s.form {
	case formText:
		return s.text, ""
	case formBool:
		return strings.EqualFold(s.text, "true"), ""
	case formNull:
		return nil, ""
	case formList:
		return []any{}, ""
	case formMapping:
		return map[string]any{}, ""
	}
	if _, message := s.exact(); message != "" {
		return nil, message
	}
	return json.Number(s.text), ""
}
