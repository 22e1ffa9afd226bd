package vizierapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// world is a node without peers, behind the service.
type world struct {
	t    testing.TB
	dir  string
	url  string
	http *http.Client
	end  func()
}

func newWorld(t testing.TB, dir string, o Options) *world {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := trialserver.New(n, trialserver.Options{Strategies: all.Strategies(), Wait: -1, OnWarning: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	handler, err := New(d, o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: handler, Protocols: &h2c}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until Close
	}()
	transport := &http.Transport{Protocols: &h2c}
	w := &world{t: t, dir: dir, url: "http://" + listener.Addr().String(), http: &http.Client{Transport: transport}}
	ended := false
	w.end = func() {
		if ended {
			return
		}
		ended = true
		transport.CloseIdleConnections()
		server.Close()
		<-served
		d.Close()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(w.end)
	return w
}

// call sends a request.
func call[Answer, Request any](w *world, procedure string, request *Request) (*Answer, error) {
	client := connect.NewClient[Request, Answer](w.http, w.url+Service+procedure, connect.WithGRPC())
	answer, err := client.CallUnary(context.Background(), connect.NewRequest(request))
	if err != nil {
		return nil, err
	}
	return answer.Msg, nil
}

// must is call for what has to succeed.
func must[Answer, Request any](w *world, procedure string, request *Request) *Answer {
	w.t.Helper()
	answer, err := call[Answer](w, procedure, request)
	if err != nil {
		w.t.Fatalf("%s: %v", procedure, err)
	}
	return answer
}

// refuse sends a request that has to fail with a code and a text.
func refuse[Answer, Request any](w *world, code connect.Code, text, procedure string, request *Request) {
	w.t.Helper()
	_, err := call[Answer](w, procedure, request)
	if connect.CodeOf(err) != code || !strings.Contains(fmt.Sprint(err), text) {
		w.t.Errorf("%s: %v, expected %v and %q", procedure, err, code, text)
	}
}

func double(id string, low, high float64) *parameterSpec {
	return &parameterSpec{ParameterId: id, ParameterValueSpec: &vizierpb.StudySpec_ParameterSpec_DoubleValueSpec_{
		DoubleValueSpec: &vizierpb.StudySpec_ParameterSpec_DoubleValueSpec{MinValue: low, MaxValue: high}}}
}

func categorical(id string, values ...string) *parameterSpec {
	return &parameterSpec{ParameterId: id, ParameterValueSpec: &vizierpb.StudySpec_ParameterSpec_CategoricalValueSpec_{
		CategoricalValueSpec: &vizierpb.StudySpec_ParameterSpec_CategoricalValueSpec{Values: values}}}
}

func minimized(id string) *metricSpec {
	return &metricSpec{MetricId: id, Goal: vizierpb.StudySpec_MetricSpec_MINIMIZE}
}

// bowl is a specification whose designs are chosen quickly.
func bowl(metrics ...*metricSpec) *vizierpb.StudySpec {
	if metrics == nil {
		metrics = []*metricSpec{minimized("loss")}
	}
	return &vizierpb.StudySpec{Parameters: []*parameterSpec{double("x", -2, 2), double("y", -2, 2)}, Metrics: metrics}
}

const bowlStudy = "owners/me/studies/bowl"

func (w *world) create(spec *vizierpb.StudySpec) *vizierpb.Study {
	w.t.Helper()
	return must[vizierpb.Study](w, "CreateStudy", &vizierpb.CreateStudyRequest{Parent: "owners/me", Study: &vizierpb.Study{DisplayName: "bowl", StudySpec: spec}})
}

// suggest returns the trials that a client then holds.
func (w *world) suggest(client string, count int32) []*vizierpb.Trial {
	w.t.Helper()
	operation := must[vizierpb.Operation](w, "SuggestTrials", &vizierpb.SuggestTrialsRequest{Parent: bowlStudy, ClientId: client, SuggestionCount: count})
	for !operation.GetDone() {
		operation = must[vizierpb.Operation](w, "GetOperation", &vizierpb.GetOperationRequest{Name: operation.GetName()})
	}
	response := &vizierpb.SuggestTrialsResponse{}
	if err := proto.Unmarshal(operation.GetResponse().GetValue(), response); err != nil {
		w.t.Fatal(err)
	}
	return response.Trials
}

func measured(values map[string]float64) *vizierpb.Measurement {
	m := &vizierpb.Measurement{}
	for id, value := range values {
		m.Metrics = append(m.Metrics, &metricValue{MetricId: id, Value: value})
	}
	return m
}

func (w *world) complete(trial *vizierpb.Trial, values map[string]float64) *vizierpb.Trial {
	w.t.Helper()
	return must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: trial.GetName(), FinalMeasurement: measured(values)})
}

