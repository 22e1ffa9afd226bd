package base

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// choice is the value of a flag that accepts only the listed texts.
type choice struct {
	value    *string
	accepted []string
}

// String returns the value.
func (c *choice) String() string { return *c.value }

// Set returns an error for a text that is not listed.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.accepted, text) {
		return fmt.Errorf("expected %s", listOf(c.accepted, "or"))
	}
	*c.value = text
	return nil
}

// Type returns the word for the value in the help.
func (c *choice) Type() string { return "string" }

// AddChoice adds a flag that accepts only the listed values. Its help, its error and its completion
// contain the same list. An empty usage is the list.
func AddChoice(flags *pflag.FlagSet, value *string, name, otherwise string, accepted []string, usage string) {
	*value = otherwise
	list := listOf(accepted, "or")
	if usage != "" {
		list = usage + ": " + list
	}
	flags.Var(&choice{value, accepted}, name, list)
}

// Choices returns the values that a flag of AddChoice accepts; nil of other flags.
func Choices(flag *pflag.Flag) []string {
	if c, is := flag.Value.(*choice); is {
		return c.accepted
	}
	return nil
}

// listOf lists words, with a conjunction before the last one.
func listOf(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
