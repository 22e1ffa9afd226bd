package evaluator

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/fbo-node/fbo/task"
)

// DefaultGrace is how long a command may take to end after it was told to.
const DefaultGrace = 2 * time.Second

// Command runs a user's command for the trials of one task. Its fields may be
// changed until the first Evaluate; after that its methods may be called from
// several goroutines, with different trials.
type Command struct {
	// Args is the command and its arguments, with placeholders in all but the
	// first. Set by New.
	Args []string
	// Dir is where the standard error of each trial is kept. Set by New.
	Dir string
	// Env is the environment to which the FBO_ variables are added; os.Environ()
	// by default.
	Env []string
	// Grace is the time between asking a cancelled command to end and killing
	// it, and between its end and no longer waiting for output of processes it
	// left behind. DefaultGrace by default.
	Grace time.Duration

	path       string // Args[0], resolved
	parameters []task.Parameter
}

// New prepares a command to evaluate designs of a space. It makes logDir when it
// is missing. A command that is not there, a placeholder that names no parameter
// and an unusable directory are errors.
func New(space *task.Space, args []string, logDir string) (*Command, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("evaluator: no command given")
	}
	c := &Command{Args: args, Dir: logDir, parameters: space.Parameters()}
	var err error
	if c.path, err = resolve(args[0]); err != nil {
		return nil, err
	}
	if _, err := c.expand(func(task.Parameter) string { return "" }); err != nil {
		return nil, err
	}
	if logDir == "" {
		return nil, errors.New("evaluator: no directory given for the standard error of trials")
	}
	if err := os.MkdirAll(logDir, 0o700); err != nil {
		return nil, fmt.Errorf("evaluator: cannot make the directory for standard error: %w", err)
	}
	return c, nil
}

// resolve finds the command as a shell would, with errors that say what to do.
func resolve(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("evaluator: command %q is in the current directory; write .%c%s", name, os.PathSeparator, name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("evaluator: command %q is not an executable file", name)
	case strings.ContainsAny(name, `/\`):
		return "", fmt.Errorf("evaluator: there is no command %q", name)
	}
	return "", fmt.Errorf("evaluator: command %q was not found in the directories of PATH", name)
}

// expand returns the arguments, without the command, with their placeholders
// replaced.
func (c *Command) expand(value func(task.Parameter) string) ([]string, error) {
	values := make(map[string]string, len(c.parameters))
	names := make([]string, len(c.parameters))
	for i, p := range c.parameters {
		values[p.Name], names[i] = value(p), p.Name
	}
	var args []string
	for _, arg := range c.Args[1:] {
		expanded, unknown := expandArgument(arg, values)
		if unknown != "" {
			return nil, fmt.Errorf("evaluator: argument %q: {%s} is no parameter of the task (they are: %s); write {{%s}} to mean the text",
				arg, unknown, strings.Join(names, ", "), unknown)
		}
		args = append(args, expanded)
	}
	return args, nil
}

// expandArgument replaces {name} by its value, {{ by { and }} by }. Braces
// around anything that is not an identifier stay as they are. It returns the
// first placeholder that has no value.
func expandArgument(arg string, values map[string]string) (expanded, unknown string) {
	var b strings.Builder
	for arg != "" {
		if strings.HasPrefix(arg, "{{") || strings.HasPrefix(arg, "}}") {
			b.WriteByte(arg[0])
			arg = arg[2:]
			continue
		}
		if name := placeholder(arg); name != "" {
			value, ok := values[name]
			if !ok {
				return "", name
			}
			b.WriteString(value)
			arg = arg[len(name)+2:]
			continue
		}
		b.WriteByte(arg[0])
		arg = arg[1:]
	}
	return b.String(), ""
}

// placeholder returns the identifier when s starts with {identifier}.
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

// environment returns the variables a trial runs with. Those of an outer node
// are dropped: a parameter that this task does not have must not be seen.
func (c *Command) environment(trial uint64, design task.Design) ([]string, error) {
	base := c.Env
	if base == nil {
		base = os.Environ()
	}
	var env []string
	for _, variable := range base {
		if !strings.HasPrefix(variable, "FBO_PARAM") && !strings.HasPrefix(variable, "FBO_TRIAL=") {
			env = append(env, variable)
		}
	}
	params, err := design.MarshalJSON()
	if err != nil {
		return nil, err
	}
	env = append(env, fmt.Sprintf("FBO_TRIAL=%d", trial), "FBO_PARAMS="+string(params))
	for _, p := range c.parameters {
		env = append(env, "FBO_PARAM_"+strings.ToUpper(p.Name)+"="+design.Value(p.Name).String())
	}
	return env, nil
}