func (w *world) trials() []*vizierpb.Trial {
	w.t.Helper()
	return must[vizierpb.ListTrialsResponse](w, "ListTrials", &vizierpb.ListTrialsRequest{Parent: bowlStudy}).GetTrials()
}

func (w *world) optimal() []string {
	w.t.Helper()
	return idsOf(must[vizierpb.ListOptimalTrialsResponse](w, "ListOptimalTrials", &vizierpb.ListOptimalTrialsRequest{Parent: bowlStudy}).GetOptimalTrials())
}

func idsOf(trials []*vizierpb.Trial) (ids []string) {
	for _, trial := range trials {
		ids = append(ids, trial.GetId())
	}
	return ids
}

func wantIDs(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: trials %v, expected %v", what, got, want)
	}
}

func TestClientsHoldTheirTrials(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	study := w.create(bowl())
	if study.GetName() != bowlStudy || study.GetState() != vizierpb.Study_ACTIVE || study.GetCreateTime() == nil {
		t.Errorf("study %v", study)
	}
	a, b := w.suggest("a", 2), w.suggest("b", 1)
	wantIDs(t, "first of a", idsOf(a), "1", "2")
	wantIDs(t, "first of b", idsOf(b), "3")
	wantIDs(t, "again", idsOf(w.suggest("a", 2)), "1", "2")
	wantIDs(t, "fewer", idsOf(w.suggest("a", 1)), "1")
	if one := a[0]; one.GetState() != vizierpb.Trial_ACTIVE || one.GetClientId() != "a" || len(one.GetParameters()) != 2 || one.GetParameters()[0].GetParameterId() != "x" {
		t.Errorf("trial %v", one)
	}
	done := must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: a[0].GetName(), FinalMeasurement: &vizierpb.Measurement{
		StepCount: 7, ElapsedDuration: durationpb.New(3e9), Metrics: []*metricValue{{MetricId: "loss", Value: 2}, {MetricId: "accuracy", Value: 0.5}}}})
	final := done.GetFinalMeasurement()
	if done.GetState() != vizierpb.Trial_SUCCEEDED || final.GetStepCount() != 7 || final.GetElapsedDuration().GetSeconds() != 3 || len(final.GetMetrics()) != 2 || final.GetMetrics()[1].GetValue() != 0.5 || len(done.GetMetadata()) != 0 {
		t.Errorf("completed %v", done)
	}
	w.complete(b[0], map[string]float64{"loss": 1})
	w.complete(b[0], map[string]float64{"loss": 1}) // the same report again
	refuse[vizierpb.Trial](w, connect.CodeFailedPrecondition, "already ended", "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: b[0].GetName(), FinalMeasurement: measured(map[string]float64{"loss": 5})})
	failed := must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: a[1].GetName(), TrialInfeasible: true, InfeasibleReason: "diverged"})
	if failed.GetState() != vizierpb.Trial_INFEASIBLE || failed.GetInfeasibleReason() != "diverged" {
		t.Errorf("infeasible %v", failed)
	}
	wantIDs(t, "optimal", w.optimal(), "3")
	equal := w.suggest("a", 1)[0]
	w.complete(equal, map[string]float64{"loss": 1})
	wantIDs(t, "optimal, with equal values", w.optimal(), "3", equal.GetId())
	if got := len(w.trials()); got != 4 {
		t.Errorf("%d trials, expected 4", got)
	}
}

