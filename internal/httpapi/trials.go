package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
)

// InTrial holds the path parameters of a trial.
type InTrial struct {
	InTask
	Trial uint64 `path:"trial" minimum:"1" maximum:"9007199254740991" doc:"The trial's ID."`
}

func (a *api) addTrials() {
	const trials, one = "/v1/tasks/{task}/trials", "/v1/tasks/{task}/trials/{trial}"
	lost, gone := http.StatusConflict, http.StatusNotFound
	huma.Register(a.API, op(http.MethodPost, "/v1/tasks/{task}/ask", "ask", "Get trials to evaluate: those that the client holds already, and new ones", gone, lost), a.ask)
	huma.Register(a.API, large(op(http.MethodPost, "/v1/tasks/{task}/import", "import", "Add evaluations that were made before or elsewhere. The same list again adds nothing.", gone)), a.importPast)
	huma.Register(a.API, op(http.MethodGet, trials, "list-trials", "List trials, in order of ID", gone), a.listTrials)
	huma.Register(a.API, op(http.MethodGet, one, "get-trial", "Show a trial", gone), a.getTrial)
	huma.Register(a.API, op(http.MethodPost, one+"/tell", "tell", "Report the measurements of a trial. Repeating the same report is not an error. A report after the end of a lease is accepted, too, unless another client has reported.", gone, lost), a.tell)
	huma.Register(a.API, op(http.MethodPost, one+"/fail", "fail", "Report that a trial has no outcome, and why. The same client may repeat the report.", gone, lost), a.fail)
	huma.Register(a.API, op(http.MethodPost, one+"/requeue", "requeue", "Return a trial, which the next ask gets; it does not count as an attempt. It changes nothing while no client holds the trial.", gone, lost), a.requeue)
	huma.Register(a.API, op(http.MethodPost, one+"/heartbeat", "heartbeat", "Begin the lease of a trial anew", gone, lost), a.heartbeat)
}

type askBody struct {
	Client string   `json:"client" minLength:"1" maxLength:"64" doc:"The name of who evaluates; another one for each worker."`
	Count  int      `json:"count,omitempty" default:"1" minimum:"1" maximum:"1000" nullable:"true" doc:"How many trials the client will then hold."`
	Lease  *float64 `json:"lease_seconds,omitempty" nullable:"true" minimum:"1" maximum:"2592000" doc:"How long after the last sign of life another client gets the trials. Default: what the node was started with."`
	Wait   *float64 `json:"wait_seconds,omitempty" nullable:"true" minimum:"0" maximum:"60" doc:"How long to wait for designs at most; default 30. Then the answer has fewer trials, perhaps none, and waits_for."`
}

type askInput struct {
	Unhurried
	InTask
	Key
	Body askBody
}

type trialsBody struct {
	Trials []trial `json:"trials" nullable:"false"`
}

type askedBody struct {
	Trials   []trial `json:"trials" nullable:"false"`
	WaitsFor string  `json:"waits_for,omitempty" doc:"Why there are fewer trials than asked for."`
}

// waitDefault is the waiting time of an ask without one.
const waitDefault = 30 * time.Second

func seconds(given *float64, otherwise, most time.Duration) time.Duration {
	if given == nil {
		return otherwise
	}
	return min(time.Duration(*given*float64(time.Second)), most)
}

func (a *api) ask(ctx context.Context, in *askInput) (*answer[askedBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	if err := agent.CheckClient(in.Body.Client); err != nil {
		return nil, invalid("body.client", err)
	}
	claim := agent.Claim{Client: in.Body.Client, Lease: seconds(in.Body.Lease, a.options.Lease, maxLease)}
	once, err := in.once("ask", 0, struct {
		Client string
		Count  int
	}{in.Body.Client, in.Body.Count})
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, seconds(in.Body.Wait, waitDefault, maxWait))
	defer cancel()
	asked, err := t.Ask(waiting, claim, in.Body.Count, once)
	if err != nil {
		return nil, problem(err)
	}
	shown, err := showTrials(ctx, t, asked.Trials)
	if err != nil {
		return nil, err
	}
	return &answer[askedBody]{askedBody{shown.Body.Trials, asked.WaitsFor}}, nil
}

