package task

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar is a value of the file, read by the rules of this package. YAML versions
// and libraries disagree on the meaning of 1e3, 010 or 1_000, and a task must have the
// same meaning everywhere.
type scalar struct {
	form form
	text string
}

type form int

const (
	formText      form = iota // a quoted text, or a plain one without another form
	formNumber                // a decimal number
	formOddNumber             // a number in another notation: never accepted
	formNotFinite
	formBool
	formNull
	formList
	formMapping
)

// decimalPattern matches decimal numbers. An octal 010, a hexadecimal 0x1F or a 1_000 does not match
// and is rejected.
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

// describe returns the value's description for messages of the form "must be ..., not ...".
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

// maxNumberLen bounds the digits of a number; a float64 needs 17.
const maxNumberLen = 64

// number returns the value and whether the float64 is exactly the written number, or an error message.
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
	return FloatValue(v).float, exact, "" // never a negative zero
}
