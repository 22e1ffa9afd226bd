package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// addAnswers adds what is only read.
func (a *api) addAnswers() {
	gone := http.StatusNotFound
	get := func(name, id, summary string) huma.Operation {
		return op(http.MethodGet, "/v1/tasks/{task}/"+name, id, summary, gone)
	}
	huma.Register(a.API, get("best", "get-best", "The best feasible trial so far, and the recommended design where outcomes are noisy or it is one for all agents. That takes as long as a suggestion."), a.best)
	huma.Register(a.API, get("front", "get-front", "The Pareto front of a task with several objectives: the feasible trials that none dominates, in the order of the first objective"), a.front)
	huma.Register(a.API, get("recommendation", "get-recommendation", "The design that the model holds for the best, which is the better choice where outcomes are noisy. It takes as long as a suggestion."), a.recommendation)
	huma.Register(a.API, get("status", "get-status", "Where the node stands on the task"), a.status)
	huma.Register(a.API, get("peers", "get-peers", "Who is connected, and who takes part"), a.peers)
	huma.Register(a.API, get("privacy", "get-privacy", "What peers learn, and what is spent of the guarantee of differential privacy"), a.privacy)
	huma.Register(a.API, get("rounds", "get-rounds", "Where nodes act together: who they are, and how their rounds end"), a.rounds)
}

type bestBody struct {
	Trial       *trial              `json:"trial" doc:"The best observed one; null while no trial is feasible."`
	Recommended *recommendationBody `json:"recommended,omitempty" doc:"The recommended design, only where it is to be preferred: outcomes are noisy, or it is one design for all agents."`
}

// TransformSchema states that the trial may be null.
func (bestBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "trial")
}

// nullable states that a property may be null, which huma does not for structures.
func nullable(s *huma.Schema, name string) *huma.Schema {
	given := s.Properties[name]
	s.Properties[name] = &huma.Schema{Description: given.Description, AnyOf: []*huma.Schema{{Ref: given.Ref}, {Type: "null"}}}
	return s
}

func (a *api) best(ctx context.Context, in *InTask) (*answer[bestBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	best, err := t.Session().Best(ctx)
	if err != nil || best == nil {
		return answerOf(bestBody{}, err)
	}
	shown, err := showTrials(ctx, t, []strategy.Trial{*best})
	if err != nil {
		return nil, err
	}
	body := bestBody{Trial: &shown.Body.Trials[0]}
	preferred, err := t.Session().Preferred(ctx)
	if err == nil && preferred != nil {
		body.Recommended, err = showRecommendation(*preferred)
	}
	return answerOf(body, err)
}

type recommendationBody struct {
	Parameters *object  `json:"parameters" nullable:"true" doc:"null while there is no model."`
	Predicted  *float64 `json:"predicted,omitempty" doc:"The objective there, as far as the node's own model knows; with agents, the average of theirs."`
	Agents     int      `json:"agents,omitempty" doc:"The number of agents whose results it uses, where it is one design for all (strategy average-objective)."`
	Noisy      bool     `json:"noisy,omitempty" doc:"Outcomes are so noisy that the best one is mostly luck: prefer this design."`
	Reason     string   `json:"reason,omitempty" doc:"Why, where it is to be preferred to the best trial."`
}

func showRecommendation(r agent.Recommendation) (*recommendationBody, error) {
	shown, err := objectOf(r.Design)
	return &recommendationBody{&shown, r.Predicted, r.Agents, r.Noisy, r.Reason}, err
}

func (a *api) recommendation(ctx context.Context, in *InTask) (*answer[recommendationBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	recommended, err := t.Session().Recommend(ctx)
	if err != nil || recommended.Design.IsZero() {
		return answerOf(recommendationBody{}, err)
	}
	shown, err := showRecommendation(recommended)
	return answerOf(*shown, err)
}

// statusOf asks the session.
func (a *api) statusOf(ctx context.Context, in *InTask) (*trialserver.Task, node.Status, error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, node.Status{}, problem(err)
	}
	status, err := t.Session().Status(ctx)
	return t, status, problem(err)
}

// statusBody is node.Status, with the best trial as all routes show trials.
type statusBody struct {
	node.Status
	Best *trial `json:"best" doc:"null while no trial is feasible."`
}

// TransformSchema states that the best trial may be null.
func (statusBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "best")
}