func showTrials(ctx context.Context, t *trialserver.Task, trials []strategy.Trial) (*answer[trialsBody], error) {
	leases, err := t.Session().Clients().Leases(ctx)
	if err != nil {
		return nil, problem(err)
	}
	shown, err := trialsOf(trials, leases)
	return answerOf(trialsBody{shown}, err)
}

type listInput struct {
	InTask
	After  uint64   `query:"after" maximum:"9007199254740991" doc:"Only trials with a larger ID."`
	Limit  int      `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	State  []string `query:"state" nullable:"false" minItems:"1" enum:"waiting,running,done,failed,stopped" doc:"Only trials in one of these states, separated by commas."`
	Client string   `query:"client" minLength:"1" doc:"Only trials of this client."`
}

type pageBody struct {
	Trials []trial `json:"trials" nullable:"false"`
	Next   uint64  `json:"next,omitempty" doc:"There are more: ask again with this as after."`
}

func (a *api) listTrials(ctx context.Context, in *listInput) (*answer[pageBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	all, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, problem(err)
	}
	wanted := map[string]bool{}
	for _, state := range in.State {
		wanted[state] = true
	}
	var page []strategy.Trial
	var next uint64
	for _, trial := range all[min(in.After, uint64(len(all))):] { // IDs count from 1
		if len(wanted) > 0 && !wanted[string(trial.State)] || in.Client != "" && trial.Client != in.Client {
			continue
		}
		if len(page) == in.Limit {
			next = page[len(page)-1].ID
			break
		}
		page = append(page, trial)
	}
	shown, err := showTrials(ctx, t, page)
	if err != nil {
		return nil, err
	}
	return &answer[pageBody]{pageBody{shown.Body.Trials, next}}, nil
}

func (a *api) getTrial(ctx context.Context, in *InTrial) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}

func showTrial(ctx context.Context, t *trialserver.Task, id uint64) (*answer[trial], error) {
	all, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, problem(err)
	}
	if id == 0 || id > uint64(len(all)) {
		return nil, problem(fmt.Errorf("%w %d: trials 1 to %d exist", agent.ErrUnknownTrial, id, len(all)))
	}
	shown, err := showTrials(ctx, t, all[id-1:id])
	if err != nil {
		return nil, err
	}
	return &answer[trial]{shown.Body.Trials[0]}, nil
}

type tellInput struct {
	Unhurried
	InTrial
	Key
	Body struct {
		Outcome
		Spent
		Kept
	}
}

func (a *api) tell(ctx context.Context, in *tellInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	if err := in.Body.check(t.Session().Task(), "body"); err != nil {
		return nil, err
	}
	told := in.Body.strategy()
	told.Cost, told.Annotations = in.Body.Cost, in.Body.annotations()
	once, err := in.once("tell", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().Tell(ctx, once, in.Trial, told); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}

type holderBody struct {
	Client string `json:"client" minLength:"1" maxLength:"64" doc:"Who holds the trial."`
}

type failInput struct {
	Unhurried
	InTrial
	Key
	Body struct {
		Client string `json:"client" minLength:"1" maxLength:"64" doc:"Who holds the trial."`
		Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"In plain words."`
		Spent
		Kept
	}
}

