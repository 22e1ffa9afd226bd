package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/modelview"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// contourPoints is the maximum number of values of a parameter in a contour.
const contourPoints = 25

// maxPrinted is the maximum number of bytes of a trial's output in an answer.
const maxPrinted = 64 << 10

// addLooks adds the operations for pages: the model, contributions of peers, the output of trials.
func (a *api) addLooks() {
	gone := http.StatusNotFound
	get := func(path, id, summary string) huma.Operation {
		return op(http.MethodGet, "/v1/tasks/{task}/"+path, id, summary, gone)
	}
	huma.Register(a.API, get("model", "get-model", "The model of the objective: along each parameter through the best design, and which parameters matter. It waits until the model knows all outcomes."), a.model)
	huma.Register(a.API, get("contour", "get-contour", "The model of the objective over two parameters, through the best design"), a.contour)
	huma.Register(a.API, get("contributions", "get-contributions", "Contributions of peers: the shares of each peer, the designs that depend on it, and its weight"), a.contributions)
	huma.Register(a.API, get("trials/{trial}/output", "get-output", "What the command of a trial printed, the end of it"), a.output)
	o := get("export", "export", "All trials as a file, as `fbo-node export` writes it")
	text := &huma.Schema{Type: huma.TypeString}
	whole := &huma.Schema{Type: huma.TypeObject, Required: []string{"id", "task", "trials"}, Properties: map[string]*huma.Schema{
		"id":     {Type: huma.TypeString, Description: "Of the task."},
		"task":   object{}.Schema(nil),
		"trials": {Type: huma.TypeArray, Items: object{}.Schema(nil)},
	}}
	o.Responses = map[string]*huma.Response{"200": {Description: "The file", Content: map[string]*huma.MediaType{"text/csv": {Schema: text}, "application/json": {Schema: whole}}}}
	huma.Register(a.API, o, a.export)
	huma.Register(a.API, op(http.MethodGet, "/v1/log", "get-log", "The newest warnings of the node"), a.log)
}

// look returns a view of a task whose models include all outcomes. Only one client views a model at
// a time: it uses processors that trials need too.
func (a *api) look(ctx context.Context, name string) (t *trialserver.Task, view strategy.View, end func(), err error) {
	if t, err = a.server.Task(name); err != nil {
		return nil, view, nil, problem(err)
	}
	select {
	case a.looks <- struct{}{}:
	case <-ctx.Done():
		return nil, view, nil, problem(ctx.Err())
	}
	end = func() { <-a.looks }
	if view, err = t.Session().View(ctx); err != nil {
		end()
		return nil, view, nil, problem(err)
	}
	return t, view, end, nil
}

type sliceBody struct {
	Parameter string       `json:"parameter"`
	Values    []task.Value `json:"values" nullable:"false" doc:"Of the parameter."`
	Mean      []float64    `json:"mean" nullable:"false" doc:"Of the function there, in the objective's units."`
	Low       []float64    `json:"low" nullable:"false"`
	High      []float64    `json:"high" nullable:"false" doc:"The function lies between low and high with the probability interval; noise of observations comes on top."`
	Feasible  []float64    `json:"feasible,omitempty" nullable:"false" doc:"The probability that all constraints are kept."`
}

// TransformSchema sets the type of values: numbers, texts or booleans.
func (sliceBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["values"].Items = valueSchema()
	return s
}

func valueSchema() *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString}, {Type: huma.TypeBoolean}}}
}

type importanceBody struct {
	Parameter  string  `json:"parameter"`
	Importance float64 `json:"importance" doc:"The part of the variance of the model's mean that stays while this parameter alone is unknown."`
}

type modelBody struct {
	Outcomes   int              `json:"outcomes" doc:"Outcomes that the model uses."`
	Trial      uint64           `json:"trial" doc:"Slices go through its design, the best, or without a feasible one that of least violation; 0 while there is none."`
	Design     *object          `json:"design" nullable:"true"`
	Interval   float64          `json:"interval"`
	Slices     []sliceBody      `json:"slices" nullable:"false" doc:"One for each parameter that is active in the best design and has several values; none while there is no model."`
	Importance []importanceBody `json:"importance" nullable:"false"`
	Method     string           `json:"method" doc:"By which importance was computed."`
}

type modelInput struct {
	InTask
	Points int `query:"points" default:"41" minimum:"2" maximum:"201" doc:"Values of a parameter with many."`
}

func (a *api) model(ctx context.Context, in *modelInput) (*answer[modelBody], error) {
	_, view, end, err := a.look(ctx, in.Task)
	if err != nil {
		return nil, err
	}
	defer end()
	body := modelBody{Interval: modelview.Interval, Slices: []sliceBody{}, Importance: []importanceBody{}, Method: modelview.Method}
	p, err := modelview.New(view)
	best := strategy.BestOrLeastViolating(view.Task, view.Trials)
	if errors.Is(err, modelview.ErrNoModel) || best == nil {
		return &answer[modelBody]{body}, nil
	}
	if err != nil {
		return nil, problem(err)
	}
	slices, err := p.Slices(ctx, best.Design, in.Points)
	if err != nil {
		return nil, problem(err)
	}
	importance, err := p.Importance(ctx)
	if err != nil {
		return nil, problem(err)
	}
	design, err := objectOf(best.Design)
	if err != nil {
		return nil, problem(err)
	}
	body.Outcomes, body.Trial, body.Design = view.Observations, best.ID, &design
	for _, s := range slices {
		body.Slices = append(body.Slices, sliceBody(s))
	}
	for i, p := range view.Task.Space.Parameters() {
		body.Importance = append(body.Importance, importanceBody{p.Name, importance[i]})
	}
	return &answer[modelBody]{body}, nil
}

