package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/lab/experiment"
)

// plotter is the program that draws curves: `plotter - FILE` with the JSON of a report on its
// standard input.
const plotter = "fbo-plot"

// findPlotter looks for the plotter beside this program and on the PATH, before a long run rather
// than after it.
func (o *options) findPlotter() (string, error) {
	if o.plot == "" {
		return "", nil
	}
	if extension := strings.ToLower(filepath.Ext(o.plot)); extension != ".svg" && extension != ".png" {
		return "", fmt.Errorf("--plot %s: expected names that end in .svg or .png", o.plot)
	}
	if self, err := os.Executable(); err == nil {
		name := plotter
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(plotter)
	if err != nil {
		return "", fmt.Errorf("--plot %s: the program %s is neither beside fbo-node nor on the PATH; in the source of this project: cd benchmarks && go build -o %s ./plot",
			o.plot, plotter, plotter)
	}
	return path, nil
}

func (o *options) output(ctx context.Context, out io.Writer, report experiment.Report, plotterPath string) error {
	write := report.WriteTable
	if o.json {
		write = func(w io.Writer) error { return base.PrintJSON(w, report) }
	}
	if err := write(out); err != nil {
		return err
	}
	if o.csv != "" {
		if err := writeToFile("csv", o.csv, report.WriteCSV); err != nil {
			return err
		}
	}
	if plotterPath == "" {
		return nil
	}
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, plotterPath, "-", o.plot)
	command.Stdin = bytes.NewReader(text)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("--plot %s: %w: %s", o.plot, err, bytes.TrimSpace(said))
	}
	return nil
}

// checkFiles checks before a long run, rather than after it, whether the files can be written.
func (o *options) checkFiles() error {
	for _, file := range []struct{ flag, path string }{{"csv", o.csv}, {"raw", o.raw}} {
		if file.path == "" {
			continue
		}
		if isDir(file.path) {
			return fmt.Errorf("--%s %s: it is a directory; expected the name of a file", file.flag, file.path)
		}
		if dir := filepath.Dir(file.path); !isDir(dir) {
			return fmt.Errorf("--%s %s: %s is no directory; expected the name of a file in one", file.flag, file.path, dir)
		}
	}
	if o.raw != "" && filepath.Clean(o.raw) == filepath.Clean(o.csv) {
		return fmt.Errorf("--raw %s: --csv writes to that file; expected another file", o.raw)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func writeToFile(flag, path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("--%s %s: %w", flag, path, err)
	}
	return nil
}

// progress shows the progress of a simulation: on a terminal one line that it overwrites, elsewhere
// a line at intervals.
type progress struct {
	out  io.Writer
	live bool
	stop chan struct{}
	over sync.WaitGroup

	mu     sync.Mutex
	latest experiment.Progress
}

func newProgress(out io.Writer, live bool) *progress {
	p := &progress{out: out, live: live, stop: make(chan struct{})}
	every := 10 * time.Second
	if live {
		every = time.Second
	}
	p.over.Go(func() { p.show(every) })
	return p
}

func (p *progress) update(latest experiment.Progress) {
	p.mu.Lock()
	p.latest = latest
	p.mu.Unlock()
}

func (p *progress) show(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			if p.live {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-tick.C:
		}
		p.mu.Lock()
		line := progressLine(p.latest)
		p.mu.Unlock()
		if p.live {
			fmt.Fprintf(p.out, "\r%s\x1b[K", line)
		} else {
			fmt.Fprintln(p.out, line)
		}
	}
}

func progressLine(p experiment.Progress) string {
	if p.Evaluations == 0 {
		return "drawing federations"
	}
	line := fmt.Sprintf("%d of %d runs, %.0f %% of the evaluations", p.Runs, p.AllRuns, 100*float64(p.Evaluations)/float64(p.AllEvaluations))
	return line + fmt.Sprintf(", about %v left", p.Left().Round(time.Second))
}

// end stops the display and returns the last progress.
func (p *progress) end() experiment.Progress {
	close(p.stop)
	p.over.Wait()
	return p.latest
}
