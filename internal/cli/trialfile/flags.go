// Package trialfile reads files of past trials and of designs, and defines the flags about them.
package trialfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// importing is the purpose for which --import reads its file.
const importing = "import"

// Flags holds the values of run's flags about past trials.
type Flags struct {
	File     string
	flag     string // names the file
	outside  string
	columns  []string
	ignored  []string
	defaults []string
}

// Add defines the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.AddAs(flags, "import", "file of past trials, .csv, .json, or .log of Optuna's JournalFileBackend")
}

// AddAs defines the flags of a command that calls the flag of the file by another name.
func (f *Flags) AddAs(flags *pflag.FlagSet, name, usage string) {
	f.flag = name
	flags.StringVar(&f.File, name, "", usage)
	base.AddChoice(flags, &f.outside, "import-outside", "error", []string{"error", "skip"}, "rows of --"+name+" outside the task's space")
	flags.StringSliceVar(&f.columns, "import-columns", nil, "what columns of --"+name+" hold, such as value=loss,C=params_C")
	flags.StringSliceVar(&f.ignored, "import-ignore", nil, "columns of --"+name+" to leave out, separated by commas")
	flags.StringArrayVar(&f.defaults, "import-default", nil, "NAME=VALUE of a parameter where --"+name+" has none, repeatable")
}

// Imported holds the content of a file of past trials.
type Imported struct {
	File       string
	Trials     []agent.Past
	Outside    int // number of omitted rows outside the space
	firstOut   string
	Unfinished int // number of omitted rows without a result
}

// Read returns the trials to import; without a file, nothing. Its errors are the user's.
func (f Flags) Read(t *task.Task) (Imported, error) {
	got := Imported{File: f.File}
	if f.File == "" {
		if len(f.columns)+len(f.ignored)+len(f.defaults) > 0 || f.outside == "skip" {
			return got, base.Usagef("--import-columns, --import-ignore, --import-default and --import-outside go with --%s FILE", cmp.Or(f.flag, "import"))
		}
		return got, nil
	}
	c, err := f.meanings(t)
	if err != nil {
		return got, base.BadUsage(err)
	}
	c.study, c.goals = t.Name, goalsOf(t)
	if err := c.read(f.File, true, got.add(t, f.outside == "skip")); err != nil {
		return got, base.BadUsage(err)
	}
	return got, nil
}

// Fingerprint returns a hash of the file and of the flags about it. Equal fingerprints for one task mean
// equal trials.
func (f Flags) Fingerprint() (string, error) {
	file, err := os.Open(f.File)
	if err != nil {
		return "", base.BadUsage(err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("%s: %w", f.File, err)
	}
	fmt.Fprintf(hash, "\n%q %q %q %q", f.outside, f.columns, f.ignored, f.defaults)
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// goalsOf returns the goal of each objective.
func goalsOf(t *task.Task) []task.Goal {
	if !t.Several() {
		return []task.Goal{t.Goal}
	}
	var goals []task.Goal
	for _, o := range t.Objectives {
		goals = append(goals, o.Goal)
	}
	return goals
}

func (f Flags) meanings(t *task.Task) (columns, error) {
	c := columns{space: t.Space, ignored: f.ignored, purpose: importing, renamed: map[string]meaning{}, defaults: map[string]task.Value{}}
	for _, o := range t.Objectives {
		c.objectives = append(c.objectives, o.Name)
	}
	for _, pair := range f.columns {
		name, column, ok := strings.Cut(pair, "=")
		m, _ := c.named(name)
		switch {
		case !ok || column == "":
			return c, fmt.Errorf("--import-columns %q: expected NAME=COLUMN, as in value=loss", pair)
		case m.what == nothing:
			return c, fmt.Errorf("--import-columns %s: %q is neither a parameter nor value, state, %s, %sNAME, %sNAME or %sNAME", pair, name, export.StepsColumn, constraintPrefix, metricPrefix, attributePrefix)
		}
		for other, taken := range c.renamed {
			if taken == m || other == column {
				return c, fmt.Errorf("--import-columns %s: the %s is in column %q already", pair, taken, other)
			}
		}
		c.renamed[column] = m
	}
	for _, pair := range f.defaults {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return c, fmt.Errorf("--import-default %q: expected NAME=VALUE, as in dropout=0", pair)
		}
		if _, again := c.defaults[name]; again {
			return c, fmt.Errorf("--import-default %s: %q has a default already", pair, name)
		}
		v, err := t.Space.ParseValue(name, text)
		if err != nil {
			return c, fmt.Errorf("--import-default %s: %w", pair, err)
		}
		c.defaults[name] = v
	}
	return c, nil
}

// add returns a function that adds the rows of a file. Designs outside the space are errors, or are
// counted. Failed trials are kept unless the task ignores failures. A failed trial may lack
// parameters; unless failures are a constraint, it is then omitted.
func (i *Imported) add(t *task.Task, skip bool) func(pastRow) error {
	return func(r pastRow) error {
		past, ok, err := r.parse(t.Space)
		var outside outsideError
		if t.Failures != task.IgnoreFailures && r.failed() {
			if failed, bad := r.parseFailed(t.Space); t.Failures == task.ConstrainFailures || !errors.As(bad, &outside) {
				past, ok, err = failed, true, bad
			}
		}
		switch {
		case errors.As(err, &outside) && skip:
			if i.Outside++; i.Outside == 1 {
				i.firstOut = r.place + ": " + err.Error()
			}
			return nil
		case errors.As(err, &outside):
			return fmt.Errorf("%w; --import-outside skip leaves such rows out", err)
		case err != nil:
			return err
		case !ok:
			i.Unfinished++
			return nil
		case past.Failed == "" && !past.Stopped:
			if err := t.CheckObjectives(past.Outcome.Metrics); err != nil {
				return err
			}
		}
		i.Trials = append(i.Trials, past)
		return nil
	}
}

// LeftOut describes in a line the rows that were not imported.
func (i Imported) LeftOut() string {
	var parts []string
	if i.Outside > 0 {
		parts = append(parts, fmt.Sprintf("%s outside the space, the first is %s", sanitize.Count(i.Outside, "row"), i.firstOut))
	}
	if i.Unfinished > 0 {
		parts = append(parts, sanitize.Count(i.Unfinished, "row")+" without a result")
	}
	if parts == nil {
		return ""
	}
	return "; left out: " + strings.Join(parts, "; ")
}