type contourBody struct {
	Outcomes  int          `json:"outcomes"`
	X         string       `json:"x"`
	Y         string       `json:"y"`
	Xs        []task.Value `json:"xs" nullable:"false"`
	Ys        []task.Value `json:"ys" nullable:"false"`
	Mean      [][]float64  `json:"mean" nullable:"false" doc:"A row for each of ys, in the objective's units; none while there is no model."`
	Deviation [][]float64  `json:"deviation" nullable:"false"`
}

// TransformSchema sets the type of values: numbers, texts or booleans.
func (contourBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["xs"].Items, s.Properties["ys"].Items = valueSchema(), valueSchema()
	return s
}

type contourInput struct {
	InTask
	X string `query:"x" required:"true" minLength:"1" doc:"A parameter that is active in the best design."`
	Y string `query:"y" required:"true" minLength:"1" doc:"Another one."`
}

func (a *api) contour(ctx context.Context, in *contourInput) (*answer[contourBody], error) {
	_, view, end, err := a.look(ctx, in.Task)
	if err != nil {
		return nil, err
	}
	defer end()
	for at, name := range map[string]string{"query.x": in.X, "query.y": in.Y} {
		if !hasParameter(view.Task, name) {
			return nil, invalid(at, fmt.Errorf("the task has no parameter %.80q", name))
		}
	}
	if in.X == in.Y {
		return nil, invalid("query.y", errors.New("expected another parameter than x"))
	}
	body := contourBody{X: in.X, Y: in.Y, Xs: []task.Value{}, Ys: []task.Value{}, Mean: [][]float64{}, Deviation: [][]float64{}}
	p, err := modelview.New(view)
	best := strategy.BestOrLeastViolating(view.Task, view.Trials)
	if errors.Is(err, modelview.ErrNoModel) || best == nil {
		return &answer[contourBody]{body}, nil
	}
	if err != nil {
		return nil, problem(err)
	}
	for at, name := range map[string]string{"query.x": in.X, "query.y": in.Y} {
		if !best.Design.Active(name) {
			return nil, invalid(at, fmt.Errorf("parameter %q is inactive in the best design, that of trial %d", name, best.ID))
		}
	}
	c, err := p.Contour(ctx, best.Design, in.X, in.Y, contourPoints)
	if err != nil {
		return nil, problem(err)
	}
	return &answer[contourBody]{contourBody{view.Observations, c.X, c.Y, c.Xs, c.Ys, c.Mean, c.Deviation}}, nil
}

func hasParameter(t *task.Task, name string) bool {
	for _, p := range t.Space.Parameters() {
		if p.Name == name {
			return true
		}
	}
	return false
}

type outputBody struct {
	Text           string `json:"text" doc:"The end of it; what is not printable is escaped, but for line breaks and tabs."`
	TruncatedBytes int64  `json:"truncated_bytes" doc:"Bytes before it."`
}

func (a *api) output(ctx context.Context, in *InTrial) (*answer[outputBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	if _, err := showTrial(ctx, t, in.Trial); err != nil {
		return nil, err
	}
	kept := &tail{most: maxPrinted}
	if a.options.Printed != nil {
		if err := a.options.Printed(t.Session().Task(), in.Trial, kept); err != nil {
			return nil, problem(err)
		}
	}
	if kept.all == 0 {
		return nil, huma.Error404NotFound(fmt.Sprintf("nothing that trial %d printed is kept", in.Trial))
	}
	return &answer[outputBody]{outputBody{sanitize.Lines(string(kept.last)), kept.all - int64(len(kept.last))}}, nil
}

// tail keeps the end of the written data.
type tail struct {
	most int
	last []byte
	all  int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.all += int64(len(p))
	t.last = append(t.last, p[max(len(p)-t.most, 0):]...)
	t.last = append([]byte(nil), t.last[max(len(t.last)-t.most, 0):]...)
	return len(p), nil
}

type exportInput struct {
	InTask
	Format string `query:"format" required:"true" enum:"csv,json"`
}

type fileOutput struct {
	Type string `header:"Content-Type"`
	Body []byte
}

func (a *api) export(ctx context.Context, in *exportInput) (*fileOutput, error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, problem(err)
	}
	status, err := t.Session().Status(ctx)
	if err != nil {
		return nil, problem(err)
	}
	var file bytes.Buffer
	if in.Format == "csv" {
		err = export.CSV(&file, t.Session().Task(), trials)
		return &fileOutput{"text/csv; charset=utf-8", file.Bytes()}, problem(err)
	}
	err = export.JSON(&file, t.Session().Task(), trials, status.Items)
	return &fileOutput{"application/json", file.Bytes()}, problem(err)
}

// Warning is a warning for the user of a node.
type Warning struct {
	ID   uint64    `json:"id" doc:"They are numbered."`
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

type logBody struct {
	Lines []Warning `json:"lines" nullable:"false" doc:"The oldest first."`
}

func (a *api) log(context.Context, *struct{}) (*answer[logBody], error) {
	body := logBody{Lines: []Warning{}}
	if a.options.Warnings != nil {
		body.Lines = append(body.Lines, a.options.Warnings()...)
	}
	return &answer[logBody]{body}, nil
}
