package evaluator

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// DefaultGrace is the default time between the request to a command to end and its kill.
const DefaultGrace = 2 * time.Second

// Command runs a user's command for each trial of a task. Its fields may be changed until the first
// Evaluate. After that its methods may be called from several goroutines, with different trials.
type Command struct {
	// Args is the command and its arguments. All but the first may contain placeholders. New sets
	// it.
	Args []string
	// Env is the environment to which the FBO_ variables are added. The default is os.Environ().
	Env []string
	// Supervisor is the command line of a program that calls [Supervise] with the arguments
	// appended to the line. With a supervisor, the command and its child processes are killed when
	// this process ends, for whatever reason. The default is no supervisor. Windows does not
	// support one.
	Supervisor []string
	// Grace is the time between the request to a cancelled command to end and its kill. After a
	// command has ended, it is also the maximum wait for the output of processes that the command
	// left running. The default is DefaultGrace.
	Grace time.Duration

	path       string // path of the executable Args[0]
	logs       *triallog.Store
	parameters []task.Parameter
}

// New returns a Command that evaluates designs of the space. Package triallog stores the output of
// trials in logDir. It returns an error if the command does not exist, if a placeholder is not the
// name of a parameter, or if the directory cannot be used.
func New(space *task.Space, args []string, logDir string) (*Command, error) {
	c := &Command{Args: args, parameters: space.Parameters()}
	var err error
	if c.path, err = resolve(args); err != nil {
		return nil, err
	}
	if _, err := c.expand(task.Design{}); err != nil {
		return nil, err
	}
	if c.logs, err = openLogs(logDir); err != nil {
		return nil, err
	}
	return c, nil
}

// ErrLogs means that the output of trials cannot be stored. The command does not matter for it.
var ErrLogs = errors.New("cannot keep the output of trials")

func openLogs(dir string) (*triallog.Store, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w: no directory given", ErrLogs)
	}
	logs, err := triallog.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLogs, err)
	}
	return logs, nil
}

// resolve returns the path of the command, as a shell finds it. Errors include a remedy.
func resolve(args []string) (string, error) {
	if len(args) == 0 || args[0] == "" {
		return "", errors.New("no command given")
	}
	name := args[0]
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("command %q is in the current directory; write .%c%s", name, os.PathSeparator, name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("command %q is not an executable file", name)
	case strings.ContainsAny(name, `/\`):
		return "", fmt.Errorf("there is no command %q", name)
	}
	return "", fmt.Errorf("command %q was not found in the directories of PATH", name)
}

// expand returns the arguments after the command, with their placeholders replaced by the values of
// the design. The text of an inactive parameter is empty. An option, which is an argument that
// begins with -, is left out if it names an inactive parameter. The zero Design only checks the
// placeholders.
func (c *Command) expand(design task.Design) ([]string, error) {
	values := make(map[string]string, len(c.parameters))
	names := make([]string, len(c.parameters))
	for i, p := range c.parameters {
		values[p.Name], names[i] = "", p.Name
		if !design.IsZero() {
			values[p.Name] = design.Value(p.Name).String()
		}
	}
	var args []string
	for _, arg := range c.Args[1:] {
		expanded, empty, unknown := expandArgument(arg, values)
		if unknown != "" {
			return nil, fmt.Errorf("argument %q: {%s} is no parameter of the task (they are: %s); write {{%s}} to mean the text",
				arg, unknown, sanitize.List(names), unknown)
		}
		if !empty || !strings.HasPrefix(arg, "-") {
			args = append(args, expanded)
		}
	}
	return args, nil
}

// expandArgument replaces {name} by the value of the parameter, and {{name}} by the text {name}.
// All other braces remain, such as those of JSON. empty reports whether a value was empty. If a
// placeholder is not the name of a parameter, it is returned in unknown, since it is probably
// misspelt. There is one exception: ${name} is then a variable of a shell and remains.
func expandArgument(arg string, values map[string]string) (expanded string, empty bool, unknown string) {
	var b strings.Builder
	for arg != "" {
		before, name, after := cutPlaceholder(arg)
		b.WriteString(before)
		if name == "" {
			break
		}
		arg = after
		value, known := values[name]
		switch {
		case strings.HasSuffix(before, "{") && strings.HasPrefix(after, "}"): // {{name}}; its first brace is already in b
			b.WriteString(name + "}")
			arg = after[1:]
		case known:
			b.WriteString(value)
			empty = empty || value == ""
		case strings.HasSuffix(before, "$"):
			b.WriteString("{" + name + "}")
		default:
			return "", false, name
		}
	}
	return b.String(), empty, ""
}

// cutPlaceholder splits s at the first {identifier}. If there is none, the name is empty.
func cutPlaceholder(s string) (before, name, after string) {
	for i := range len(s) {
		if name := placeholder(s[i:]); name != "" {
			return s[:i], name, s[i+len(name)+2:]
		}
	}
	return s, "", ""
}

// placeholder returns the identifier if s begins with {identifier}, and otherwise "".
func placeholder(s string) string {
	if s[0] != '{' {
		return ""
	}
	end := strings.IndexByte(s, '}')
	if end < 2 {
		return ""
	}
	name := s[1:end]
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return ""
		}
	}
	return name
}

// environment returns the environment variables for a trial. Inactive parameters have none.
func (c *Command) environment(trial Trial) ([]string, error) {
	env, design := withoutTrial(c.Env), trial.Design
	params, err := design.MarshalJSON()
	if err != nil {
		return nil, err
	}
	env = append(env, fmt.Sprintf("FBO_TRIAL=%d", trial.ID), "FBO_PARAMS="+string(params))
	if trial.Attempt > 0 {
		env = append(env, fmt.Sprintf("FBO_ATTEMPT=%d", trial.Attempt))
	}
	if len(trial.Steps) > 0 {
		env = append(env, fmt.Sprintf("FBO_STEP=%d", trial.Steps.Last().Step))
	}
	if trial.Member != nil {
		env = append(env, trial.Member.variables()...)
	}
	for _, p := range c.parameters {
		if design.Active(p.Name) {
			env = append(env, "FBO_PARAM_"+strings.ToUpper(p.Name)+"="+design.Value(p.Name).String())
		}
	}
	return env, nil
}

// withoutTrial removes the variables of a trial of an outer node, so that the command does not see
// parameters of another task. A nil base means os.Environ().
func withoutTrial(base []string) (env []string) {
	if base == nil {
		base = os.Environ()
	}
	for _, variable := range base {
		of := func(prefix string) bool { return strings.HasPrefix(variable, prefix) }
		if !slices.ContainsFunc([]string{"FBO_PARAM", "FBO_TRIAL=", "FBO_ATTEMPT=", "FBO_STEP="}, of) {
			env = append(env, variable)
		}
	}
	return env
}

func orDefault(grace time.Duration) time.Duration {
	if grace <= 0 {
		return DefaultGrace
	}
	return grace
}
