//go:build !race

package main_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// Files that become much are refused with one line and at most 200 MB of memory, of which the race
// detector takes several times as much.
func TestFilesThatBecomeMuch(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	write := func(name string, fill func(w io.Writer)) string {
		path := filepath.Join(dir, name)
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		fill(file)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	repeat := func(w io.Writer, text string, megabytes int) {
		block := bytes.Repeat([]byte(text), (1<<20)/len(text))
		for range megabytes {
			if _, err := w.Write(block); err != nil {
				t.Fatal(err)
			}
		}
	}
	zipped := func(text string) func(w io.Writer) {
		return func(w io.Writer) {
			z := gzip.NewWriter(w)
			repeat(z, text, 300)
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	task := write("task.yaml", func(w io.Writer) { io.WriteString(w, bowlTask) })
	simulate := func(table string) []string {
		return []string{"simulate", "--family", "table:task=" + task + ",file=" + table, "--agents", "2", "--evals", "3", "--out", filepath.Join(dir, "runs")}
	}
	for name, c := range map[string]struct {
		line []string
		want string
	}{
		"zeros":         {simulate(write("zeros.csv.gz", zipped("\x00"))), "a line has more than 1 MiB"},
		"rows":          {simulate(write("rows.csv.gz", func(w io.Writer) { zipped("x,y,value\n1,1,1\n")(w) })), "line 3"},
		"a cell":        {join(runLine(task, dir, "--import", write("cell.csv", func(w io.Writer) { repeat(w, "\"", 1); repeat(w, "0", 60) })), objective("bowl")), "more than 32 MiB"},
		"a small cell":  {join(runLine(task, dir, "--import", write("small.csv", func(w io.Writer) { io.WriteString(w, "x,y,value\n\""); repeat(w, "0", 30) })), objective("bowl")), "a line has more than 1 MiB"},
		"empty objects": {join(runLine(task, dir, "--import", write("empty.json", func(w io.Writer) { io.WriteString(w, "["); repeat(w, "{},", 30); io.WriteString(w, "{}]") })), objective("bowl")), "trial 1"},
		"a task file":   {[]string{"task", "check", write("large.yaml", func(w io.Writer) { repeat(w, "#", 60) })}, "64 KiB"},
	} {
		command := nodeCommand(c.line...)
		e := finish(t, command)
		if e.code != base.ExitUsage || !strings.Contains(e.stderr, c.want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %d lines: %.300s", name, e.code, strings.Count(e.stderr, "\n"), e.stderr)
		}
		if peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; peak > 200 {
			t.Errorf("%s: %d MB of memory, expected at most 200", name, peak)
		}
	}
}
