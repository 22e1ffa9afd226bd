package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
)

// workerVariable makes this program a worker: it reads jobs and writes replies,
// one JSON value each. A separate process with GOMAXPROCS=1 keeps a run on one core
// and its cost separate from that of other runs.
const workerVariable = "FBO_SOLO_WORKER"

type reply struct {
	Result result `json:"result"`
	Error  string `json:"error,omitempty"`
}

func work(in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	shared := &python.Shared{Path: os.Getenv(pythonVariable), Script: script}
	defer shared.Stop()
	for {
		var j job
		if err := decoder.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var r reply
		done, err := j.do(shared)
		if r.Result = done; err != nil {
			r.Error = err.Error()
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
}

// worker is the other end of a worker process.
type worker struct {
	command *exec.Cmd
	in      io.WriteCloser
	encoder *json.Encoder
	decoder *json.Decoder
}

func startWorker(python string) (*worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(program)
	command.Env = append(os.Environ(), workerVariable+"=1", "GOMAXPROCS=1", pythonVariable+"="+python)
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
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return &worker{command, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

func (w *worker) do(j job) (result, error) {
	if err := w.encoder.Encode(j); err != nil {
		return result{}, fmt.Errorf("worker: %w", err)
	}
	var r reply
	if err := w.decoder.Decode(&r); err != nil {
		return result{}, fmt.Errorf("worker on %+v: %w", j, err)
	}
	if r.Error != "" {
		return result{}, errors.New(r.Error)
	}
	return r.Result, nil
}

func (w *worker) stop() error {
	_ = w.in.Close() // the process may have ended already; Wait returns the error
	return w.command.Wait()
}
