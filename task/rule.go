package task

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
	"github.com/expr-lang/expr/vm"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Limits of constraints among parameters. They bound the cost of a check: expressions have no loops,
// so it grows with the number of nodes only.
const (
	maxRules     = 32
	maxRuleRunes = 256
	maxRuleNodes = 64
)

// rule is a constraint among parameters: an expression that is true for feasible designs. It applies
// to designs in which all its parameters are active.
type rule struct {
	text       string
	program    *vm.Program
	parameters []int // positions of the parameters that it names, ascending
}

func ruleFunctions() []string { return []string{"abs", "ceil", "floor", "max", "min", "round"} }

func ruleOperators() []string {
	return []string{"+", "-", "*", "/", "%", "**", "^", "<", "<=", ">", ">=", "==", "!=", "and", "&&", "or", "||", "in"}
}

// ruleProblem is an error in one of the constraints among parameters.
type ruleProblem struct {
	item    int // index of the expression, or -1 for all of them
	message string
}

// compileRules sets the constraints among parameters. It returns the errors of their texts.
func (s *Space) compileRules(texts []string) []ruleProblem {
	if len(texts) > maxRules {
		return []ruleProblem{{-1, fmt.Sprintf("%d expressions, expected at most %d", len(texts), maxRules)}}
	}
	var all []ruleProblem
	for i, text := range texts {
		r, err := s.compileRule(text)
		if err == nil && slices.Contains(texts[:i], text) {
			err = errors.New("the expression is repeated")
		}
		if err != nil {
			all = append(all, ruleProblem{i, err.Error()})
			continue
		}
		s.rules = append(s.rules, r)
	}
	if len(s.rules) > 0 {
		s.checks = newRuleChecks(s)
	}
	return all
}

func (s *Space) compileRule(text string) (rule, error) {
	if message := checkText(text, maxRuleRunes); message != "" {
		return rule{}, fmt.Errorf("expression %s is not accepted: %s", quote(text), message)
	}
	fail := func(err error) (rule, error) {
		return rule{}, fmt.Errorf("expression %s: %w", quote(text), err)
	}
	portable := wideAsFloats(text)
	tree, err := parser.Parse(portable)
	if err != nil {
		return fail(located(err, syntaxWords()))
	}
	reader := ruleReader{space: s, used: map[int]bool{}}
	reader.read(tree.Node)
	if reader.err == nil && reader.nodes > maxRuleNodes {
		reader.err = fmt.Errorf("%d operators and operands, expected at most %d", reader.nodes, maxRuleNodes)
	}
	if reader.err == nil && len(reader.used) == 0 {
		reader.err = errors.New("it names no parameter")
	}
	if reader.err != nil {
		return fail(reader.err)
	}
	r := rule{text: text, parameters: slices.Sorted(maps.Keys(reader.used))}
	variables := map[string]any{}
	for _, i := range r.parameters {
		variables[s.parameters[i].Name] = s.ValueAt(i, make([]float64, s.dim)).variable()
	}
	options := []expr.Option{
		expr.Env(variables),
		expr.AsBool(), expr.DisableAllBuiltins(), expr.Patch(floats{}),
		expr.Function("mod", func(of ...any) (any, error) { return math.Mod(of[0].(float64), of[1].(float64)), nil }, math.Mod),
		expr.Operator("%", "mod"),
	}
	for _, name := range ruleFunctions() {
		options = append(options, expr.EnableBuiltin(name))
	}
	if r.program, err = expr.Compile(portable, options...); err != nil {
		return fail(located(err, typeWords()))
	}
	return r, nil
}

// wideAsFloats returns an expression in which whole numbers above 32 bits are written as floats, which
// they become anyway. The parser reads whole numbers as int, and would refuse them on processors of
// 32 bits.
func wideAsFloats(text string) string {
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return text // the parser reports it
	}
	runes := []rune(text)
	for _, token := range slices.Backward(tokens) {
		if n, err := strconv.ParseInt(token.Value, 10, 64); token.Kind == lexer.Number && err == nil && n > math.MaxInt32 {
			runes = slices.Insert(runes, token.To, []rune(".0")...)
		}
	}
	return string(runes)
}