// TestOperationsContinue: an operation that is not done is continued by its name, and gives no trial twice.
func TestOperationsContinue(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{Wait: 1})
	w.create(bowl())
	operation := must[vizierpb.Operation](w, "SuggestTrials", &vizierpb.SuggestTrialsRequest{Parent: bowlStudy, ClientId: "a", SuggestionCount: 3})
	if operation.GetDone() || operation.GetName() != "owners/me/operations/suggestion/bowl/a/3" {
		t.Fatalf("operation %v", operation)
	}
	got := idsOf(w.suggest("a", 3))
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != 3 || len(w.trials()) < 3 {
		t.Errorf("trials %v of %d", got, len(w.trials()))
	}
	refuse[vizierpb.Operation](w, connect.CodeInvalidArgument, "expected owners/OWNER/operations", "GetOperation", &vizierpb.GetOperationRequest{Name: "owners/me/operations/other"})
}

// TestRestart: a study, its state and metadata, and who holds which trial survive a restart.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	w.create(bowl())
	a, b := w.suggest("a", 2), w.suggest("b", 1)
	w.complete(a[0], map[string]float64{"loss": 1})
	one := "2"
	entry := func(ns, key, value string) *vizierpb.KeyValue {
		return &vizierpb.KeyValue{Ns: ns, Key: key, AValue: &vizierpb.KeyValue_Value{Value: value}}
	}
	must[vizierpb.UpdateMetadataResponse](w, "UpdateMetadata", &vizierpb.UpdateMetadataRequest{Name: bowlStudy, Delta: []*vizierpb.UnitMetadataUpdate{
		{Metadatum: entry(":team", "ticket", "17")}, {TrialId: &one, Metadatum: entry(":run/a", "log", "")},
	}})
	must[vizierpb.Trial](w, "StopTrial", &vizierpb.StopTrialRequest{Name: b[0].GetName()})
	study, trials := must[vizierpb.Study](w, "GetStudy", &vizierpb.GetStudyRequest{Name: bowlStudy}), w.trials()
	w.end()
	w = newWorld(t, dir, Options{})
	if again := must[vizierpb.Study](w, "GetStudy", &vizierpb.GetStudyRequest{Name: bowlStudy}); !proto.Equal(again, study) || len(again.GetStudySpec().GetMetadata()) != 1 {
		t.Errorf("study\n%v\nbefore\n%v", again, study)
	}
	for i, trial := range w.trials() {
		if !proto.Equal(trial, trials[i]) {
			t.Errorf("trial\n%v\nbefore\n%v", trial, trials[i])
		}
	}
	if got := trials[1].GetMetadata(); len(got) != 1 || got[0].GetNs() != ":run/a" || got[0].GetKey() != "log" || got[0].GetValue() != "" {
		t.Errorf("metadata of a trial %v", got)
	}
	wantIDs(t, "held by a", idsOf(w.suggest("a", 1)), "2")
	wantIDs(t, "new for b, whose trial is stopping", idsOf(w.suggest("b", 1)), "4")
	if same := w.create(bowl()); !proto.Equal(same, study) {
		t.Errorf("created again %v", same)
	}
	must[vizierpb.Study](w, "SetStudyState", &vizierpb.SetStudyStateRequest{Parent: bowlStudy, State: vizierpb.Study_COMPLETED})
	w.end()
	w = newWorld(t, dir, Options{})
	refuse[vizierpb.Operation](w, connect.CodeFailedPrecondition, "COMPLETED", "SuggestTrials", &vizierpb.SuggestTrialsRequest{Parent: bowlStudy, ClientId: "a", SuggestionCount: 1})
	refuse[vizierpb.Trial](w, connect.CodeFailedPrecondition, "COMPLETED", "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: a[1].GetName(), FinalMeasurement: measured(map[string]float64{"loss": 1})})
	must[vizierpb.Study](w, "SetStudyState", &vizierpb.SetStudyStateRequest{Parent: bowlStudy, State: vizierpb.Study_ACTIVE})
	w.complete(a[1], map[string]float64{"loss": 1})
	if list := must[vizierpb.ListStudiesResponse](w, "ListStudies", &vizierpb.ListStudiesRequest{Parent: "owners/me"}).GetStudies(); len(list) != 1 {
		t.Errorf("studies %v", list)
	}
	must[vizierpb.Empty](w, "DeleteStudy", &vizierpb.DeleteStudyRequest{Name: bowlStudy})
	w.end()
	w = newWorld(t, dir, Options{})
	refuse[vizierpb.Study](w, connect.CodeNotFound, "does not exist", "GetStudy", &vizierpb.GetStudyRequest{Name: bowlStudy})
	w.create(bowl())
	if got := len(w.trials()); got != 4 {
		t.Errorf("%d trials of the study that is created again, expected 4", got)
	}
}

