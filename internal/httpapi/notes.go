package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

func (a *api) addNotes() {
	o := op(http.MethodPut, "/v1/tasks/{task}/trials/{trial}/note", "set-note", "Set the note on a trial. Peers never receive it.", http.StatusNotFound)
	o.Errors = append(o.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	huma.Register(a.API, o, a.setNote)
}

type noteInput struct {
	Unhurried
	InTrial
	Key
	Body struct {
		Text string `json:"text" maxLength:"2000" doc:"Any text; empty: no note."`
	}
}

func (a *api) setNote(ctx context.Context, in *noteInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	once, err := in.once("note", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().Note(ctx, once, in.Trial, in.Body.Text); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}
