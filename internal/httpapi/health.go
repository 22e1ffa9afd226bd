package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Paths of the checks of supervisors, which need no token.
const (
	LivePath  = "/v1/live"
	ReadyPath = "/v1/ready"
)

type healthBody struct {
	Status string `json:"status"`
}

// addHealth adds the operations for supervisors.
func (a *api) addHealth() {
	for _, route := range []struct {
		path, id, summary string
		check             func(context.Context, *struct{}) (*answer[healthBody], error)
	}{
		{LivePath, "get-live", "Whether the process answers", a.live},
		{ReadyPath, "get-ready", "Whether all tasks of the last start are joined; 503 until then", a.ready},
	} {
		o := op(http.MethodGet, route.path, route.id, route.summary)
		o.Security = []map[string][]string{} // none
		huma.Register(a.API, o, route.check)
	}
}

func (a *api) live(context.Context, *struct{}) (*answer[healthBody], error) {
	return &answer[healthBody]{healthBody{"live"}}, nil
}

func (a *api) ready(context.Context, *struct{}) (*answer[healthBody], error) {
	if starting := a.server.Starting(); starting != nil {
		return nil, problem(starting)
	}
	return &answer[healthBody]{healthBody{"ready"}}, nil
}