func TestTwoObjectivesAndASafetyMetric(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	heat := minimized("heat")
	heat.SafetyConfig = &vizierpb.StudySpec_MetricSpec_SafetyMetricConfig{SafetyThreshold: 3}
	w.create(bowl(minimized("error-rate"), heat, &metricSpec{MetricId: "top-speed", Goal: vizierpb.StudySpec_MetricSpec_MAXIMIZE}))
	trials := w.suggest("a", 4)
	for i, values := range []map[string]float64{
		{"error-rate": 1, "heat": 1, "top-speed": 1}, {"error-rate": 2, "heat": 3, "top-speed": 2},
		{"error-rate": 2, "heat": 1, "top-speed": 1}, {"error-rate": 0, "heat": 4, "top-speed": 9},
	} {
		done := w.complete(trials[i], values)
		for _, m := range done.GetFinalMeasurement().GetMetrics() {
			if m.GetValue() != values[m.GetMetricId()] {
				t.Errorf("trial %d: %v", i+1, m)
			}
		}
	}
	wantIDs(t, "optimal", w.optimal(), "1", "2")
	five := w.suggest("a", 1)[0].GetName()
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, `metric "heat" is missing`, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: five, FinalMeasurement: measured(map[string]float64{"error-rate": 1, "top-speed": 1})})
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, "expected another one", "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: five, FinalMeasurement: &vizierpb.Measurement{Metrics: []*metricValue{
		{MetricId: "error-rate"}, {MetricId: "top-speed"}, {MetricId: "heat"}, {MetricId: "top_speed"}}}})
	refuse[vizierpb.Trial](w, connect.CodeUnimplemented, "several objectives", "AddTrialMeasurement", &vizierpb.AddTrialMeasurementRequest{TrialName: five, Measurement: measured(map[string]float64{"top-speed": 1})})
}

func TestStoppingEarly(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	spec := bowl()
	spec.AutomatedStoppingSpec = &vizierpb.StudySpec_DefaultStoppingSpec{DefaultStoppingSpec: &vizierpb.StudySpec_DefaultEarlyStoppingSpec{}}
	w.create(spec)
	report := func(trial *vizierpb.Trial, step int64, value float64) {
		t.Helper()
		m := measured(map[string]float64{"loss": value})
		m.StepCount = step
		must[vizierpb.Trial](w, "AddTrialMeasurement", &vizierpb.AddTrialMeasurementRequest{TrialName: trial.GetName(), Measurement: m})
	}
	stops := func(trial *vizierpb.Trial) bool {
		t.Helper()
		return must[vizierpb.CheckTrialEarlyStoppingStateResponse](w, "CheckTrialEarlyStoppingState", &vizierpb.CheckTrialEarlyStoppingStateRequest{TrialName: trial.GetName()}).GetShouldStop()
	}
	for range 8 { // complete evaluations, from which the rule learns
		one := w.suggest("a", 1)[0]
		for step := range int64(5) {
			report(one, step, 2-0.2*float64(step))
		}
		done := must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: one.GetName()})
		if len(done.GetMeasurements()) != 5 || done.GetMeasurements()[0].GetStepCount() != 0 || done.GetFinalMeasurement().GetMetrics()[0].GetValue() != 1.2 {
			t.Fatalf("completed by its last measurement: %v", done)
		}
	}
	bad := w.suggest("a", 1)[0]
	report(bad, 0, 1000)
	report(bad, 1, 1000)
	if !stops(bad) {
		t.Error("a trial 500 times as bad as the others should stop")
	}
	ended := must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: bad.GetName()})
	if ended.GetState() != vizierpb.Trial_SUCCEEDED || ended.GetFinalMeasurement().GetStepCount() != 1 {
		t.Errorf("stopped %v", ended)
	}
	good := w.suggest("a", 1)[0]
	report(good, 3, -5)
	if stops(good) {
		t.Error("the best trial should continue")
	}
	if state := must[vizierpb.Trial](w, "StopTrial", &vizierpb.StopTrialRequest{Name: good.GetName()}).GetState(); state != vizierpb.Trial_STOPPING || !stops(good) {
		t.Errorf("after StopTrial: %v", state)
	}
	must[vizierpb.Trial](w, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: good.GetName()})
	if slices.Contains(w.optimal(), good.GetId()) {
		t.Error("a trial that was stopped early is optimal")
	}
	refuse[vizierpb.CheckTrialEarlyStoppingStateResponse](w, connect.CodeFailedPrecondition, "SUCCEEDED", "CheckTrialEarlyStoppingState", &vizierpb.CheckTrialEarlyStoppingStateRequest{TrialName: good.GetName()})
	next := w.suggest("a", 1)[0]
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, "expected a final_measurement", "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: next.GetName()})
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, "step_count -1", "AddTrialMeasurement", &vizierpb.AddTrialMeasurementRequest{TrialName: next.GetName(), Measurement: &vizierpb.Measurement{StepCount: -1}})
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, `the objective "loss"`, "AddTrialMeasurement", &vizierpb.AddTrialMeasurementRequest{TrialName: next.GetName(), Measurement: measured(map[string]float64{"other": 1})})
}

