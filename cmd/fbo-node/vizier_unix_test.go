//go:build unix

package main_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/vizierapi"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
)

// vizierClient sends requests to the service of OSS Vizier.
type vizierClient struct {
	http   *http.Client
	url    string
	header []string // names and values in turn
}

// newVizierClient uses HTTP/2, without TLS if secure is nil.
func newVizierClient(address string, secure *tls.Config, header ...string) *vizierClient {
	var protocols http.Protocols
	scheme := "http://"
	if secure == nil {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP2(true)
		scheme = "https://"
	}
	return &vizierClient{&http.Client{Transport: &http.Transport{Protocols: &protocols, TLSClientConfig: secure}}, scheme + address, header}
}

func askVizier[Answer, Request any](t *testing.T, c *vizierClient, procedure string, request *Request) (*Answer, error) {
	sent := connect.NewRequest(request)
	for i := 0; i < len(c.header); i += 2 {
		sent.Header().Set(c.header[i], c.header[i+1])
	}
	answer, err := connect.NewClient[Request, Answer](c.http, c.url+vizierapi.Service+procedure, connect.WithGRPC()).CallUnary(t.Context(), sent)
	if err != nil {
		return nil, err
	}
	return answer.Msg, nil
}

func mustAskVizier[Answer, Request any](t *testing.T, c *vizierClient, procedure string, request *Request) *Answer {
	t.Helper()
	answer, err := askVizier[Answer](t, c, procedure, request)
	if err != nil {
		t.Fatalf("%s: %v", procedure, err)
	}
	return answer
}

func vizierBowl(name string) *vizierpb.CreateStudyRequest {
	spec := &vizierpb.StudySpec{Metrics: []*vizierpb.StudySpec_MetricSpec{
		{MetricId: "loss", Goal: vizierpb.StudySpec_MetricSpec_MINIMIZE}, {MetricId: "speed", Goal: vizierpb.StudySpec_MetricSpec_MAXIMIZE}}}
	for _, id := range []string{"x", "y"} {
		spec.Parameters = append(spec.Parameters, &vizierpb.StudySpec_ParameterSpec{ParameterId: id, ParameterValueSpec: &vizierpb.StudySpec_ParameterSpec_DoubleValueSpec_{
			DoubleValueSpec: &vizierpb.StudySpec_ParameterSpec_DoubleValueSpec{MinValue: -2, MaxValue: 2}}})
	}
	return &vizierpb.CreateStudyRequest{Parent: "owners/me", Study: &vizierpb.Study{DisplayName: name, StudySpec: spec}}
}

// suggestedBy returns the trials that a client then holds.
func suggestedBy(t *testing.T, c *vizierClient, study, client string, count int32) []*vizierpb.Trial {
	t.Helper()
	operation := mustAskVizier[vizierpb.Operation](t, c, "SuggestTrials", &vizierpb.SuggestTrialsRequest{Parent: study, ClientId: client, SuggestionCount: count})
	for !operation.GetDone() {
		operation = mustAskVizier[vizierpb.Operation](t, c, "GetOperation", &vizierpb.GetOperationRequest{Name: operation.GetName()})
	}
	response := &vizierpb.SuggestTrialsResponse{}
	if err := proto.Unmarshal(operation.GetResponse().GetValue(), response); err != nil {
		t.Fatal(err)
	}
	return response.GetTrials()
}

// TestVizierOverKills: two clients evaluate 30 trials with two metrics, of which some are infeasible, while the
// daemon is killed again and again. What was acknowledged stays, and no trial changes its client.
func TestVizierOverKills(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	var p *process
	var c *vizierClient
	restart := func() {
		var serving event
		p, serving = startServe(t, dir, "--vizier", "127.0.0.1:0")
		c = newVizierClient(serving.Vizier, nil)
	}
	restart()
	study := mustAskVizier[vizierpb.Study](t, c, "CreateStudy", vizierBowl("bowl")).GetName()
	clients := map[string]string{} // by trial
	reported := map[string]*vizierpb.Trial{}
	for done := 0; done < 30; {
		if done%8 == 6 { // while both clients hold trials
			for _, client := range []string{"a", "b"} {
				suggestedBy(t, c, study, client, 2)
			}
			p.signal(t, syscall.SIGKILL)
			p.wait(t)
			restart()
		}
		for _, client := range []string{"a", "b"} {
			for _, trial := range suggestedBy(t, c, study, client, 1) {
				if other, taken := clients[trial.GetId()]; taken && other != client || reported[trial.GetId()] != nil {
					t.Fatalf("client %s gets trial %s, which client %s has had", client, trial.GetId(), other)
				}
				clients[trial.GetId()] = client
				end := &vizierpb.CompleteTrialRequest{Name: trial.GetName()}
				if done%7 == 3 {
					end.TrialInfeasible, end.InfeasibleReason = true, "out of memory"
				} else {
					x, y := trial.GetParameters()[0].GetValue().GetNumberValue(), trial.GetParameters()[1].GetValue().GetNumberValue()
					end.FinalMeasurement = &vizierpb.Measurement{Metrics: []*vizierpb.Measurement_Metric{{MetricId: "loss", Value: x*x + y*y}, {MetricId: "speed", Value: x}}}
				}
				reported[trial.GetId()] = mustAskVizier[vizierpb.Trial](t, c, "CompleteTrial", end)
				done++
			}
		}
	}
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
	restart()
	kept := 0
	for _, trial := range mustAskVizier[vizierpb.ListTrialsResponse](t, c, "ListTrials", &vizierpb.ListTrialsRequest{Parent: study}).GetTrials() {
		if want := reported[trial.GetId()]; want != nil {
			kept++
			if !proto.Equal(trial, want) {
				t.Errorf("trial\n%v\nbefore\n%v", trial, want)
			}
		}
	}
	if kept != len(reported) || kept < 30 {
		t.Errorf("%d trials after the last kill, expected %d", kept, len(reported))
	}
	if front := mustAskVizier[vizierpb.ListOptimalTrialsResponse](t, c, "ListOptimalTrials", &vizierpb.ListOptimalTrialsRequest{Parent: study}).GetOptimalTrials(); len(front) < 2 {
		t.Errorf("a front of %d trials, expected 2 or more", len(front))
	}
	if failed := statusOf(t, dir).Trials["failed"]; failed != 4 {
		t.Errorf("%d failed trials, expected 4", failed)
	}
}

