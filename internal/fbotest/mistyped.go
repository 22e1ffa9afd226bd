package fbotest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// CheckMistyped checks that parse refuses a text with a secret after a character of it was replaced,
// left out or doubled, and after a cut. The error must be one line without the quoted part of the text.
func CheckMistyped(t *testing.T, text, quoted string, parse func(typed string) error) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		other := rapid.SampledFrom(strings.Split("abcdefghijklmnopqrstuvwxyz234567ABC 1890-", "")).Draw(t, "character")
		for how, typed := range map[string]string{
			"replaced": text[:at] + other + text[at+1:],
			"doubled":  text[:at] + text[at:at+1] + text[at:],
			"left out": text[:at] + text[at+1:],
			"cut":      text[:at],
		} {
			if typed == text || strings.TrimSpace(typed) == text {
				continue
			}
			err := parse(typed)
			if err == nil {
				t.Fatalf("%s at %d is accepted", how, at)
			}
			if strings.Contains(err.Error(), quoted) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s: %v", how, err)
			}
		}
	})
}