func TestTrialsOfTheUser(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	w.create(bowl())
	at := func(x float64) []*vizierpb.Trial_Parameter {
		return []*vizierpb.Trial_Parameter{{ParameterId: "x", Value: structpb.NewNumberValue(x)}, {ParameterId: "y", Value: structpb.NewNumberValue(0)}}
	}
	add := func(trial *vizierpb.Trial) *vizierpb.Trial {
		t.Helper()
		return must[vizierpb.Trial](w, "CreateTrial", &vizierpb.CreateTrialRequest{Parent: bowlStudy, Trial: trial})
	}
	requested := add(&vizierpb.Trial{Parameters: at(1), Metadata: []*vizierpb.KeyValue{{Key: "why", AValue: &vizierpb.KeyValue_Value{Value: "a guess"}}}})
	if requested.GetId() != "1" || requested.GetState() != vizierpb.Trial_REQUESTED || requested.GetMetadata()[0].GetValue() != "a guess" || requested.GetClientId() != "" {
		t.Errorf("requested %v", requested)
	}
	refuse[vizierpb.Trial](w, connect.CodeFailedPrecondition, "REQUESTED", "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: requested.GetName(), FinalMeasurement: measured(map[string]float64{"loss": 1})})
	add(&vizierpb.Trial{Parameters: at(1)}) // the same design once more
	wantIDs(t, "requested designs come first", idsOf(w.suggest("a", 3)), "1", "2", "3")
	done := add(&vizierpb.Trial{Parameters: at(0.5), State: vizierpb.Trial_SUCCEEDED, FinalMeasurement: measured(map[string]float64{"loss": -1}), Measurements: []*vizierpb.Measurement{measured(map[string]float64{"loss": 3})}})
	if done.GetState() != vizierpb.Trial_SUCCEEDED || len(done.GetMeasurements()) != 1 {
		t.Errorf("completed %v", done)
	}
	wantIDs(t, "optimal", w.optimal(), done.GetId())
	if again := add(&vizierpb.Trial{Parameters: at(0.5), State: vizierpb.Trial_SUCCEEDED, FinalMeasurement: measured(map[string]float64{"loss": -1}), Measurements: []*vizierpb.Measurement{measured(map[string]float64{"loss": 3})}}); again.GetId() != done.GetId() {
		t.Errorf("the same evaluation again is trial %s", again.GetId())
	}
	if failed := add(&vizierpb.Trial{Parameters: at(0.25), State: vizierpb.Trial_INFEASIBLE, InfeasibleReason: "no"}); failed.GetState() != vizierpb.Trial_INFEASIBLE {
		t.Errorf("infeasible %v", failed)
	}
	for text, bad := range map[string]*vizierpb.Trial{
		"none of this name":             {Parameters: []*vizierpb.Trial_Parameter{{ParameterId: "z", Value: structpb.NewNumberValue(0)}}},
		"two values":                    {Parameters: append(at(0), at(0)...)},
		"parameters: ":                  {Parameters: at(3)},
		"expected a number":             {Parameters: []*vizierpb.Trial_Parameter{{ParameterId: "x"}}},
		"true: expected":                {Parameters: []*vizierpb.Trial_Parameter{{ParameterId: "x", Value: structpb.NewBoolValue(true)}}},
		`metric "loss" is missing`:      {Parameters: at(1), State: vizierpb.Trial_SUCCEEDED},
		"namespace \"vizier\"":          {Parameters: at(1), Metadata: []*vizierpb.KeyValue{{Ns: "vizier", Key: "steps"}}},
		"expected 1 to 64 bytes of pri": {Parameters: at(1), Metadata: []*vizierpb.KeyValue{{Key: strings.Repeat("k", 65)}}},
	} {
		refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, text, "CreateTrial", &vizierpb.CreateTrialRequest{Parent: bowlStudy, Trial: bad})
	}
	if got := len(w.trials()); got != 5 {
		t.Errorf("%d trials after refusals, expected 5", got)
	}
	refuse[vizierpb.Empty](w, connect.CodeUnimplemented, "cannot be deleted", "DeleteTrial", &vizierpb.DeleteTrialRequest{Name: done.GetName()})
}

