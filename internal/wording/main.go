// Command wording counts words that the rules of CONTRIBUTING.md exclude, per 1,000 words.
//
//	go run ./internal/wording [-files N] [-sentences]
//
// It reads the files that git tracks and reports on five kinds of text: comments, messages (string
// literals that contain a space), documentation (Markdown), the web page, and tests. It fails if a
// kind other than tests exceeds the ceiling. It also lists the files with the most excluded words, and
// the sentences of the documentation with more than 40 words.
//
// It must run in the root of the module, and needs git.
package main

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

//go:embed words.txt
var list string

const (
	ceiling     = 0.5 // excluded words per 1,000 words, for each kind except tests
	maxSentence = 40  // words in a sentence of the documentation
)

func main() {
	files := flag.Int("files", 20, "list so many files, those with the most words")
	sentences := flag.Bool("sentences", false, "list the long sentences, and not only their number")
	flag.Parse()
	output, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		fail("git ls-files: %v", err)
	}
	words, err := parseWords(list)
	if err != nil {
		fail("%v", err)
	}
	var all report
	for _, path := range strings.Split(strings.Trim(string(output), "\x00"), "\x00") {
		content, err := os.ReadFile(path)
		if err != nil {
			fail("%v", err)
		}
		texts, err := textsOf(path, content)
		if err != nil {
			fail("%v", err)
		}
		all.add(path, texts, words)
	}
	if !all.print(os.Stdout, *files, *sentences) {
		os.Exit(1)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "wording: "+format+"\n", args...)
	os.Exit(1)
}

// count holds the number of words of a text, and the number of excluded words among them.
type count struct{ words, found int }

func (c count) perThousand() float64 { return 1000 * float64(c.found) / float64(max(c.words, 1)) }

// report holds the counts of all texts that were added.
type report struct {
	kinds map[kind]count
	files map[string]count              // without tests
	found map[string]map[string]int     // number of each excluded word, by file
	long  []struct{ path, text string } // sentences with more than maxSentence words
}

func (r *report) add(path string, texts map[kind]string, words wordList) {
	if r.kinds == nil {
		r.kinds, r.files, r.found = map[kind]count{}, map[string]count{}, map[string]map[string]int{}
	}
	for k, text := range texts {
		found := words.in(text)
		c := count{words: countWords(text)}
		for _, n := range found {
			c.found += n
		}
		sum := r.kinds[k]
		r.kinds[k] = count{sum.words + c.words, sum.found + c.found}
		if k == tests {
			continue
		}
		file := r.files[path]
		r.files[path] = count{file.words + c.words, file.found + c.found}
		for word, n := range found {
			if r.found[path] == nil {
				r.found[path] = map[string]int{}
			}
			r.found[path][word] += n
		}
		if k == documentation {
			for _, s := range longSentences(text, maxSentence) {
				r.long = append(r.long, struct{ path, text string }{path, s})
			}
		}
	}
}

// print writes the report, and returns whether all kinds are within the ceiling.
func (r *report) print(w io.Writer, files int, sentences bool) (ok bool) {
	ok = true
	fmt.Fprintf(w, "%-14s %7s %6s %9s %8s\n", "kind", "words", "found", "per 1,000", "ceiling")
	for _, k := range slices.Sorted(maps.Keys(r.kinds)) {
		c, most, verdict := r.kinds[k], "none", ""
		if k != tests {
			most = fmt.Sprint(ceiling)
			if c.perThousand() > ceiling {
				ok, verdict = false, "  too many"
			}
		}
		fmt.Fprintf(w, "%-14s %7d %6d %9.2f %8s%s\n", k, c.words, c.found, c.perThousand(), most, verdict)
	}
	paths := slices.SortedFunc(maps.Keys(r.found), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.files[b].found, r.files[a].found), cmp.Compare(a, b))
	})
	for _, path := range paths[:min(files, len(paths))] {
		found := r.found[path]
		names := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
			return cmp.Or(cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
		})
		fmt.Fprintf(w, "%4d of %6d words  %s: %s\n", r.files[path].found, r.files[path].words, path, strings.Join(names[:min(6, len(names))], ", "))
	}
	fmt.Fprintf(w, "%d sentences of more than %d words\n", len(r.long), maxSentence)
	if sentences {
		for _, s := range r.long {
			fmt.Fprintf(w, "  %s: %s\n", s.path, s.text)
		}
	}
	return ok
}
