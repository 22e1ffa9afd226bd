package show

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

const (
	stepsTable    = "steps"
	optunaJournal = "optuna-journal"
)

// NewExport returns the command export.
func NewExport() *cobra.Command {
	var dir, format string
	var force, asJSON bool
	command := &cobra.Command{
		Use:   "export TASK FILE [--format csv|json|steps|optuna-journal]",
		Short: "Write the trials of a task (a file, an ID or a name) to a file for other programs, while the node runs or after",
		Long: `Write the trials of a task (a file, an ID, its first characters or a name) to FILE, or to standard output if that is -,
while the node runs or after.

csv             a line for each trial, as history has it
json            one object: the task, its ID, the trials and the status items
steps           CSV with a line for each value by step: trial, step, value
optuna-journal  a study with the name of the task, which optuna-dashboard FILE shows and
                Optuna's JournalStorage(JournalFileBackend(FILE)) loads (version 5.0.0);
                only trials that are done, have failed or were stopped are in it

run --import reads all but steps.

Without --format the end of FILE decides: .csv, .json, or .log for optuna-journal.

FILE is complete or not there: it is written under another name and renamed. One that
exists is replaced only with --force.`,
		Example: `  fbo-node export task.yaml trials.csv
  fbo-node export task.yaml study.log && optuna-dashboard study.log`,
		Args: base.Exactly(2),
		RunE: func(command *cobra.Command, args []string) error {
			if format == "" {
				format = formatOf(args[1])
			}
			write := map[string]func(io.Writer, past.History) error{
				"csv":         writeCSV,
				stepsTable:    func(out io.Writer, p past.History) error { return export.Steps(out, p.Trials) },
				"json":        func(out io.Writer, p past.History) error { return export.JSON(out, p.Task, p.Trials, p.Items) },
				optunaJournal: func(out io.Writer, p past.History) error { return export.OptunaJournal(out, p.Task, p.Trials) },
			}[format]
			if write == nil {
				return base.Usagef("%s: the end of the file names no format; expected .csv, .json or .log, or a --format", args[1])
			}
			if args[1] == "-" && asJSON {
				return base.Usagef("--json describes a written file; with - expected --format json, which prints the trials")
			}
			file := args[1]
			if file != "-" {
				if err := checkReplaced(file, force); err != nil {
					return err
				}
			}
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			p, err := past.Read(command.Context(), dataDir, args[0])
			if err != nil {
				return err
			}
			if file == "-" {
				return write(command.OutOrStdout(), p)
			}
			if err := replace(file, func(out io.Writer) error { return write(out, p) }); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			done := exported{file, format, p.Task.ID().String(), p.Task.Name, len(p.Trials), 0}
			switch format {
			case optunaJournal:
				done.LeftOut = count(p.Trials, func(t strategy.Trial) bool { return !export.Ended(t) })
				done.Trials -= done.LeftOut
			case stepsTable:
				done.Trials = count(p.Trials, func(t strategy.Trial) bool { return len(t.Steps) > 0 })
			}
			if asJSON {
				return base.PrintJSON(command.OutOrStdout(), done)
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), done)
			return err
		},
	}
	base.AddDataDir(command, &dir)
	base.AddChoice(command.Flags(), &format, "format", "", []string{"csv", "json", stepsTable, optunaJournal}, "format of FILE, by default that of its end (.csv, .json or .log)")
	base.AddJSON(command, &asJSON)
	command.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return command
}

// formatOf returns the format for the ending of a file's name; empty for an unknown ending.
func formatOf(file string) string {
	return map[string]string{".csv": "csv", ".json": "json", ".log": optunaJournal}[strings.ToLower(filepath.Ext(file))]
}

// exported describes a written file.
type exported struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Task    string `json:"task"`
	Name    string `json:"name"`
	Trials  int    `json:"trials"`
	LeftOut int    `json:"left_out"` // trials without an end
}

func (e exported) String() string {
	text := fmt.Sprintf("%s has %s of task %q (%s)", e.File, sanitize.Count(e.Trials, "trial"), e.Name, e.Task)
	if e.LeftOut > 0 {
		text += fmt.Sprintf("; left out: %s without an end", sanitize.Count(e.LeftOut, "trial"))
	}
	return text
}

// count returns the number of trials of a kind.
func count(trials []strategy.Trial, of func(strategy.Trial) bool) (n int) {
	for _, t := range trials {
		if of(t) {
			n++
		}
	}
	return n
}

// checkReplaced returns an error if a file must not be replaced.
func checkReplaced(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("export: %w", err)
	case !info.Mode().IsRegular():
		return base.Usagef("export: %s exists and is no regular file; expected new files, regular ones with --force, and - for standard output", path)
	case !force:
		return base.Usagef("export: %s exists; --force replaces it", path)
	}
	return nil
}

// replace writes a file beside the path and renames it when it is complete and on disk.
func replace(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path+".new-"+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
