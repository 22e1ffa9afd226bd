package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var cellEnd = regexp.MustCompile(`(?:^|[^\\])\|`)

// verdictsOf counts the rows of a page of docs/papers by verdict.
func verdictsOf(t *testing.T, page string, verdicts []string) []int {
	t.Helper()
	counts := make([]int, len(verdicts))
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	rows := false
	for i, line := range strings.Split(string(text), "\n") {
		ends := cellEnd.FindAllStringIndex(line, -1)
		if !strings.HasPrefix(line, "|") || len(ends) < 3 {
			rows = false
			continue
		}
		last := strings.TrimSpace(line[ends[len(ends)-2][1] : len(line)-1])
		switch {
		case last == "verdict":
			rows = true
			continue
		case !rows || strings.Trim(line, "-| ") == "":
			continue
		}
		k := slices.IndexFunc(verdicts, func(v string) bool { return strings.HasPrefix(last, v) })
		if k < 0 {
			t.Errorf("%s:%d: verdict %q, expected one of %q", page, i+1, last, verdicts)
			continue
		}
		counts[k]++
	}
	return counts
}

// The table of docs/papers.md has the number of rows by verdict of each page.
func TestVerdictsOfPapersAreCounted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	const before = "\n| page | rows | "
	_, header, found := strings.Cut(string(text), before)
	if !found {
		t.Fatalf("docs/papers.md: expected the row %q", before)
	}
	header, _, _ = strings.Cut(header, " |\n")
	verdicts := strings.Split(header, " | ")
	want := func(name string, counts []int) {
		row := "| " + name + " |"
		sum := 0
		for _, n := range counts {
			sum += n
		}
		for _, n := range append([]int{sum}, counts...) {
			row += " " + strconv.Itoa(n) + " |"
		}
		if !strings.Contains(string(text), "\n"+row+"\n") {
			t.Errorf("docs/papers.md: expected the row %s", row)
		}
	}
	all := make([]int, len(verdicts))
	for _, page := range []string{"fts.md", "survey.md", "fair-collaborative.md", "fairbo.md"} {
		counts := verdictsOf(t, "papers/"+page, verdicts)
		want(fmt.Sprintf("[%s](papers/%[1]s)", page), counts)
		for i, n := range counts {
			all[i] += n
		}
	}
	want("all", all)
}

// Each test that docs/papers names exists, or is the beginning of the name of one.
func TestTestsOfPapersExist(t *testing.T) {
	root := filepath.Join("..", "..")
	var code strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "papers", "*.md"))
	if err != nil || len(pages) != 4 {
		t.Fatal(len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(text), -1) {
			if !strings.Contains(code.String(), "\nfunc "+name) {
				t.Errorf("%s: no test is named %s", filepath.Base(page), name)
			}
		}
	}
}
