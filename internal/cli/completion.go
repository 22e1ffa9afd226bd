package cli

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
)

// completionTime limits the time that a completion waits for a running node.
const completionTime = 2 * time.Second

// addCompletion lets shells complete values: of flags that accept only listed values, from the same
// list as their errors, and of arguments TASK. cobra completes names of commands and flags itself.
func addCompletion(command *cobra.Command) {
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if accepted := base.Choices(flag); accepted != nil {
			if err := command.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(accepted, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // two completions of one flag
			}
		}
	})
	if strings.Contains(command.Use, "TASK") && command.ValidArgsFunction == nil {
		command.ValidArgsFunction = completeTask
	}
	for _, below := range command.Commands() {
		addCompletion(below)
	}
}

// completeTask completes the first argument: task files, and the tasks of the data directory by name
// or, if the name is not unique, by ID.
func completeTask(command *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	files, _ := filepath.Glob(begun + "*.y*ml") // a pattern that is no path has no files
	ctx, cancel := context.WithTimeout(command.Context(), completionTime)
	defer cancel()
	return append(tasksOf(ctx, command, begun), files...), cobra.ShellCompDirectiveDefault
}

// tasksOf returns the tasks of the command's data directory whose name or ID begins like that. A
// directory that cannot be read has none: a completion has no place for an error.
func tasksOf(ctx context.Context, command *cobra.Command, begun string) (tasks []cobra.Completion) {
	given, err := command.Flags().GetString("data-dir")
	if err != nil {
		return nil // the command has no data directory
	}
	dir, err := base.NameDataDir(given)
	if err != nil {
		return nil
	}
	s, err := past.ReadSummaries(ctx, dir)
	if err != nil {
		return nil
	}
	count := map[string]int{}
	for _, t := range s.Tasks {
		count[t.Name]++
	}
	for _, t := range s.Tasks {
		word, description := t.Name, t.ID
		if t.Name == "" || count[t.Name] > 1 || strings.HasPrefix(t.ID, begun) && !strings.HasPrefix(t.Name, begun) {
			word, description = t.ID, t.Name
		}
		if strings.HasPrefix(word, begun) {
			tasks = append(tasks, cobra.CompletionWithDesc(word, description))
		}
	}
	return tasks
}
