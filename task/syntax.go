package task

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxFileBytes is the maximum size of a task file in bytes, far more than real tasks need.
const MaxFileBytes = 64 << 10

// maxNesting is the maximum depth of brackets in a file. A valid file is less deep: a list in a
// mapping in a list in a mapping. So slightly deeper files get a more specific error.
const maxNesting = 8

// position is a place in the file; lines and columns count from 1.
type position struct{ line, column int }

// syntaxError is an error in the YAML syntax.
type syntaxError struct {
	at      position
	message string
}

// parseYAML returns the root node of the file's only document. It rejects features of YAML that
// tasks do not use, and recovers from panics of the YAML library.
func parseYAML(data []byte) (root ast.Node, failure *syntaxError) {
	defer func() {
		if r := recover(); r != nil {
			root, failure = nil, &syntaxError{position{1, 1}, "YAML syntax: the file cannot be parsed; simplify it, or check that it is YAML"}
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if failure := checkBytes(data); failure != nil {
		return nil, failure
	}
	tokens := lexer.Tokenize(string(data))
	if tokens.InvalidToken() == nil {
		if failure := checkTokens(tokens); failure != nil {
			return nil, failure
		}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // repeated keys are allowed here, because Section reports them with all other errors
	if err != nil {
		return nil, convert(err)
	}
	for _, document := range file.Docs {
		if document.Body != nil {
			return document.Body, nil
		}
	}
	return nil, &syntaxError{position{1, 1}, "the file is empty; a task needs the keys name, goal and parameters"}
}

// checkBytes rejects files that are too large, are not UTF-8, or contain control characters.
func checkBytes(data []byte) *syntaxError {
	if len(data) > MaxFileBytes {
		return &syntaxError{position{1, 1}, fmt.Sprintf("the file has %d bytes; at most %d are accepted", len(data), MaxFileBytes)}
	}
	at := position{1, 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &syntaxError{at, "the file is not valid UTF-8"}
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return &syntaxError{at, fmt.Sprintf("the control character %U is not accepted", r)}
		}
		at.column++
		if r == '\n' {
			at = position{at.line + 1, 1}
		}
		i += size
	}
	return nil
}

// refused returns an error message for the kinds of tokens that a task file may not have, and
// otherwise "".
func refused(kind token.Type) string {
	switch kind {
	case token.AnchorType:
		return "anchors (&name) are not accepted; write the value out, or put it in quotes when it is a text"
	case token.AliasType:
		return "aliases (*name) are not accepted; write the value out, or put it in quotes when it is a text"
	case token.MergeKeyType:
		return "merge keys (<<) are not accepted; write the keys out"
	case token.TagType:
		return "tags (!name) are not accepted; put the value in quotes when it is a text"
	case token.DirectiveType:
		return "directives (%NAME) are not accepted"
	case token.MappingKeyType:
		return "keys marked with ? are not accepted; write key: value"
	}
	return ""
}

// checkTokens rejects unsupported features before the parser builds a tree. It also limits the
// nesting, and so the recursion of the parser.
func checkTokens(tokens token.Tokens) *syntaxError {
	depth := 0
	content, ended := false, false
	for i, t := range tokens {
		if message := refused(t.Type); message != "" {
			return &syntaxError{tokenPosition(t), message}
		}
		switch t.Type {
		case token.CommentType:
			continue
		case token.DocumentHeaderType:
			if content || ended {
				return &syntaxError{tokenPosition(t), "a file holds one task; a second document (---) is not accepted"}
			}
		case token.DocumentEndType:
			ended = true
			continue
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.StringType:
			if t.Value != "" && strings.Contains("]},", t.Value[:1]) { // the library would accept a misplaced bracket as text
				return &syntaxError{tokenPosition(t), fmt.Sprintf("YAML syntax: %q is out of place; put a text that begins with it in quotes", t.Value[:1])}
			}
		case token.SequenceEntryType:
			if i > 0 && tokens[i-1].Type == token.SequenceEntryType {
				return &syntaxError{tokenPosition(t), "a list directly inside a list is not accepted"}
			}
		}
		if ended {
			return &syntaxError{tokenPosition(t), "a file holds one task; text after its end (...) is not accepted"}
		}
		content = true // so that a second header counts as a second document
		if depth > maxNesting {
			return &syntaxError{tokenPosition(t), fmt.Sprintf("nested more than %d deep", maxNesting)}
		}
	}
	return nil
}

// convert returns the position and message of an error of the YAML library, without the excerpt of
// the file in its text.
func convert(err error) *syntaxError {
	var detailed interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &detailed) {
		return &syntaxError{position{1, 1}, "YAML syntax: " + err.Error()}
	}
	message := detailed.GetMessage()
	if strings.Contains(message, "'\t'") {
		message = "a tab cannot indent; use spaces"
	}
	return &syntaxError{tokenPosition(detailed.GetToken()), "YAML syntax: " + message}
}

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// nodePosition returns the position at which a node begins. The library itself reports the position
// of a block mapping, and of a pair, as the colon after the first key.
func nodePosition(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return nodePosition(n.Values[0])
		}
	case *ast.MappingValueNode:
		return nodePosition(n.Key)
	}
	return tokenPosition(n.GetToken())
}