// located returns an error of the expression library as one line, in the terms of a task file and
// with the place in the text.
func located(err error, words *strings.Replacer) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return errors.New(words.Replace(err.Error()))
	}
	message, _, _ := strings.Cut(at.Message, "\n")
	return fmt.Errorf("%s, at character %d", words.Replace(message), at.Column+1)
}

func syntaxWords() *strings.Replacer {
	return strings.NewReplacer(`unexpected token Operator("=")`, "= is no operator; expected ==, <= or >=", "token EOF", "end")
}

func typeWords() *strings.Replacer { return strings.NewReplacer("float64", "number", "string", "text") }

// floats makes all numbers of an expression floats: whole numbers would overflow.
type floats struct{}

func (floats) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IntegerNode); ok {
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	}
}

// ruleReader collects the parameters of an expression and refuses all but arithmetic, comparisons and
// logic.
type ruleReader struct {
	space *Space
	used  map[int]bool
	nodes int
	err   error // the first one
}

func (r *ruleReader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, a...)
	}
}

func (r *ruleReader) read(nodes ...ast.Node) {
	for _, node := range nodes {
		r.nodes++
		switch n := node.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		case *ast.IdentifierNode:
			if i, ok := r.space.index[n.Value]; ok {
				r.used[i] = true
			} else {
				r.fail("unknown parameter %s; expected one of %s", quote(n.Value), r.space.names())
			}
		case *ast.UnaryNode:
			r.read(n.Node)
		case *ast.BinaryNode:
			if !slices.Contains(ruleOperators(), n.Operator) {
				r.fail("operator %q is not accepted; expected one of %s", n.Operator, strings.Join(ruleOperators(), " "))
			}
			r.compare(n.Left, n.Right)
			r.compare(n.Right, n.Left)
			r.read(n.Left, n.Right)
		case *ast.ConditionalNode:
			r.read(n.Cond, n.Exp1, n.Exp2)
		case *ast.ArrayNode:
			r.read(n.Nodes...)
		case *ast.BuiltinNode:
			r.function(n.Name, n.Arguments)
		case *ast.CallNode:
			r.function(n.Callee.String(), n.Arguments)
		default:
			r.fail("%s is not accepted; expected numbers, texts, parameters, operators and the functions %s", quote(node.String()), strings.Join(ruleFunctions(), ", "))
		}
	}
}

// compare refuses the comparison of a categorical parameter with a text that is none of its choices.
func (r *ruleReader) compare(parameter, with ast.Node) {
	name, ok := parameter.(*ast.IdentifierNode)
	if !ok {
		return
	}
	i, known := r.space.index[name.Value]
	if !known || r.space.parameters[i].Choices == nil {
		return
	}
	texts := []ast.Node{with}
	if list, ok := with.(*ast.ArrayNode); ok {
		texts = list.Nodes
	}
	for _, node := range texts {
		if text, ok := node.(*ast.StringNode); ok && !slices.Contains(r.space.parameters[i].Choices, text.Value) {
			r.fail("%s is not a value of %q; it takes %s", quote(text.Value), name.Value, r.space.parameters[i].accepted())
		}
	}
}

func (r *ruleReader) function(name string, arguments []ast.Node) {
	if !slices.Contains(ruleFunctions(), name) {
		r.fail("unknown function %s; expected one of %s", quote(name), sanitize.List(ruleFunctions()))
	}
	r.read(arguments...)
}

// violated returns the first constraint among parameters that the values do not satisfy; ok is false
// if they satisfy all.
func (s *Space) violated(values []Value) (text string, ok bool) {
	if len(s.rules) == 0 {
		return "", false
	}
	check := s.newRuleCheck()
	for i, v := range values {
		check.set(i, v)
	}
	if first, broken := check.violated(); broken {
		return s.rules[first].text, true
	}
	return "", false
}

// checkRules returns an error if the values violate a constraint among parameters.
func (s *Space) checkRules(values []Value) error {
	if text, ok := s.violated(values); ok {
		return fmt.Errorf("task: %s violates the parameter constraint %s", Design{s, values}, quote(text))
	}
	return nil
}

// ParameterConstraints returns the constraints among parameters, in the order of the task file.
func (s *Space) ParameterConstraints() []string {
	var all []string
	for _, r := range s.rules {
		all = append(all, r.text)
	}
	return all
}
