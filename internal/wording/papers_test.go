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

// verdicts are those of docs/papers.md, in the order of its table of counts.
var verdicts = []string{"reproduced", "in part", "contrary", "not tried", "not possible here", "no "}

var cellEnd = regexp.MustCompile(`(?:^|[^\\])\|`)

// verdictsOf counts the rows of a page of docs/papers by verdict.
func verdictsOf(t *testing.T, page string) (counts [6]int) {
	t.Helper()
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
		if k > 0 && last == verdicts[k] {
			t.Errorf("%s:%d: verdict %q without a reason", page, i+1, last)
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
	want := func(name string, counts [6]int) {
		row := "| " + name + " |"
		sum := 0
		for _, n := range counts {
			sum += n
		}
		for _, n := range append([]int{sum}, counts[:]...) {
			row += " " + strconv.Itoa(n) + " |"
		}
		if !strings.Contains(string(text), "\n"+row+"\n") {
			t.Errorf("docs/papers.md: expected the row %s", row)
		}
	}
	var all [6]int
	for _, page := range []string{"fts.md", "survey.md", "fair-collaborative.md", "fairbo.md"} {
		counts := verdictsOf(t, "papers/"+page)
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
