package vizierapi

import (
	"fmt"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"github.com/fbo-node/fbo/internal/agent"
)

// Resource names: owners/OWNER, owners/OWNER/studies/STUDY, owners/OWNER/studies/STUDY/trials/ID, and
// owners/OWNER/operations/suggestion/STUDY/CLIENT/COUNT.
const (
	owners      = "owners/"
	studies     = "/studies/"
	trialsPart  = "/trials/"
	suggestions = "/operations/suggestion/"
)

func badName(given, expected string) error {
	return invalid("name %.200q: expected %s", given, expected)
}

// isPart reports whether a text is one component of a name.
func isPart(text string) bool { return text != "" && !strings.Contains(text, "/") }

func studyName(owner, study string) string { return owners + owner + studies + study }

// parseOwner returns the owner of a name owners/OWNER.
func parseOwner(name string) (owner string, err error) {
	owner, ok := strings.CutPrefix(name, owners)
	if !ok || !isPart(owner) {
		return "", badName(name, "owners/OWNER")
	}
	return owner, nil
}

// checkStudy returns an error unless the name is that of a study.
func checkStudy(name string) error {
	rest, ok := strings.CutPrefix(name, owners)
	owner, study, found := strings.Cut(rest, studies)
	if !ok || !found || !isPart(owner) || !isPart(study) {
		return badName(name, "owners/OWNER/studies/STUDY")
	}
	return nil
}

// parseTrial returns the study and the ID in the name of a trial.
func parseTrial(name string) (study string, id uint64, err error) {
	at := strings.LastIndex(name, trialsPart)
	if at < 0 || checkStudy(name[:at]) != nil {
		return "", 0, badName(name, "owners/OWNER/studies/STUDY/trials/ID")
	}
	id, err = parseID(name[at+len(trialsPart):])
	return name[:at], id, err
}

func parseID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 53)
	if err != nil || id == 0 {
		return 0, invalid("trial %.50q: expected a whole number from 1", text)
	}
	return id, nil
}

// suggestion is the request that the name of an operation holds.
type suggestion struct {
	study  string // name
	client string
	count  int
}

// check returns an error unless a client may make the request.
func (s suggestion) check() error {
	if s.count < 1 || s.count > maxSuggestions {
		return invalid("suggestion_count %d: expected 1 to %d", s.count, maxSuggestions)
	}
	if err := agent.CheckClient(s.client); err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	if !isPart(s.client) {
		return invalid("client_id %.80q: expected a text without /", s.client)
	}
	return nil
}

// name returns the name of the operation.
func (s suggestion) name() string {
	owner, study, _ := strings.Cut(strings.TrimPrefix(s.study, owners), studies)
	return fmt.Sprintf("%s%s%s%s/%s/%d", owners, owner, suggestions, study, s.client, s.count)
}

func parseSuggestion(name string) (s suggestion, err error) {
	rest, ok := strings.CutPrefix(name, owners)
	owner, operation, found := strings.Cut(rest, suggestions)
	parts := strings.Split(operation, "/")
	if !ok || !found || len(parts) != 3 || !isPart(owner) || !isPart(parts[0]) {
		return s, badName(name, "owners/OWNER/operations/suggestion/STUDY/CLIENT/COUNT")
	}
	count, err := strconv.Atoi(parts[2])
	if err != nil {
		return s, badName(name, "a whole number at its end")
	}
	s = suggestion{studyName(owner, parts[0]), parts[1], count}
	return s, s.check()
}
