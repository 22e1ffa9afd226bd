// Package python has what others optimise with in Python answer requests: a process per
// script, a line of JSON per request, one thread.
package python

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

//go:embed serve.py
var serve string

// Has returns an error when the Python cannot import the modules.
func Has(python string, modules ...string) error {
	output, err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput()
	if err == nil {
		return nil
	}
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	if last := string(lines[len(lines)-1]); last != "" { // of the traceback; it names the missing module
		return fmt.Errorf("%s: %s", python, last)
	}
	return fmt.Errorf("%s: %w", python, err)
}

// Process is a Python process that runs a script; serve.py documents what the script must have.
type Process struct {
	Versions map[string]string // of the script's packages

	command *exec.Cmd
	in      io.WriteCloser
	encoder *json.Encoder
	decoder *json.Decoder
}

// Start starts a process and returns when the script has imported its packages. Messages of
// Python go to standard error.
func Start(python, script string) (*Process, error) {
	command := exec.Command(python, "-W", "ignore", "-c", serve, script)
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{command: command, in: in, encoder: json.NewEncoder(in), decoder: json.NewDecoder(out)}
	if err := p.decoder.Decode(p); err != nil {
		p.Stop()
		return nil, fmt.Errorf("%s: %w", python, err)
	}
	return p, nil
}

// Ask fills in the answer to a request and returns the processor time that it took.
func (p *Process) Ask(request, answer any) (seconds float64, err error) {
	if err := p.encoder.Encode(request); err != nil {
		return 0, err
	}
	var line json.RawMessage
	if err := p.decoder.Decode(&line); err != nil {
		return 0, err
	}
	var about struct {
		Seconds float64
		Error   string
	}
	if err := json.Unmarshal(line, &about); err != nil {
		return 0, err
	}
	if about.Error != "" {
		return 0, errors.New(about.Error)
	}
	return about.Seconds, json.Unmarshal(line, answer)
}

// Stop ends the process, if there is one.
func (p *Process) Stop() {
	if p != nil {
		_ = p.in.Close()
		_ = p.command.Wait() // it has said all that matters
	}
}

// Shared is a Python that is started when a run needs it, and serves all later ones.
type Shared struct {
	Path, Script string

	process *Process
}

// Started returns the process, and starts it when none runs.
func (s *Shared) Started() (*Process, error) {
	if s.process == nil {
		process, err := Start(s.Path, s.Script)
		if err != nil {
			return nil, err
		}
		s.process = process
	}
	return s.process, nil
}

// Stop ends the process, if there is one.
func (s *Shared) Stop() { s.process.Stop() }
