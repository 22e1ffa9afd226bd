package base

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags.
const (
	variableAnnotation = "fbo_variable"         // names the flag's variable of the environment
	fromAnnotation     = "fbo_from_environment" // is set if the value is from there
)

// FromEnvironment lets variables of the environment set flags of a command that the command line
// does not set. The help of each flag then names its variable.
func FromEnvironment(command *cobra.Command, names ...string) {
	for _, name := range names {
		flag := command.Flags().Lookup(name)
		variable := "FBO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		flag.Usage += " ($" + variable + ")"
		annotate(command, name, variableAnnotation, variable)
	}
}

func annotate(command *cobra.Command, flag, key, value string) {
	if err := command.Flags().SetAnnotation(flag, key, []string{value}); err != nil {
		panic(err) // the command lacks the flag
	}
}

// VariableOf returns the variable of the environment that sets a flag; empty if there is none.
func VariableOf(flag *pflag.Flag) string {
	if names := flag.Annotations[variableAnnotation]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// ReadEnvironment sets the flags of a command that the command line does not set, from their
// variables. An empty variable is none. A flag that may be repeated has a value for each part of its
// variable between commas or spaces.
func ReadEnvironment(command *cobra.Command) (err error) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		text := os.Getenv(VariableOf(flag))
		if flag.Changed || text == "" || err != nil {
			return
		}
		values := []string{text}
		if _, repeats := flag.Value.(pflag.SliceValue); repeats {
			values = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		}
		annotate(command, flag.Name, fromAnnotation, "true")
		for _, value := range values {
			if wrong := command.Flags().Set(flag.Name, value); wrong != nil {
				err = Usagef("%s", flagProblem(wrong))
				return
			}
		}
	})
	return err
}

// ClearEnvironment removes the variables of all flags below a command from the environment of this
// process and of those that it starts.
func ClearEnvironment(command *cobra.Command) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if variable := VariableOf(flag); variable != "" {
			_ = os.Unsetenv(variable) // fails only for names that are no variables
		}
	})
	for _, sub := range command.Commands() {
		ClearEnvironment(sub)
	}
}

// ExplainEnvironment adds to an error of a command the variables behind the flags that it names.
func ExplainEnvironment(command *cobra.Command, err error) error {
	if err == nil || command == nil {
		return err
	}
	text := err.Error()
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if len(flag.Annotations[fromAnnotation]) > 0 && namesFlag(text, flag.Name) {
			err = fmt.Errorf("%w (--%s is from $%s)", err, flag.Name, VariableOf(flag))
		}
	})
	return err
}

// namesFlag reports whether a text contains a flag, and not only a longer one.
func namesFlag(text, name string) bool {
	for {
		_, after, found := strings.Cut(text, "--"+name)
		if !found {
			return false
		}
		if after == "" || !unicode.IsLetter(rune(after[0])) && after[0] != '-' {
			return true
		}
		text = after
	}
}