func (a *api) fail(ctx context.Context, in *failInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	once, err := in.once("fail", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().Fail(ctx, once, in.Trial, in.Body.Client, agent.Ending{Reason: in.Body.Reason, Cost: in.Body.Cost, Annotations: in.Body.annotations()}); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}

type holderInput struct {
	Unhurried
	InTrial
	Body holderBody
}

type returnInput struct {
	Unhurried
	InTrial
	Key
	Body holderBody
}

func (a *api) requeue(ctx context.Context, in *returnInput) (*answer[trial], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	once, err := in.once("requeue", in.Trial, in.Body)
	if err != nil {
		return nil, err
	}
	if err := t.Session().Clients().Requeue(ctx, once, in.Trial, in.Body.Client); err != nil {
		return nil, problem(err)
	}
	return showTrial(ctx, t, in.Trial)
}

type leaseBody struct {
	LeaseEnds time.Time `json:"lease_ends"`
}

func (a *api) heartbeat(ctx context.Context, in *holderInput) (*answer[leaseBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	end, err := t.Session().Clients().Heartbeat(ctx, in.Trial, in.Body.Client)
	return answerOf(leaseBody{end}, err)
}

type pastBody struct {
	Parameters object   `json:"parameters" doc:"The design: a value for each active parameter of the task."`
	Outcome    *Outcome `json:"outcome,omitempty"`
	Failed     string   `json:"failed,omitempty" nullable:"true" maxLength:"1000" doc:"Why there is no outcome."`
	Stopped    string   `json:"stopped,omitempty" nullable:"true" maxLength:"1000" doc:"Why the evaluation was stopped early, after the steps."`
	Steps      []step   `json:"steps,omitempty" nullable:"true" maxItems:"1000" doc:"Values by step, in order."`
	Spent
	Kept
}

// TransformSchema adds null as a form of a missing outcome. It repeats the schema of an outcome:
// huma would not report the error within one of several.
func (pastBody) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	optional := *r.SchemaFromRef(s.Properties["outcome"].Ref)
	optional.Nullable = true
	s.Properties["outcome"] = &optional
	return s
}

// ended returns the trial without its design and its outcome.
func (p pastBody) ended() (past agent.Past, err error) {
	ends := 0
	for _, given := range []bool{p.Outcome != nil, p.Failed != "", p.Stopped != ""} {
		if given {
			ends++
		}
	}
	if ends != 1 {
		return past, errors.New("expected either an outcome, or in failed or stopped the reason why there is none")
	}
	past.Failed, past.Steps = p.Failed, curveOf(p.Steps)
	past.Outcome.Cost, past.Outcome.Annotations = p.Cost, p.annotations()
	if err := errors.Join(past.Steps.Check(), strategy.CheckCost(p.Cost)); err != nil {
		return past, err
	}
	if p.Stopped == "" {
		return past, nil
	}
	if len(past.Steps) == 0 {
		return past, errors.New("stopped without steps; expected one or more")
	}
	past.Stopped, past.Stop = true, &curves.Stop{Rule: agent.ProgramRule, Step: past.Steps.Last().Step, Reason: p.Stopped}
	return past, nil
}

type importInput struct {
	Unhurried
	InTask
	Key
	Body struct {
		Trials []pastBody `json:"trials" nullable:"false" minItems:"1" maxItems:"100000"`
	}
}

type importedBody struct {
	Added int `json:"added"`
	Known int `json:"known" doc:"How many were imported before."`
}

func (a *api) importPast(ctx context.Context, in *importInput) (*answer[importedBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	of := t.Session().Task()
	past := make([]agent.Past, len(in.Body.Trials))
	for i, given := range in.Body.Trials {
		at := fmt.Sprintf("body.trials[%d]", i)
		if past[i], err = given.ended(); err != nil {
			return nil, invalid(at, err)
		}
		if past[i].Design, err = of.Space.UnmarshalDesign(given.Parameters); err != nil {
			return nil, invalid(at+".parameters", err)
		}
		if given.Outcome == nil {
			continue
		}
		if err := given.Outcome.check(of, at+".outcome"); err != nil {
			return nil, err
		}
		past[i].Outcome = given.Outcome.strategy()
		past[i].Outcome.Cost, past[i].Outcome.Annotations = given.Cost, given.annotations()
	}
	once, err := in.once("import", 0, in.Body)
	if err != nil {
		return nil, err
	}
	added, err := t.Session().Clients().Import(ctx, once, past)
	return answerOf(importedBody{added, len(past) - added}, err)
}
