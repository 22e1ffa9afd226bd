package httpapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
)

// A string joins the task that another node serves, by HTTP alone. What is wrong is one problem, which
// does not quote the string.
func TestJoinByString(t *testing.T) {
	t.Parallel()
	first, second := newWorld(t, t.TempDir(), Options{}), newWorld(t, t.TempDir(), Options{})
	id := first.must(201, "POST", "/v1/tasks", m{"text": bowl}).body["id"].(string)
	served, err := first.server.Task(id)
	if err != nil {
		t.Fatal(err)
	}
	open := admission.Ticket{Task: served.Session().Task().ID(), Peers: first.server.Node().Addresses()[:1]}
	if err := open.Check(); err != nil {
		t.Fatal(err)
	}
	shown := second.must(200, "POST", "/v1/joins/preview", m{"join": open.Text()})
	same(t, "the preview", []any{shown.body["id"], shown.body["name"], shown.body["open"], shown.body["served"]}, []any{id, "bowl", true, false})
	same(t, "the tasks", len(second.must(200, "GET", "/v1/tasks", nil).body["tasks"].([]any)), 0)
	joined := second.must(201, "POST", "/v1/tasks", m{"join": open.Text(), "enqueue": []m{{"x": 0.5}}})
	same(t, "the task", joined.body["id"], id)
	second.must(200, "POST", "/v1/tasks", m{"join": open.Text()})
	same(t, "the preview of a served task", second.must(200, "POST", "/v1/joins/preview", m{"join": open.Text()}).body["served"], true)

	member := open
	member.Kind, member.Secret = admission.Member, invitation.New(open.Task)
	mistyped := member.Text()[:90] + "0" + member.Text()[91:]
	for name, c := range map[string]struct {
		status int
		body   m
		want   string
	}{
		"mistyped":       {422, m{"join": mistyped}, "body.join: string: mistyped"},
		"no string":      {422, m{"join": "hello"}, "does not begin with fbo-join-"},
		"and a text":     {422, m{"join": mistyped, "text": bowl}, "expected either"},
		"and invitation": {422, m{"join": mistyped, "invitation": "x"}, "body.invitation: expected none"},
		"and tables":     {422, m{"join": mistyped, "tables": m{"a.csv": "x"}}, "body.tables: expected none"},
		"another string": {409, m{"join": member.Text()}, "leave the task first"},
	} {
		r := second.must(c.status, "POST", "/v1/tasks", c.body)
		if detail, _ := r.body["detail"].(string); !strings.Contains(detail, c.want) || strings.Contains(r.text, mistyped[100:120]) {
			t.Errorf("%s: %s", name, r.text)
		}
	}
	second.must(422, "POST", "/v1/joins/preview", m{"join": mistyped})
}

func TestStatusesOfStrings(t *testing.T) {
	for want, list := range map[int][]error{
		404: {&admission.Refusal{Status: admission.Unknown}},
		410: {&admission.Refusal{Status: admission.Expired}, &admission.Refusal{Status: admission.UsedUp}, &admission.Refusal{Status: admission.Revoked}},
		502: {&admission.Refusal{Status: admission.Unavailable}, fmt.Errorf("%w: other", admission.ErrMalformed), fmt.Errorf("%w: %w", node.ErrNoTask, admission.ErrMalformed)},
		504: {fmt.Errorf("%w: none", node.ErrNoTask)},
		409: {trialserver.ErrOtherString},
	} {
		for _, err := range list {
			var status huma.StatusError
			if got := problem(err); !errors.As(got, &status) || status.GetStatus() != want {
				t.Errorf("%v: %v, want %d", err, got, want)
			}
		}
	}
}
