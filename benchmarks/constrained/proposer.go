package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

//go:embed proposer.py
var script string

// request is all that BoTorch is told, point by point.
type request struct {
	X    [][]float64 `json:"x"` // of the unit cube
	Y    []float64   `json:"y"` // larger is better
	C    [][]float64 `json:"c"` // per constraint, at most 0 where it is kept
	Seed uint64      `json:"seed"`
}

// proposer is a Python process that answers requests.
type proposer struct {
	versions map[string]string

	command *exec.Cmd
	in      io.WriteCloser
	encoder *json.Encoder
	decoder *json.Decoder
}

func startProposer(python string) (*proposer, error) {
	command := exec.Command(python, "-W", "ignore", "-c", script)
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
		return nil, fmt.Errorf("start BoTorch: %w; --python names a Python that has it", err)
	}
	p := &proposer{command: command, in: in, encoder: json.NewEncoder(in), decoder: json.NewDecoder(out)}
	var first struct{ Versions map[string]string }
	if err := p.decoder.Decode(&first); err != nil {
		p.stop()
		return nil, fmt.Errorf("start BoTorch: %w; --python names a Python that has it", err)
	}
	p.versions = first.Versions
	return p, nil
}

// ask returns a point of the unit cube and the processor time that it took.
func (p *proposer) ask(r request) (x []float64, seconds float64, err error) {
	if err := p.encoder.Encode(r); err != nil {
		return nil, 0, fmt.Errorf("BoTorch: %w", err)
	}
	var answer struct {
		X       []float64
		Seconds float64
		Error   string
	}
	if err := p.decoder.Decode(&answer); err != nil {
		return nil, 0, fmt.Errorf("BoTorch: %w", err)
	}
	if answer.Error != "" {
		return nil, 0, errors.New("BoTorch: " + answer.Error)
	}
	if len(answer.X) != len(r.X[0]) {
		return nil, 0, fmt.Errorf("BoTorch: %d coordinates, not %d", len(answer.X), len(r.X[0]))
	}
	return answer.X, answer.Seconds, nil
}

// stop ends the process, if there is one.
func (p *proposer) stop() {
	if p != nil {
		_ = p.in.Close()
		_ = p.command.Wait() // it has said all that matters
	}
}
