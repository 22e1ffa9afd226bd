package main

import (
	"os"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

func TestMinimalMakesAllEvaluations(t *testing.T) {
	t.Chdir(t.TempDir())
	main()
	archive, err := store.OpenArchive("oven-node")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	ids, err := archive.Tasks()
	if err != nil || len(ids) != 1 {
		t.Fatalf("tasks %v, error %v, expected one task", ids, err)
	}
	history, err := archive.History(ids[0], strategy.Set{peerprior.Register()})
	if err != nil || len(history.Trials) != 20 || history.Best == nil {
		t.Errorf("%d trials, best %v, error %v, expected 20 trials", len(history.Trials), history.Best, err)
	}
}

func TestMinimalIsTheProgramOfTheDocumentation(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+string(program)+"```\n") {
		t.Error("docs/api.md does not contain examples/minimal/main.go")
	}
	const most = 40
	if lines := strings.Count(string(program), "\n"); lines > most {
		t.Errorf("the program has %d lines, expected at most %d", lines, most)
	}
}
