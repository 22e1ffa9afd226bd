// Command mutation checks that the tests of the quick level detect known faults.
//
//	go run ./internal/mutation [PATCH...]
//
// Each file in patches contains one fault of a formula: lines that describe the fault, its source and
// the packages whose tests must detect it, followed by a patch. The command applies the patch to copies
// of the files and runs the tests with these copies in place of the files (go test -overlay). So the
// working tree does not change. It fails if the tests fail without a patch. It also fails if a patch
// does not apply, does not compile, or is not detected by any test. PATCH selects the patches whose
// names contain it.
//
// It must run in the root of the module, and needs git.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, ".", "internal/mutation/patches", os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
	}
	if err != nil || failed > 0 {
		stop()
		os.Exit(1)
	}
}

// run checks the patches of a folder in the module at root, and prints a line for each. It returns
// the number of patches that failed: no test detects them, or they do not apply or compile.
func run(ctx context.Context, root, folder string, selected []string) (failed int, err error) {
	files, err := filepath.Glob(filepath.Join(root, folder, "*.patch"))
	if err != nil {
		return 0, err
	}
	var mutants []mutant
	packages := map[string]bool{}
	for _, file := range files {
		if !matches(filepath.Base(file), selected) {
			continue
		}
		m, err := read(root, file)
		if err != nil {
			return 0, err
		}
		mutants = append(mutants, m)
		for _, p := range m.packages {
			packages[p] = true
		}
	}
	if len(mutants) == 0 {
		return 0, fmt.Errorf("no patch in %s matches %q", folder, selected)
	}
	for p := range packages {
		if out, err := goTest(ctx, root, p); err != nil {
			return 0, fmt.Errorf("the tests fail without a patch: %w\n%s", err, out)
		}
	}
	var running sync.WaitGroup
	var printing sync.Mutex
	places := make(chan struct{}, runtime.NumCPU())
	for _, m := range mutants {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			begin := time.Now()
			test, err := m.check(ctx)
			printing.Lock()
			defer printing.Unlock()
			if err != nil {
				failed++
				fmt.Printf("FAILED  %-34s %5.1f s  %v\n", m.name, time.Since(begin).Seconds(), err)
				return
			}
			fmt.Printf("caught  %-34s %5.1f s  %s\n", m.name, time.Since(begin).Seconds(), test)
		})
	}
	running.Wait()
	fmt.Printf("%d passed, %d failed\n", len(mutants)-failed, failed)
	return failed, nil
}

func matches(name string, selected []string) bool {
	for _, part := range selected {
		if strings.Contains(name, part) {
			return true
		}
	}
	return len(selected) == 0
}

// mutant is a fault: a patch, with the packages whose tests must detect it.
type mutant struct {
	root     string // root of the module
	file     string // path of the patch
	name     string
	packages []string // packages whose tests must detect the fault
	changed  []string // changed files, relative to root
}

var (
	errSurvives = errors.New("survives: all tests pass")
	errApply    = errors.New("does not apply")
	errCompile  = errors.New("does not compile")
)

// read returns the mutant of a patch file.
func read(root, file string) (mutant, error) {
	m := mutant{root: root, file: file, name: strings.TrimSuffix(filepath.Base(file), ".patch")}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Packages:"); ok {
			m.packages = strings.Fields(list)
		}
		if name, ok := strings.CutPrefix(line, "--- a/"); ok {
			m.changed = append(m.changed, strings.TrimSpace(name))
		}
	}
	if len(m.packages) == 0 || len(m.changed) == 0 {
		return m, fmt.Errorf("%s: expected a line \"Packages: ./FOLDER\" and a patch with lines \"--- a/FILE\"", file)
	}
	return m, nil
}

// check returns the name of the test that detects the mutant, or an error if none does.
func (m mutant) check(ctx context.Context) (test string, err error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.apply(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, p := range m.packages {
		out, err := goTest(ctx, m.root, "-overlay", overlay, "-count=1", "-failfast", "-timeout=5m", p)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
			return "", fmt.Errorf("%w: %s", errCompile, out)
		case err != nil:
			return failedTest(out), nil
		}
	}
	return "", errSurvives
}

// apply writes patched copies of the changed files to dir. It returns the path of the overlay file,
// which maps the original files to the copies.
func (m mutant) apply(ctx context.Context, dir string) (overlay string, err error) {
	replace := map[string]string{}
	for _, name := range m.changed {
		original, err := filepath.Abs(filepath.Join(m.root, name))
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(original)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errApply, err)
		}
		copied := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(copied), 0o700), os.WriteFile(copied, text, 0o600)); err != nil {
			return "", err
		}
		replace[original] = copied
	}
	patch, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	apply := exec.CommandContext(ctx, "git", "apply", patch)
	apply.Dir = dir
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // so that git does not use a repository above dir
	if out, err := apply.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", errApply, bytes.TrimSpace(out))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

func goTest(ctx context.Context, root string, args ...string) (out []byte, err error) {
	test := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	test.Dir = root
	return test.CombinedOutput()
}

// failedTest returns the name of the first failed test in the output of go test.
func failedTest(out []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "--- FAIL: "); ok {
			return name
		}
	}
	return "without a failed test: it panics or exceeds the time limit"
}