func (a *api) status(ctx context.Context, in *InTask) (*answer[statusBody], error) {
	_, status, err := a.statusOf(ctx, in)
	if err != nil {
		return nil, err
	}
	body := statusBody{Status: status}
	if status.Best != nil {
		best, err := trialOf(*status.Best, time.Time{})
		if err != nil {
			return nil, problem(err)
		}
		body.Best = &best
	}
	return &answer[statusBody]{body}, nil
}

type peerBody struct {
	ID      string `json:"id"`
	Path    string `json:"path" enum:"direct,relayed"`
	Address string `json:"address"`
}

type hubBody struct {
	ID        string `json:"id"`
	Connected bool   `json:"connected"`
	Reachable bool   `json:"reachable" doc:"Others can reach the node through it."`
}

type peersBody struct {
	Peers   []peerBody `json:"peers" nullable:"false" doc:"Connected, on this task."`
	Present []string   `json:"present" nullable:"false" doc:"Peer IDs of the nodes that take part, this node included."`
	Hubs    []hubBody  `json:"hubs" nullable:"false"`
}

func (a *api) peers(ctx context.Context, in *InTask) (*answer[peersBody], error) {
	_, status, err := a.statusOf(ctx, in)
	if err != nil {
		return nil, err
	}
	body := peersBody{Peers: []peerBody{}, Present: []string{}, Hubs: []hubBody{}}
	for _, link := range status.Peers {
		body.Peers = append(body.Peers, peerBody{link.ID.String(), link.Path, link.Address})
	}
	for _, id := range status.Present {
		body.Present = append(body.Present, id.String())
	}
	for _, hub := range status.Hubs {
		body.Hubs = append(body.Hubs, hubBody{hub.ID.String(), hub.Connected, hub.Reachable})
	}
	return &answer[peersBody]{body}, nil
}

type privacyBody struct {
	Reveals     string  `json:"reveals" doc:"What peers receive of this node, and what they can learn from it; empty if the strategy shares nothing."`
	DPGuarantee bool    `json:"dp_guarantee"`
	Planned     int     `json:"planned,omitempty" doc:"Releases in all."`
	Released    int     `json:"released,omitempty"`
	Refused     string  `json:"refused,omitempty" doc:"Why there will be no more."`
	Epsilon     float64 `json:"epsilon,omitempty" doc:"Promised, over all planned releases."`
	Spent       float64 `json:"epsilon_spent,omitempty"`
	Delta       float64 `json:"delta,omitempty"`
}

func (a *api) privacy(ctx context.Context, in *InTask) (*answer[privacyBody], error) {
	t, status, err := a.statusOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if t.Session().Task().Privacy == nil {
		return &answer[privacyBody]{privacyBody{Reveals: t.Reveals()}}, nil
	}
	terms, err := ledger.NewTerms(t.Session().Task())
	if err != nil {
		return nil, problem(err)
	}
	body := privacyBody{Reveals: t.Reveals(), DPGuarantee: true, Epsilon: t.Session().Task().Privacy.Epsilon, Delta: terms.Delta}
	if s, ok := strategy.StatusValue[ledger.State](status.Items, strategy.PrivacyKey); ok {
		body.Planned, body.Released, body.Refused = s.Planned, s.Released, s.Refused
		body.Spent, err = terms.Spent(s.Released)
	}
	return answerOf(body, err)
}

type roundsBody struct {
	Present        []string `json:"present" nullable:"false" doc:"Peer IDs of the nodes that take part, this node included."`
	PresenceAgreed bool     `json:"presence_agreed" doc:"All of them see the same set."`
}

func (a *api) rounds(ctx context.Context, in *InTask) (*answer[roundsBody], error) {
	_, status, err := a.statusOf(ctx, in)
	if err != nil {
		return nil, err
	}
	body := roundsBody{Present: []string{}, PresenceAgreed: status.PresenceAgreed}
	for _, id := range status.Present {
		body.Present = append(body.Present, id.String())
	}
	return &answer[roundsBody]{body}, nil
}
