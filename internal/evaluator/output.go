package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Result is the outcome of one evaluation by the command. All numbers are finite.
type Result struct {
	Value       float64
	Constraints map[string]task.Reading // nil if there are none
	Metrics     map[string]float64      // further numbers; nil if there are none

	// Cost is what the evaluation has cost, 0 or more; nil if it is unknown. It accompanies a failure, as
	// do Annotations, what the trial keeps for the user.
	Cost        *float64
	Annotations strategy.Annotations
	// Hints describe parts of the output that were ignored although the user most likely meant to
	// store them. They have no line breaks.
	Hints []string
}

// beside returns the part of a result that accompanies a failure.
func (r Result) beside() Result {
	return Result{Cost: r.Cost, Annotations: r.Annotations, Hints: r.Hints}
}

// with ends the steps and adds their hints. A program that stopped itself without any value has
// failed.
func (r Result) with(steps *steps, err error) (Result, error) {
	hints, some := steps.end()
	r.Hints = append(r.Hints, hints...)
	if stopped := (*Stopped)(nil); errors.As(err, &stopped) && !some {
		err = errNoSteps
	}
	return r, err
}

// Limits on output in memory, in bytes.
const (
	maxOutput    = 1 << 20 // last part of standard output
	maxComplaint = 4 << 10 // last part of standard error, whose last line is quoted
)

// tail is an io.Writer that keeps the last bytes written to it.
type tail struct {
	limit int // bytes
	kept  []byte
	cut   bool // the beginning was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	// The buffer grows to twice the limit before it is trimmed, so that each byte is moved about
	// once.
	if len(t.kept) > 2*t.limit {
		t.trim()
	}
	return len(p), nil
}

func (t *tail) trim() {
	if extra := len(t.kept) - t.limit; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
		t.cut = true
	}
}

// lastLine returns the last line that is not blank, shortened for display.
func (t *tail) lastLine() string {
	t.trim()
	// A progress bar ends its lines with carriage returns.
	return shorten(lastLine(strings.ReplaceAll(string(t.kept), "\r", "\n")))
}

// result parses the output. The text of an error continues "the command ...".
func (t *tail) result() (Result, error) {
	t.trim()
	text := string(t.kept)
	// If the beginning of the last line was dropped, its rest could look like a number.
	if t.cut && !strings.Contains(strings.TrimRight(text, " \t\r\n"), "\n") {
		return Result{}, fmt.Errorf("printed a last line of more than %d bytes", t.limit)
	}
	return parseOutput(text)
}

// parseOutput parses the last line of a command's standard output that is not blank.
func parseOutput(text string) (Result, error) {
	line := lastLine(text)
	if line == "" {
		return Result{}, errors.New("printed nothing on standard output; its last line must be the value")
	}
	if strings.HasPrefix(line, "{") {
		a, err := parseAnswer(line)
		return a.Result, err
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

func describe(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// eachField calls f for each field of a JSON object. Unlike unmarshalling into a struct, it
// distinguishes upper and lower case in keys, and rejects repeated keys.
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
		key := token.(string) // the decoder returns only strings here
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

// notJSON returns an error for invalid JSON. It includes a remedy for the most likely cause: Python
// prints dictionaries with single quotes.
func notJSON(object []byte) error {
	if bytes.ContainsRune(object, '\'') {
		return errors.New("not valid JSON, which has double quotes (in Python: json.dumps)")
	}
	return errors.New("not valid JSON")
}
