package simulate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/experiment"
)

// maxScenarioBytes is the maximum size of a scenario file.
const maxScenarioBytes = 64 << 10

// scenario is a file about the network of a simulation and its agents' times. The zero value is
// none.
type scenario struct {
	file  string
	lines map[string]int // of the keys that the file has
}

// setting is a key of a scenario file.
type setting struct {
	key     string
	accepts string
	read    func(text string) error
}

// scenarioSettings returns the keys of a scenario file, which set parts of a plan.
func scenarioSettings(p *experiment.Plan) []setting {
	return []setting{
		timeSetting("delay", &p.Network.Delay),
		timeSetting("jitter", &p.Network.Jitter),
		numberSetting("loss", &p.Network.Loss),
		countSetting("degree", &p.Network.Degree),
		{"partition", "FROM-UNTIL, two times such as in 100s-200s", func(text string) (err error) {
			p.Network.Partitions, err = halves(text)
			return err
		}},
		timeSetting("join_within", &p.JoinWithin),
		countSetting("min_evals", &p.MinEvaluations),
		numberSetting("max_slowdown", &p.MaxSlowdown),
		numberSetting("straggler", &p.Straggler),
		numberSetting("churn", &p.Churn),
	}
}

func timeSetting(key string, into *time.Duration) setting {
	return setting{key, "a time such as 90s or 10m", func(text string) (err error) {
		*into, err = time.ParseDuration(text)
		return err
	}}
}

func numberSetting(key string, into *float64) setting {
	return setting{key, "a number", func(text string) (err error) {
		*into, err = strconv.ParseFloat(text, 64)
		return err
	}}
}

func countSetting(key string, into *int) setting {
	return setting{key, "a whole number", func(text string) (err error) {
		*into, err = strconv.Atoi(text)
		return err
	}}
}

// halves reads FROM-UNTIL.
func halves(text string) ([]sim.Partition, error) {
	first, last, _ := strings.Cut(text, "-")
	from, err1 := time.ParseDuration(first)
	until, err2 := time.ParseDuration(last)
	return []sim.Partition{{Span: sim.Span{From: from, Until: until}, Parts: 2}}, errors.Join(err1, err2)
}

// readScenario reads a scenario file into a plan.
func readScenario(file string, p *experiment.Plan) (scenario, error) {
	data, err := bounded.ReadFile(file, maxScenarioBytes)
	if err != nil {
		return scenario{}, fmt.Errorf("--scenario: %w", err)
	}
	s := scenario{file, map[string]int{}}
	pairs, err := s.parse(data)
	if err != nil {
		return s, err
	}
	for _, pair := range pairs {
		if err := s.set(pair, scenarioSettings(p)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// parse returns the keys and values of a file.
func (s scenario) parse(data []byte) ([]*ast.MappingValueNode, error) {
	tree, err := recoverpanic.Call("the YAML parser", func() (*ast.File, error) { return parser.ParseBytes(data, 0) })
	if err != nil {
		var place interface {
			GetToken() *token.Token
			GetMessage() string
		}
		if errors.As(err, &place) {
			return nil, s.errorf(lineOf(place.GetToken()), "YAML syntax: %s", place.GetMessage())
		}
		return nil, s.errorf(1, "YAML syntax: %s", sanitize.Text(err.Error(), 200))
	}
	const shape = "expected one KEY: VALUE a line"
	if len(tree.Docs) != 1 {
		return nil, s.errorf(1, "%s in one document", shape)
	}
	switch body := tree.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return body.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, nil
	}
	return nil, s.errorf(1, shape)
}

// set reads one key into its setting.
func (s scenario) set(pair *ast.MappingValueNode, settings []setting) error {
	key, line := pair.Key.GetToken().Value, lineOf(pair.Key.GetToken())
	var keys []string
	for _, known := range settings {
		keys = append(keys, known.key)
		if known.key != key {
			continue
		}
		value, ok := pair.Value.(ast.ScalarNode)
		if !ok {
			return s.errorf(line, "%s: expected %s", key, known.accepts)
		}
		text := value.GetToken().Value
		if err := known.read(text); err != nil {
			return s.errorf(line, "%s %s: expected %s", key, sanitize.Text(text, 100), known.accepts)
		}
		s.lines[key] = line
		return nil
	}
	return s.errorf(line, "unknown key %.100q; accepted: %s", key, strings.Join(keys, ", "))
}

// errorf returns an error with the file and a line of it.
func (s scenario) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("--scenario %s:%d: %s", s.file, line, fmt.Sprintf(format, args...))
}

// explain adds file and line to an error about one of the keys.
func (s scenario) explain(err error) error {
	var bad *experiment.ScenarioError
	if !errors.As(err, &bad) || s.lines[bad.Key] == 0 {
		return err
	}
	return s.errorf(s.lines[bad.Key], "%s %s", bad.Key, bad.Problem)
}

func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 1
	}
	return max(t.Position.Line, 1)
}
