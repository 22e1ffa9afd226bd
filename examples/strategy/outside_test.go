package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example needs nothing that another module could not import: it builds as another module, and
// its nodes follow each other. A node whose peer leads follows it with probability 1/2. Of 30
// designs of each node about 26 can follow, so that none does in one of 10^7 runs.
func TestWorksOutsideTheModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const within, outside = "github.com/fbo-node/fbo/examples/strategy", "example.org/own"
	copyFile(t, "task.yaml", filepath.Join(dir, "task.yaml"), nil)
	copyFile(t, "main.go", filepath.Join(dir, "main.go"), strings.NewReplacer(within, outside))
	copyFile(t, "leader/leader.go", filepath.Join(dir, "leader", "leader.go"), nil)
	copyFile(t, filepath.Join(root, "go.sum"), filepath.Join(dir, "go.sum"), nil)
	copyFile(t, filepath.Join(root, "go.mod"), filepath.Join(dir, "go.mod"), strings.NewReplacer(
		"module github.com/fbo-node/fbo", "module "+outside+"\n\nrequire github.com/fbo-node/fbo v0.0.0\n\nreplace github.com/fbo-node/fbo => "+root))

	command := exec.CommandContext(t.Context(), "go", "run", ".", "--evals", "30")
	command.Dir = dir
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if lines := strings.Count(string(output), "\n"); lines != 60 || !strings.Contains(string(output), "[a step from the best design of ") {
		t.Errorf("%d lines, expected 60, of which some name the leader:\n%s", lines, output)
	}
}

func copyFile(t *testing.T, from, to string, replace *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if replace != nil {
		text = []byte(replace.Replace(string(text)))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