// TestVizierAccess: with --vizier-token and a certificate the service needs both; without, it refuses what web
// pages can send.
func TestVizierAccess(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	certificate, key, pool := selfSigned(t)
	_, serving := startServe(t, dir, "--vizier", "127.0.0.1:0", "--vizier-token", "--tls-cert", certificate, "--tls-key", key)
	token, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	secure := &tls.Config{RootCAs: pool}
	list := &vizierpb.ListStudiesRequest{Parent: "owners/me"}
	mustAskVizier[vizierpb.ListStudiesResponse](t, newVizierClient(serving.Vizier, secure, "Authorization", "Bearer "+strings.TrimSpace(string(token))), "ListStudies", list)
	for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}} {
		if _, err := askVizier[vizierpb.ListStudiesResponse](t, newVizierClient(serving.Vizier, secure, header...), "ListStudies", list); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("with header %q: %v", header, err)
		}
	}
	if _, err := askVizier[vizierpb.ListStudiesResponse](t, newVizierClient(serving.Vizier, nil, "Authorization", "Bearer "+strings.TrimSpace(string(token))), "ListStudies", list); err == nil {
		t.Error("a client without TLS is served")
	}
	_, open := startServe(t, shortTempDir(t), "--vizier", "127.0.0.1:0")
	mustAskVizier[vizierpb.ListStudiesResponse](t, newVizierClient(open.Vizier, nil), "ListStudies", list)
	if _, err := askVizier[vizierpb.ListStudiesResponse](t, newVizierClient(open.Vizier, nil, "Origin", "http://page.example"), "ListStudies", list); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a web page: %v", err)
	}
	if _, err := http.Post(fmt.Sprintf("http://%s%sListStudies", open.Vizier, vizierapi.Service), "application/json", strings.NewReader("{}")); err == nil {
		t.Error("HTTP/1 is served")
	}
	for _, c := range []struct {
		text  string
		flags []string
	}{
		{"without a token", []string{"--vizier", "0.0.0.0:0"}},
		{"which is missing", []string{"--vizier-token"}},
		{"expected an address", []string{"--vizier", "bowl"}},
		{"about --http, which is missing", []string{"--vizier", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key}},
	} {
		if e := call(t, serveLine(shortTempDir(t), c.flags...)...); e.code != base.ExitUsage || !strings.Contains(e.stderr, c.text) {
			t.Errorf("%q: %d, %s", c.flags, e.code, e.stderr)
		}
	}
}

// TestVizierFederation: studies of different owners on two nodes are one task, and peers' shares arrive.
func TestVizierFederation(t *testing.T) {
	t.Parallel()
	dirs, flags := []string{shortTempDir(t), shortTempDir(t)}, []string{"--vizier", "127.0.0.1:0"}
	for i, dir := range dirs {
		_, serving := startServe(t, dir, flags...)
		c := newVizierClient(serving.Vizier, nil)
		create := vizierBowl("bowl")
		create.Parent = fmt.Sprintf("owners/site-%d", i)
		create.Study.StudySpec.Metrics = create.Study.StudySpec.Metrics[:1]
		study := mustAskVizier[vizierpb.Study](t, c, "CreateStudy", create).GetName()
		for range 4 {
			for _, trial := range suggestedBy(t, c, study, "a", 1) {
				mustAskVizier[vizierpb.Trial](t, c, "CompleteTrial", &vizierpb.CompleteTrialRequest{Name: trial.GetName(),
					FinalMeasurement: &vizierpb.Measurement{Metrics: []*vizierpb.Measurement_Metric{{MetricId: "loss", Value: trial.GetParameters()[0].GetValue().GetNumberValue()}}}})
			}
		}
		flags = append(flags, "--peer", serving.Addresses[0])
	}
	for end := time.Now().Add(patienceOfTests); ; time.Sleep(100 * time.Millisecond) {
		var status [2]struct {
			Task     string
			Received int `json:"shares_received"`
		}
		for i, dir := range dirs {
			decode(t, must(t, "status", "--json", "--data-dir", dir), &status[i])
		}
		if status[0].Task != status[1].Task {
			t.Fatalf("tasks %s and %s, expected one", status[0].Task, status[1].Task)
		}
		if status[0].Received > 0 && status[1].Received > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no shares of the other node after %v: %+v", patienceOfTests, status)
		}
	}
}
