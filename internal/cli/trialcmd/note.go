package trialcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// noteOptions are the flags of note.
type noteOptions struct {
	dir         string
	author      string
	kept        kept
	removeTags  []string
	removeNotes []uint
	json        bool
}

// NewNote returns the command note.
func NewNote() *cobra.Command {
	var o noteOptions
	command := &cobra.Command{
		Use:   "note [TASK] TRIAL [TEXT]",
		Short: "Add a note, texts, tags or files to a trial, which keeps them for you",
		Long: `Add a note to a trial in any state, while the node runs or after. The node's peers never receive it.

TASK is a file, an ID, its first characters or a name; the only task needs none. TRIAL is the number
that history prints. --attribute, --tag and --file add texts by name, tags, and references to files;
with one of them TEXT may be missing. An attribute with an empty text is removed.

fbo-node history TASK --trial TRIAL shows what a trial keeps.`,
		Example: `  fbo-node note 12 "the sensor was replaced before this trial"
  fbo-node note task.yaml 12 --attribute commit=$(git rev-parse HEAD) --file out/model.pt --sha256
  fbo-node note 12 --remove-note 1`,
		RunE: func(command *cobra.Command, args []string) error {
			r, err := o.parse(args)
			if err != nil {
				return base.Usagef("note: %w: %s", err, command.UseLine())
			}
			return o.run(command.Context(), command.OutOrStdout(), r)
		},
	}
	base.AddDataDir(command, &o.dir)
	flags := command.Flags()
	flags.StringVar(&o.author, "author", "", "`NAME` of the author of TEXT")
	o.kept.add(command)
	flags.StringArrayVar(&o.removeTags, "remove-tag", nil, "`TAG` to remove, repeatable")
	flags.UintSliceVar(&o.removeNotes, "remove-note", nil, "number of a note to remove, repeatable")
	base.AddJSON(command, &o.json)
	return command
}

// noted are the arguments of note.
type noted struct {
	task   string // empty: the only one
	trial  uint64
	change strategy.AnnotationChange
}

func (o noteOptions) parse(args []string) (r noted, err error) {
	of, err := o.kept.annotations()
	if err != nil {
		return r, err
	}
	r.change = strategy.Adding(of)
	r.change.RemoveTags = o.removeTags
	for _, id := range o.removeNotes {
		r.change.RemoveNotes = append(r.change.RemoveNotes, uint64(id))
	}
	text := ""
	switch {
	case len(args) == 0:
		return r, errors.New("the number of the trial is missing")
	case len(args) > 3:
		return r, fmt.Errorf("expected a TRIAL and a TEXT%s; a text of several words stands in quotes", base.Surplus(args[3:]))
	case len(args) == 3:
		r.task, args, text = args[0], args[1:2], args[2]
	case len(args) == 2 && !isNumber(args[0]):
		r.task, args = args[0], args[1:]
	case len(args) == 2:
		args, text = args[:1], args[1]
	}
	if !isNumber(args[0]) {
		return r, fmt.Errorf("trial %.100q: expected a whole number from 1, as history prints it", args[0])
	}
	r.trial, _ = strconv.ParseUint(args[0], 10, 53) // a number, see above
	if text != "" {
		r.change.Notes = []strategy.Note{{Text: text, Author: o.author}}
	} else if o.author != "" {
		return r, errors.New("--author: it is the author of TEXT, which is missing")
	}
	if text == "" && !strategy.HasAnnotations(of) && len(r.change.RemoveTags)+len(r.change.RemoveNotes) == 0 {
		return r, errors.New("TEXT is missing; expected one, or --attribute, --tag, --file, --remove-tag or --remove-note")
	}
	_, err = r.change.Apply(strategy.Annotations{}, time.Time{})
	return r, err
}

func isNumber(arg string) bool {
	n, err := strconv.ParseUint(arg, 10, 53)
	return err == nil && n > 0
}

func (o noteOptions) run(ctx context.Context, out io.Writer, r noted) error {
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	found, err := refOf(ctx, dir, r.task)
	if err != nil {
		return err
	}
	body := base.Object{}
	put(body, strategy.Annotations{Attributes: r.change.Attributes, Tags: r.change.Tags, Files: r.change.Files})
	for _, note := range r.change.Notes {
		body["note"] = note.Text
		if note.Author != "" {
			body["author"] = note.Author
		}
	}
	if len(r.change.RemoveTags) > 0 {
		body["remove_tags"] = r.change.RemoveTags
	}
	if len(r.change.RemoveNotes) > 0 {
		body["remove_notes"] = r.change.RemoveNotes
	}
	var encoded json.RawMessage
	var now strategy.Annotations
	ok, err := control.Post(ctx, dir, fmt.Sprintf("/v1/tasks/%s/trials/%d/annotate", found.ID, r.trial), body, &encoded)
	switch {
	case err != nil:
		return err
	case ok:
		err = json.Unmarshal(encoded, &now)
	default:
		now, encoded, err = annotateJournal(dir, found.ID, r)
	}
	if err != nil {
		return err
	}
	if o.json {
		return base.PrintJSON(out, encoded)
	}
	shown := render.Annotations(now)
	if shown == "" {
		shown = "nothing"
	}
	_, err = fmt.Fprintf(out, "trial %d keeps %s\n", r.trial, sanitize.Text(shown, render.MaxReason))
	return err
}

// refOf returns the task that an argument names, of the running node or of the journal.
func refOf(ctx context.Context, dir, wanted string) (taskref.Ref, error) {
	if served, ok, err := control.Tasks(ctx, dir); err != nil {
		return taskref.Ref{}, err
	} else if ok {
		return past.Served(dir, served, wanted)
	}
	return past.FindRef(ctx, dir, wanted)
}

// annotateJournal changes the journal of a node that does not run.
func annotateJournal(dir, id string, r noted) (of strategy.Annotations, encoded json.RawMessage, err error) {
	s, err := store.Open(dir, all.Strategies())
	if err != nil {
		return of, nil, err
	}
	defer func() { err = errors.Join(err, s.Close(slog.New(slog.DiscardHandler))) }()
	trial, err := s.Annotate(id, r.trial, r.change, time.Now())
	if err != nil {
		return of, nil, err
	}
	encoded, err = json.Marshal(trial)
	return trial.Annotations, encoded, err
}