func TestRefusedRequests(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	study := func(owner, name string, spec *vizierpb.StudySpec) *vizierpb.CreateStudyRequest {
		return &vizierpb.CreateStudyRequest{Parent: owner, Study: &vizierpb.Study{DisplayName: name, StudySpec: spec}}
	}
	refuse[vizierpb.Study](w, connect.CodeInvalidArgument, "owners/OWNER", "CreateStudy", study("me", "bowl", bowl()))
	refuse[vizierpb.Study](w, connect.CodeInvalidArgument, "display_name", "CreateStudy", study("owners/me", "a/b", bowl()))
	refuse[vizierpb.Study](w, connect.CodeInvalidArgument, "display_name", "CreateStudy", &vizierpb.CreateStudyRequest{Parent: "owners/me"})
	w.create(bowl())
	refuse[vizierpb.Study](w, connect.CodeAlreadyExists, "another study_spec", "CreateStudy", study("owners/me", "bowl", bowl(&metricSpec{MetricId: "loss", Goal: vizierpb.StudySpec_MetricSpec_MAXIMIZE})))
	refuse[vizierpb.Study](w, connect.CodeFailedPrecondition, bowlStudy, "CreateStudy", study("owners/you", "bowl", bowl()))
	refuse[vizierpb.Study](w, connect.CodeNotFound, "owners/me/studies/other", "GetStudy", &vizierpb.GetStudyRequest{Name: "owners/me/studies/other"})
	refuse[vizierpb.Study](w, connect.CodeInvalidArgument, "owners/OWNER/studies/STUDY", "GetStudy", &vizierpb.GetStudyRequest{Name: "bowl"})
	refuse[vizierpb.Study](w, connect.CodeInvalidArgument, "expected ACTIVE", "SetStudyState", &vizierpb.SetStudyStateRequest{Parent: bowlStudy, State: 9})
	refuse[vizierpb.Trial](w, connect.CodeNotFound, "unknown trial 7", "GetTrial", &vizierpb.GetTrialRequest{Name: bowlStudy + "/trials/7"})
	refuse[vizierpb.Trial](w, connect.CodeInvalidArgument, "whole number from 1", "GetTrial", &vizierpb.GetTrialRequest{Name: bowlStudy + "/trials/0"})
	for _, bad := range []*vizierpb.SuggestTrialsRequest{{ClientId: "a"}, {ClientId: "a", SuggestionCount: 1001}, {SuggestionCount: 1}, {ClientId: "a/b", SuggestionCount: 1}} {
		bad.Parent = bowlStudy
		refuse[vizierpb.Operation](w, connect.CodeInvalidArgument, "expected", "SuggestTrials", bad)
	}
	nine := "9"
	refuse[vizierpb.UpdateMetadataResponse](w, connect.CodeNotFound, "unknown trial 9", "UpdateMetadata", &vizierpb.UpdateMetadataRequest{Name: bowlStudy, Delta: []*vizierpb.UnitMetadataUpdate{
		{Metadatum: &vizierpb.KeyValue{Key: "k"}}, {TrialId: &nine, Metadatum: &vizierpb.KeyValue{Key: "k"}}}})
	if metadata := must[vizierpb.Study](w, "GetStudy", &vizierpb.GetStudyRequest{Name: bowlStudy}).GetStudySpec().GetMetadata(); len(metadata) != 0 {
		t.Errorf("an update that was refused has stored %v", metadata)
	}
}
