package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// The name for a peer that is not connected, in addition to node.Direct and node.Relayed.
const (
	disconnected = "disconnected" // not connected; the node stores its shares
	banned       = "banned"
)

type contribution struct {
	ID           string    `json:"id"`
	Name         string    `json:"name" doc:"The end of the ID, for people."`
	Path         string    `json:"path" enum:"direct,relayed,disconnected,banned" doc:"How it is connected; the node keeps the shares of a disconnected peer."`
	Address      string    `json:"address,omitempty"`
	Present      bool      `json:"present" doc:"It takes part now."`
	Shares       int       `json:"shares" doc:"That this node holds of it."`
	Observations int       `json:"observations,omitempty" doc:"Number of observations behind what it has shared, if it reports that."`
	LastShare    time.Time `json:"last_share,omitzero"`
	Designs      []uint64  `json:"designs" nullable:"false" doc:"The trials whose designs used shares of this peer only."`
	Weight       *float64  `json:"weight,omitempty" doc:"The probability that its shares are useful here; missing if the strategy does not weigh peers individually."`
	Explanation  string    `json:"explanation,omitempty" doc:"The same in words."`
	Location     *location `json:"location,omitempty" doc:"Where the peer estimates its optimum, if its newest share contains one location."`
}

// location is where a peer estimates its optimum, with the precision of its share.
type location struct {
	Parameters object  `json:"parameters" doc:"The centre of the peer's estimate, as a design. A coarse share moves it."`
	Spread     float64 `json:"spread" doc:"The standard deviation of the estimate, as a part of each parameter's range."`
}

type contributionsBody struct {
	Summary    string         `json:"summary"`
	Comparison string         `json:"comparison" doc:"The number of designs that used peers' shares, and the effect on the predictions of this node."`
	Peers      []contribution `json:"peers" nullable:"false"`
}

func (a *api) contributions(ctx context.Context, in *InTask) (*answer[contributionsBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	session := t.Session()
	status, err := session.Status(ctx)
	if err != nil {
		return nil, problem(err)
	}
	authors, err := session.Authors(ctx)
	if err != nil {
		return nil, problem(err)
	}
	trials, err := session.Trials(ctx)
	if err != nil {
		return nil, problem(err)
	}
	var weights []strategy.PeerWeight
	observations := 0
	var disclosed map[peer.ID]protocol.Density
	if len(authors) > 0 { // without peers no request waits for the models
		if weights, disclosed, observations, err = a.weights(ctx, in.Task); err != nil {
			return nil, err
		}
	}
	found := map[peer.ID]*contribution{}
	of := func(id peer.ID) *contribution {
		if found[id] == nil {
			found[id] = &contribution{ID: id.String(), Name: strategy.ShortID(id), Path: disconnected, Designs: []uint64{}, Present: slices.Contains(status.Present, id)}
			if session.Banned(id) {
				found[id].Path = banned
			}
		}
		return found[id]
	}
	for _, link := range status.Peers {
		h := of(link.ID)
		h.Path, h.Address = link.Path, link.Address
	}
	for _, author := range authors {
		h := of(author.ID)
		h.Shares, h.LastShare = author.Shares, author.Newest
	}
	for _, trial := range trials {
		if why := trial.Why; why.Peer != "" && why.Peer != status.PeerID {
			of(why.Peer).Designs = append(of(why.Peer).Designs, trial.ID)
		}
	}
	for _, weight := range weights {
		h := of(weight.Peer)
		h.Weight, h.Observations, h.Explanation = new(weight.Use), weight.Received, asText(weight.Use, observations)
	}
	for author, density := range disclosed {
		h := of(author)
		h.Observations = density.Observations
		if h.Location, err = locationOf(session.Task().Space, density); err != nil {
			return nil, problem(err)
		}
	}
	body := contributionsBody{Comparison: compare(trials, status.Items), Peers: []contribution{}}
	for _, h := range found {
		body.Peers = append(body.Peers, *h)
	}
	slices.SortFunc(body.Peers, func(x, y contribution) int { return strings.Compare(x.ID, y.ID) })
	body.Summary = summarize(body.Peers, weights)
	return &answer[contributionsBody]{body}, nil
}

// weights returns the weights of peers given the observations of this node, the estimates that
// their shares contain, and the number of this node's observations.
func (a *api) weights(ctx context.Context, name string) (weights []strategy.PeerWeight, disclosed map[peer.ID]protocol.Density, observations int, err error) {
	t, view, end, err := a.look(ctx, name)
	if err != nil {
		return nil, nil, 0, err
	}
	defer end()
	disclosed = map[peer.ID]protocol.Density{}
	for share, density := range strategy.Shares[protocol.Density](view) {
		disclosed[share.Author] = density
	}
	weights, err = t.Session().PeerWeights(view)
	return weights, disclosed, view.Observations, problem(err)
}

// locationOf returns the centre of the heaviest component of a peer's estimate.
func locationOf(space *task.Space, d protocol.Density) (*location, error) {
	heaviest := slices.MaxFunc(d.Components, func(x, y protocol.Component) int { return cmp.Compare(x.Weight, y.Weight) })
	shown, err := objectOf(space.Decode(heaviest.Center.Encoded(space)))
	return &location{shown, heaviest.Std}, err
}

// likely is the weight from which on the shares of a peer count as fitting.
const likely = 0.5

func asText(use float64, outcomes int) string {
	if outcomes == 0 {
		return "not judged yet: this node has no outcome to compare with"
	}
	switch {
	case use >= 0.9:
		return "its shares fit the outcomes of this node"
	case use >= likely:
		return "its shares mostly fit the outcomes of this node"
	case use > 0.1:
		return "its shares hardly fit the outcomes of this node"
	}
	return "its shares do not fit the outcomes of this node"
}

func summarize(peers []contribution, weights []strategy.PeerWeight) string {
	sharing := 0
	for _, p := range peers {
		if p.Shares > 0 {
			sharing++
		}
	}
	switch {
	case len(peers) == 0:
		return "no other node has connected on this task"
	case sharing == 0:
		return sanitize.Count(len(peers), "peer") + " known; none has shared anything yet"
	case len(weights) == 0:
		return fmt.Sprintf("%s known, of which %d have shared; the strategy has no weight for each peer", sanitize.Count(len(peers), "peer"), sharing)
	}
	fit := 0
	for _, b := range weights {
		if b.Use >= likely {
			fit++
		}
	}
	return fmt.Sprintf("the shares of %d of %s fit the outcomes of this node", fit, sanitize.Count(len(weights), "peer"))
}

// compare states how many designs used peers' shares, and with what effect on predictions. It is empty
// without an outcome.
func compare(trials []strategy.Trial, items []strategy.StatusItem) string {
	done, informed := 0, 0
	for _, trial := range trials {
		if trial.State != strategy.Done || trial.Why.Source == strategy.Imported {
			continue
		}
		done++
		if trial.Why.FromPeers() {
			informed++
		}
	}
	switch {
	case done == 0:
		return ""
	case informed == 0:
		return "No design has used peers' shares."
	}
	text := fmt.Sprintf("%d of %s used peers' shares. ", informed, sanitize.Count(done, "evaluated design"))
	if effect, ok := strategy.StatusValue[strategy.PeerEffect](items, strategy.PeerEffectKey); ok {
		sentence := effect.String()
		text += strings.ToUpper(sentence[:1]) + sentence[1:] + ". "
	}
	return text + "This run does not show what the node would have reached alone."
}
