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

//go:embed scoring.py
var script string

// numpy is a Python process that times one round for each line it reads.
type numpy struct {
	NumPy  string    `json:"numpy"`
	BLAS   string    `json:"blas"`
	Values []float64 `json:"values"`

	command *exec.Cmd
	in      io.WriteCloser
	decoder *json.Decoder
}

// importNumPy returns an error when there is no Python with NumPy.
func importNumPy(python string) error {
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		return fmt.Errorf("%s -c 'import numpy': %w", python, err)
	}
	return nil
}

func startNumPy(python string, s *setting) (*numpy, error) {
	command := exec.Command(python, "-c", script)
	command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1")
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
	var rows [][]float64
	for i := 0; i < len(s.frequencies); i += dim {
		rows = append(rows, s.frequencies[i:i+dim])
	}
	n := &numpy{command: command, in: in, decoder: json.NewDecoder(out)}
	err = json.NewEncoder(in).Encode(map[string]any{
		"frequencies": rows, "weights": s.weights, "points": s.points, "batches": batches(), "checks": checks,
	})
	if err = errors.Join(err, n.decoder.Decode(n)); err != nil {
		n.stop()
		return nil, fmt.Errorf("NumPy: %w", err)
	}
	return n, nil
}

// round returns seconds per point by way and batch, as in "pairs 1000".
func (n *numpy) round() (map[string]float64, error) {
	if _, err := io.WriteString(n.in, "\n"); err != nil {
		return nil, fmt.Errorf("NumPy: %w", err)
	}
	var took map[string]float64
	if err := n.decoder.Decode(&took); err != nil {
		return nil, fmt.Errorf("NumPy: %w", err)
	}
	return took, nil
}

func (n *numpy) stop() {
	_ = n.in.Close()
	_ = n.command.Wait() // it has said all that matters
}
