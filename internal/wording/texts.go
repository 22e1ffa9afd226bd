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

// textsOf returns the texts of a file by kind; none of a file that is generated or of another type.
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

// proseOf returns a Markdown text without code and the targets of links.
func proseOf(text string) string { return notProse.ReplaceAllString(text, " ") }

var word = regexp.MustCompile(`[A-Za-z][A-Za-z'-]+`)

func countWords(text string) int { return len(word.FindAllString(text, -1)) }

var (
	tableRow    = regexp.MustCompile(`(?m)^\s*\|.*$`)
	sentenceEnd = regexp.MustCompile(`[.!?:;]\s+|\n\s*\n|\n\s*(?:[-*#]|\d+\.)\s`)
)

// longSentences returns the sentences of a text with more than most words. Rows of tables are none.
func longSentences(text string, most int) (long []string) {
	for _, sentence := range sentenceEnd.Split(tableRow.ReplaceAllString(text, "\n"), -1) {
		if countWords(sentence) > most {
			long = append(long, strings.Join(strings.Fields(sentence), " "))
		}
	}
	return long
}

// wordList is a regular expression per line of words.txt.
type wordList []*regexp.Regexp

// parseWords reads words.txt: comments begin with #, and a replacement follows the last colon.
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

// in returns the words of the list that a text contains, in lower case, and how often.
func (l wordList) in(text string) map[string]int {
	found := map[string]int{}
	for _, pattern := range l {
		for _, match := range pattern.FindAllString(text, -1) {
			found[strings.ToLower(strings.Join(strings.Fields(match), " "))]++
		}
	}
	return found
}
