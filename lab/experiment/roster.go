package experiment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
)

// rosterKey is the key of a strategy that lists its members; shareKey can select it. mediatorKey is the key that names the
// member that decides for all. Specs contain no names of members: the roster is the whole
// federation, and the mediator is the first agent or none.
const (
	rosterKey     = "roster"
	shareKey      = "share"
	mediatorKey   = "mediator"
	firstMediator = "first"
	noMediator    = "none"
)

// understateKey is a setting with which agent 0 shares values that are worse than measured, by this
// amount in the objective's units. It belongs to the experiment and is not part of the task.
// Regrets are still those of the evaluated designs.
const (
	understateKey = "understate"
	maxUnderstate = 1e6
)

// needsRoster reports whether the task of a strategy lists its members.
func (p Plan) needsRoster(s Spec) bool { return p.sums(s) || p.listsRoster(s) }

// listsRoster reports whether the section strategy lists the members.
func (p Plan) listsRoster(s Spec) bool {
	r := p.registrationOf(s)
	return r.Roster || slices.ContainsFunc(r.Disclosures, func(d strategy.Disclosure) bool {
		return d.Roster && d.Share == s.setting(shareKey)
	})
}

// rostered returns the settings of a spec in the form of a task file, with the roster if the
// strategy has one.
func (p Plan) rostered(s Spec, roster []peer.ID) map[string]any {
	keys := s.keys()
	if !p.listsRoster(s) {
		return keys
	}
	keys[rosterKey] = roster
	switch s.setting(mediatorKey) {
	case firstMediator:
		keys[mediatorKey] = roster[0]
	case noMediator:
		delete(keys, mediatorKey)
	}
	return keys
}

// nameless returns a canonical section strategy without the names of members.
func nameless(section string) string {
	var form map[string]json.RawMessage
	if err := json.Unmarshal([]byte(section), &form); err != nil {
		panic(err) // unexpected: it is a JSON object
	}
	delete(form, rosterKey)
	if _, ok := form[mediatorKey]; ok {
		form[mediatorKey] = json.RawMessage(strconv.Quote(firstMediator))
	}
	text, err := json.Marshal(form)
	if err != nil {
		panic(err) // unexpected: it was JSON before
	}
	return string(text)
}

// understated returns by how much the values that a member shares are worse than measured.
func understated(s Spec, member int) float64 {
	if member != 0 {
		return 0
	}
	by, _ := strconv.ParseFloat(s.setting(understateKey), 64) // checkUnderstate has checked that it is a number
	return by
}

func (p Plan) checkUnderstate(s Spec) error {
	text := s.setting(understateKey)
	if text == "" {
		return nil
	}
	if !p.registrationOf(s).Roster {
		return fmt.Errorf("%s applies to strategies with a roster", understateKey)
	}
	if by, err := strconv.ParseFloat(text, 64); err != nil || !(by > 0) || by > maxUnderstate {
		return fmt.Errorf("%s must be a number above 0, up to %g, not %q", understateKey, maxUnderstate, text)
	}
	return nil
}

// checkRoster returns an error if the agents of this plan cannot form a roster. Strategies with
// private sums work with a part of the roster; the others need all members in each round.
func (p Plan) checkRoster(s Spec) error {
	lists, refuse := p.registrationOf(s).Roster, func(format string, args ...any) error {
		return fmt.Errorf("--strategy %s: "+format, append([]any{s}, args...)...)
	}
	if !p.needsRoster(s) {
		return nil
	}
	what := "add up with"
	if lists {
		what = "work with"
	}
	switch mediator := s.setting(mediatorKey); {
	case p.Agents < 2:
		return refuse("one agent has no other agent to %s, expected --agents 2 to %d", what, MaxMesh)
	case peersOf(s) != everybody:
		return refuse("all must hear the whole roster, expected %s=%s", peersKey, everybody)
	case p.Family.Forges && lists:
		return refuse("--family %s forges what agents share, and a roster is of agents that work together; expected strategies without a roster", p.Family.Name)
	case p.Family.Forges:
		return refuse("--family %s forges what agents share, which sums have no share of; expected strategies without sums", p.Family.Name)
	case p.Network.Degree != 0 && p.Network.Degree < p.Agents-1:
		return refuse("all must hear the whole roster, expected --agents 2 to %d where --scenario has no key degree", MaxMesh)
	case lists && p.MinEvaluations != p.Evaluations:
		return refuse("all agents of a roster evaluate equally many designs, expected a scenario without the key min_evals")
	case p.listsRoster(s) && s.has(rosterKey):
		return refuse("%s is the agents of the federation; expected to leave it out", rosterKey)
	case lists && s.has(mediatorKey) && mediator != firstMediator && mediator != noMediator:
		return refuse("%s must be one of %s, %s, not %q", mediatorKey, firstMediator, noMediator, mediator)
	}
	return nil
}

// checkTogether returns an error if the agents of a federation cannot form a roster that decides in
// rounds, or cannot evaluate designs that are chosen for all.
func (p Plan) checkTogether(s Spec, f *federation) error {
	if s.has(stopKey) && f.Members[0].Objective.Curve == nil {
		return fmt.Errorf("%s=%s needs values by step; expected a family with learning curves, such as table with the key curve or command with the key steps", stopKey, s.setting(stopKey))
	}
	if m, ok := methodOf(s); ok && m.central != nil && m.central.common {
		if i := slices.IndexFunc(f.Members, func(m family.Member) bool { return m.Space != nil }); i >= 0 {
			return fmt.Errorf("agent %d has a list of designs of its own, and the baseline %s chooses for all; expected families whose members have the same designs", i, s.Name)
		}
		return nil
	}
	if !p.registrationOf(s).Roster {
		return nil
	}
	for i, m := range f.Members {
		if m.Late {
			return fmt.Errorf("agent %d comes when the others have ended, and a roster evaluates together; expected families without a newcomer", i)
		}
		if m.Space != nil {
			return fmt.Errorf("agent %d has a list of designs of its own, and agents of a roster choose for each other; expected families whose members have the same designs", i)
		}
	}
	return nil
}
