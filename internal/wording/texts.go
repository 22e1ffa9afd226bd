package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// kind is a kind of text.
type kind string

const (
	comments      kind = "comments"
	messages      kind = "messages"
	documentation kind = "documentation"
	page          kind = "page"
	tests         kind = "tests"
)

// textsOf returns the texts of a file by kind. It returns none for a generated file and for other
// types of files.
func textsOf(name string, content []byte) (map[kind]string, error) {
	text := string(content)
	switch path.Ext(name) {
	case ".go":
		return textsOfGo(name, content)
	case ".md":
		return map[kind]string{documentation: proseOf(text)}, nil
	case ".py":
		k := comments
		if strings.Contains(path.Base(name), "test") || strings.Contains(name, "tests/") {
			k = tests
		}
		return map[kind]string{k: joined(pythonText, text)}, nil
	case ".js", ".mjs", ".html":
		return map[kind]string{page: joined(scriptText, text)}, nil
	}
	return nil, nil
}

func textsOfGo(name string, content []byte) (map[kind]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var comment, message strings.Builder
	for _, group := range file.Comments {
		comment.WriteString(group.Text() + "\n")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(strings.TrimSpace(text), " ") {
				message.WriteString(text + "\n")
			}
		}
		return true
	})
	if strings.HasSuffix(name, "_test.go") {
		return map[kind]string{tests: comment.String() + message.String()}, nil
	}
	return map[kind]string{comments: comment.String(), messages: message.String()}, nil
}

var (
	pythonText = regexp.MustCompile(`(?s)#[^\n]*|""".*?"""`)
	scriptText = regexp.MustCompile("//[^\n]*|`[^`]*`|\"[^\"\n]*\"|>[^<>]*<")
	notProse   = regexp.MustCompile("(?ms)^```.*?^```|^ {4}[^\n]*$|`[^`\n]*`|\\]\\([^)]*\\)")
)

func joined(pattern *regexp.Regexp, text string) string {
	return strings.Join(pattern.FindAllString(text, -1), "\n")
}

// proseOf returns a Markdown text without its code and the targets of its links.
func proseOf(text string) string { return notProse.ReplaceAllString(text, " ") }

var word = regexp.MustCompile(`[A-Za-z][A-Za-z'-]+`)

func countWords(text string) int { return len(word.FindAllString(text, -1)) }

var (
	tableRow    = regexp.MustCompile(`(?m)^\s*\|.*$`)
	sentenceEnd = regexp.MustCompile(`[.!?:;]\s+|\n\s*\n|\n\s*(?:[-*#]|\d+\.)\s`)
)

// longSentences returns the sentences of a text with more than most words. It ignores rows of
// tables.
func longSentences(text string, most int) (long []string) {
	for _, sentence := range sentenceEnd.Split(tableRow.ReplaceAllString(text, "\n"), -1) {
		if countWords(sentence) > most {
			long = append(long, strings.Join(strings.Fields(sentence), " "))
		}
	}
	return long
}

// wordList has one regular expression for each line of words.txt.
type wordList []*regexp.Regexp

// parseWords parses words.txt. Lines that begin with # are comments. In all other lines the
// replacement follows the last colon and a space.
func parseWords(text string) (words wordList, err error) {
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, ": ")
		if at < 1 {
			return nil, fmt.Errorf("line %d of words.txt has no replacement: %q", i+1, line)
		}
		pattern, err := regexp.Compile(`(?i)\b(?:` + strings.ReplaceAll(line[:at], " ", `\s+`) + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("line %d of words.txt: %w", i+1, err)
		}
		words = append(words, pattern)
	}
	return words, nil
}

// in returns the excluded words in a text, in lower case, with the number of their occurrences.
func (l wordList) in(text string) map[string]int {
	found := map[string]int{}
	for _, pattern := range l {
		for _, match := range pattern.FindAllString(text, -1) {
			found[strings.ToLower(strings.Join(strings.Fields(match), " "))]++
		}
	}
	return found
}
