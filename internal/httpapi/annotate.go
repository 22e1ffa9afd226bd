package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/strategy"
)

func (a *api) addAnnotate() {
	huma.Register(a.API, op(http.MethodPost, "/v1/tasks/{task}/trials/{trial}/annotate", "annotate",
		"Change what a trial keeps for its user: texts by name, tags, references to files, and notes. Peers never receive them.", http.StatusNotFound), a.annotate)
}

// file is strategy.File with a schema.
type file struct {
	Path   string `json:"path" minLength:"1" maxLength:"1024" doc:"A path or a URL. The node does not read the file."`
	SHA256 string `json:"sha256,omitempty" nullable:"true" pattern:"^([0-9A-Fa-f]{64})?$" patternDescription:"64 hexadecimal digits"`
}

// note is strategy.Note with a schema.
type note struct {
	ID     uint64    `json:"id" doc:"1, 2, … of the trial."`
	Time   time.Time `json:"time" doc:"When it was added."`
	Author string    `json:"author,omitempty"`
	Text   string    `json:"text"`
}

// Kept are the annotations of a report.
type Kept struct {
	Attributes map[string]string `json:"attributes,omitempty" nullable:"true" maxProperties:"64" doc:"Texts by name for the user, such as a commit. An empty text removes the attribute."`
	Tags       []string          `json:"tags,omitempty" nullable:"true" maxItems:"32" doc:"Tags for the user, which are added."`
	Files      []file            `json:"files,omitempty" nullable:"true" maxItems:"64" doc:"References to files, which are added; one with the path of an earlier one replaces it."`
}

func (k Kept) annotations() strategy.Annotations {
	return strategy.Annotations{Attributes: k.Attributes, Tags: k.Tags, Files: filesOf(k.Files)}
}

func filesOf(given []file) (files []strategy.File) {
	for _, f := range given {
		files = append(files, strategy.File(f))
	}
	return files
}

type annotateInput struct {
	Unhurried
	InTrial
	Key
	Body struct {
		Kept
		Note        string   `json:"note,omitempty" nullable:"true" maxLength:"2000" doc:"A text to add to the trial's notes."`
		Author      string   `json:"author,omitempty" nullable:"true" maxLength:"64" doc:"Who wrote the note."`
		RemoveTags  []string `json:"remove_tags,omitempty" nullable:"true" maxItems:"32" doc:"Tags to remove; unknown ones have no effect."`
		RemoveNotes []uint64 `json:"remove_notes,omitempty" nullable:"true" maxItems:"100" doc:"IDs of notes to remove; unknown ones have no effect."`
	}
}

func (in *annotateInput) change() (strategy.AnnotationChange, error) {
	body := in.Body
	change := strategy.Adding(body.annotations())
	change.RemoveTags, change.RemoveNotes = body.RemoveTags, body.RemoveNotes
	if body.Note != "" {
		change.Notes = []strategy.Note{{Text: body.Note, Author: body.Author}}
	} else if body.Author != "" {
		return change, invalid("body.author", errors.New("it is the author of a note; expected a note"))
	}
	return change, nil
}

func (a *api) annotate(ctx context.Context, in *annotateInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	change, err := in.change()
	if err != nil {
		return nil, err
	}
	once, err := in.once("annotate", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().Annotate(ctx, once, in.Trial, change); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}
