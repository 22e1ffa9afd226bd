package evaluator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// answer is the JSON object with which a command or worker reports the outcome of an evaluation.
type answer struct {
	Result
	hasValue bool
	valueErr error           // why the value is not a finite number
	costErr  error           // why the cost is not accepted
	trial    json.RawMessage // number in the key "trial"; nil if the key is missing
	step     json.RawMessage // number in the key "step"; nil if the key is missing
	failed   bool            // the key "error" is present and not null
	stopped  bool            // the key "stopped" is true
	reason   string          // of a failure, or why the program stopped
}

// isStep reports whether the object is a value by step. Such an object is never the outcome.
func (a answer) isStep() bool { return a.step != nil && a.hasValue && !a.failed }

// parseAnswer parses a line that must be an answer. The error is a *Stopped if the program stopped
// itself. The text of another error continues "the command ...".
func parseAnswer(line string) (answer, error) {
	a, err := readAnswer(line)
	if a.costErr != nil {
		a.hint("%s: %v", costHint, a.costErr)
	}
	if err == nil {
		err = a.check()
	}
	if stopped := (*Stopped)(nil); err != nil && !a.failed && !errors.As(err, &stopped) {
		err = fmt.Errorf("printed %q: %w", shorten(line), err)
	}
	return a, err
}

func (a answer) check() error {
	switch {
	case a.failed && a.reason == "":
		return errors.New("reported an error without a text")
	case a.failed:
		return fmt.Errorf("reported the error %q", shorten(lastLine(a.reason)))
	case a.stopped && (!a.hasValue || a.isStep()):
		return &Stopped{Reason: a.reason}
	case a.isStep():
		return errors.New(`the outcome is missing: with the key "step" this is a value by step; expected a last line without it`)
	case !a.hasValue:
		return errors.New(`the key "value" is missing`)
	}
	return a.valueErr
}

// costHint is the kind of a hint about a cost.
const costHint = "the cost is not stored"

// readAnswer parses the keys "value", "cost", "constraints", "metrics", "attributes", "tags", "files",
// "error", "trial", "step", "stopped" and "reason". All other keys with a number are metrics too. It
// ignores other values, metrics beyond the limits, and costs and annotations that are not accepted, so
// that none of them fails the trial. Hints describe the ignored texts and annotations.
func readAnswer(line string) (a answer, err error) {
	var kept annotations
	var why json.RawMessage
	err = eachField(quoteNonNumbers([]byte(line)), func(key string, raw json.RawMessage) (err error) {
		switch key {
		case "value":
			a.hasValue = true
			a.Value, err = readNumber(raw)
			a.valueErr = describe("the value", err)
		case "cost":
			a.Cost, a.costErr = readCost(raw)
		case "constraints":
			a.Constraints, err = readConstraints(raw)
			return describe("the constraints", err)
		case "metrics":
			a.addMetrics(key, raw)
		case "attributes", "tags", "files":
			kept.read(key, raw)
		case "error":
			a.failed, a.reason = readReason(raw)
		case "trial":
			a.trial = raw
		case "step":
			a.step = raw
		case "reason":
			why = raw
		default:
			if key == "stopped" && (string(raw) == "true" || string(raw) == "false") {
				a.stopped = string(raw) == "true"
				return nil
			}
			a.addMetric(key, raw)
		}
		return nil
	})
	if why != nil && a.stopped && !a.failed {
		_, a.reason = readReason(why)
	} else if why != nil {
		a.addMetric("reason", why)
	}
	a.Annotations = kept.checked(&a.Hints)
	return a, err
}

// readCost parses the key "cost". Null is an unknown cost.
func readCost(raw json.RawMessage) (*float64, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	cost, err := readNumber(raw)
	if err == nil && cost < 0 {
		err = fmt.Errorf("%g is negative", cost)
	}
	if err != nil {
		return nil, fmt.Errorf(`%w; expected a finite number of 0 or more, such as {"value": 0.25, "cost": 3.5}`, err)
	}
	return &cost, nil
}

func readConstraints(raw json.RawMessage) (map[string]task.Reading, error) {
	constraints := map[string]task.Reading{}
	err := eachField(raw, func(name string, raw json.RawMessage) error {
		if text := string(raw); text == "true" || text == "false" {
			constraints[name] = task.Truth(text == "true")
			return nil
		}
		value, err := readNumber(raw)
		constraints[name] = task.Number(value)
		return describe(fmt.Sprintf("constraint %q", name), err)
	})
	if len(constraints) == 0 {
		return nil, err
	}
	return constraints, err
}

// readReason parses the key "error". Null means that there is no failure.
func readReason(raw json.RawMessage) (failed bool, reason string) {
	if string(raw) == "null" {
		return false, ""
	}
	if json.Unmarshal(raw, &reason) != nil {
		reason = string(raw)
	}
	return true, reason
}

// addMetrics adds the numbers of an object.
func (a *answer) addMetrics(key string, raw json.RawMessage) {
	if raw[0] != '{' {
		a.addMetric(key, raw) // a metric of this name
		return
	}
	if err := eachField(raw, func(name string, raw json.RawMessage) error {
		a.addMetric(name, raw)
		return nil
	}); err != nil {
		a.hint("the metrics are not stored beyond an error: %v", err)
	}
}

func (a *answer) addMetric(name string, raw json.RawMessage) {
	value, err := readNumber(raw)
	if text := string(raw); err != nil && raw[0] == '"' && nonNumber([]byte(strings.Trim(text, `"`))) == "" {
		a.hint(`the text of %q is not stored: metrics are numbers; expected texts as {"attributes": {%q: %s}}`, shorten(name), shorten(name), shorten(text))
	}
	if err != nil || !strategy.IsMetricName(name) || len(a.Metrics) == strategy.MaxMetrics {
		return
	}
	if a.Metrics == nil {
		a.Metrics = map[string]float64{}
	}
	a.Metrics[name] = value
}

// quoteNonNumbers puts NaN, Infinity and -Infinity in quotes. Python writes them, but JSON does not
// have them: without quotes the whole object would be invalid.
func quoteNonNumbers(object []byte) []byte {
	var quoted []byte
	inText := false
	for i := 0; i < len(object); i++ {
		if !inText {
			if word := nonNumber(object[i:]); word != "" {
				quoted = append(append(append(quoted, '"'), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		switch object[i] {
		case '"':
			inText = !inText
		case '\\':
			if inText && i+1 < len(object) {
				quoted = append(quoted, object[i])
				i++
			}
		}
		quoted = append(quoted, object[i])
	}
	return quoted
}

func nonNumber(text []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if len(text) >= len(word) && string(text[:len(word)]) == word {
			return word
		}
	}
	return ""
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
