package evaluator

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// maxHints is the maximum number of hints of one answer.
const maxHints = 8

// maxHint is the maximum number of characters of a hint.
const maxHint = 3 * maxQuote

func (a *answer) hint(format string, args ...any) {
	if len(a.Hints) < maxHints {
		a.Hints = append(a.Hints, sanitize.Text(fmt.Sprintf(format, args...), maxHint))
	}
}

// annotations collects the annotations of an answer, and the first error in them.
type annotations struct {
	strategy.Annotations
	err error
}

// read parses the key "attributes", "tags" or "files".
func (a *annotations) read(key string, raw json.RawMessage) {
	var err error
	switch {
	case string(raw) == "null":
	case key == "attributes":
		a.Attributes, err = readAttributes(raw)
	case key == "tags":
		if json.Unmarshal(raw, &a.Tags) != nil {
			err = errors.New(`tags: expected a list of texts`)
		}
	case key == "files":
		a.Files, err = readFiles(raw)
	}
	if a.err == nil {
		a.err = err
	}
}

func readAttributes(raw json.RawMessage) (map[string]string, error) {
	all := map[string]string{}
	err := eachField(raw, func(name string, raw json.RawMessage) error {
		var text string
		if json.Unmarshal(raw, &text) != nil || string(raw) == "null" {
			return fmt.Errorf("%q is %s; expected a text", shorten(name), shorten(string(raw)))
		}
		all[name] = text
		return nil
	})
	return all, describe("attributes", err)
}

// readFiles parses a list of objects {"path": "…", "sha256": "…"}. A text is the path of a file
// without a digest.
func readFiles(raw json.RawMessage) (files []strategy.File, err error) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil, errors.New("files: expected a list of objects with the keys path and sha256")
	}
	for i, raw := range all {
		var file strategy.File
		if raw[0] == '"' {
			err = json.Unmarshal(raw, &file.Path)
		} else {
			err = eachField(raw, func(key string, raw json.RawMessage) error {
				into := map[string]*string{"path": &file.Path, "sha256": &file.SHA256}[key]
				if into == nil || json.Unmarshal(raw, into) != nil {
					return fmt.Errorf("key %q: expected path and sha256, both texts", shorten(key))
				}
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("file %d: %w", i+1, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// checked returns the annotations. If they are not accepted it returns none, and adds a hint.
func (a annotations) checked(hints *[]string) strategy.Annotations {
	err := a.err
	if err == nil {
		_, err = strategy.Adding(a.Annotations).Apply(strategy.Annotations{}, time.Time{})
	}
	if err != nil {
		*hints = append(*hints, sanitize.Text(fmt.Sprintf("attributes, tags and files of the output are not stored: %v", err), maxHint))
		return strategy.Annotations{}
	}
	return a.Annotations
}
