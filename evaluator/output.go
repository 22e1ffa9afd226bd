package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Result is what one run of the command measured. All numbers are finite.
type Result struct {
	Value       float64
	Constraints map[string]float64 // nil when the command printed none
}

// maxOutput is how much of standard output is kept: its end.
const maxOutput = 1 << 20 // bytes

// tail is an io.Writer that keeps the end of what is written to it.
type tail struct {
	kept []byte
	cut  bool // something was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	// Shift seldom: twice the bound is held so that each byte moves about once.
	if len(t.kept) > 2*maxOutput {
		t.trim()
	}
	return len(p), nil
}

func (t *tail) trim() {
	if extra := len(t.kept) - maxOutput; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
		t.cut = true
	}
}

// result reads the output. An error completes the sentence "the command ...".
func (t *tail) result() (Result, error) {
	t.trim()
	text := string(t.kept)
	// A line whose beginning was dropped could end in what looks like a number.
	if t.cut && !strings.Contains(strings.TrimRight(text, " \t\r\n"), "\n") {
		return Result{}, fmt.Errorf("printed a last line of more than %d bytes", maxOutput)
	}
	return parseOutput(text)
}

// parseOutput reads the last non-blank line of a command's standard output.
func parseOutput(text string) (Result, error) {
	line := lastLine(text)
	if line == "" {
		return Result{}, errors.New("printed nothing on standard output; its last line must be the value")
	}
	if strings.HasPrefix(line, "{") {
		return parseObject(line)
	}
	value, err := strconv.ParseFloat(line, 64)
	if (err != nil && !errors.Is(err, strconv.ErrRange)) || strings.ContainsAny(line, "xX_") {
		return Result{}, fmt.Errorf("printed %q as its last line, which is neither a number nor a JSON object", shorten(line))
	}
	if err := checkFinite(value); err != nil {
		return Result{}, fmt.Errorf("printed %q: the value is %w", shorten(line), err)
	}
	return Result{Value: value}, nil
}

func parseObject(line string) (Result, error) {
	result, err := readObject(line)
	if err != nil {
		return Result{}, fmt.Errorf("printed %q: %w", shorten(line), err)
	}
	return result, nil
}

func readObject(line string) (result Result, err error) {
	found := false
	err = eachField([]byte(line), func(key string, raw json.RawMessage) error {
		switch key {
		case "value":
			found = true
			result.Value, err = readNumber(raw)
			return describe("the value", err)
		case "constraints":
			result.Constraints = map[string]float64{}
			return describe("the constraints", eachField(raw, func(name string, raw json.RawMessage) error {
				result.Constraints[name], err = readNumber(raw)
				return describe(fmt.Sprintf("constraint %q", name), err)
			}))
		}
		return fmt.Errorf(`unknown key %q; accepted are "value" and "constraints"`, key)
	})
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, errors.New(`the key "value" is missing`)
	}
	if len(result.Constraints) == 0 {
		result.Constraints = nil
	}
	return result, nil
}

func describe(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// eachField calls f with the fields of a JSON object. It differs from unmarshalling
// into a struct in that keys must match exactly and may not be repeated.
func eachField(object []byte, f func(key string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return notJSON(object)
		}
		key := token.(string) // the decoder accepts nothing else here
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return notJSON(object)
		}
		if seen[key] {
			return fmt.Errorf("the key %q is repeated", key)
		}
		seen[key] = true
		if err := f(key, value); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return notJSON(object)
	}
	if len(bytes.TrimSpace(object[decoder.InputOffset():])) > 0 {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

// notJSON explains the most likely reason: Python writes numbers that JSON lacks.
func notJSON(object []byte) error {
	if bytes.Contains(object, []byte("NaN")) || bytes.Contains(object, []byte("Infinity")) {
		return errors.New("not valid JSON; NaN and Infinity are not accepted")
	}
	return errors.New("not valid JSON")
}

func readNumber(raw json.RawMessage) (float64, error) {
	if first := raw[0]; first != '-' && (first < '0' || first > '9') {
		return 0, fmt.Errorf("%s is not a number", shorten(string(raw)))
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is not a number", shorten(string(raw)))
	}
	return value, checkFinite(value)
}

func checkFinite(value float64) error {
	if math.IsNaN(value) {
		return errors.New("NaN, not a number")
	}
	if math.IsInf(value, 0) {
		return errors.New("infinite")
	}
	return nil
}
