package fair

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/consensus/fair/internal/batch"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const (
	// The value of another node's batch may be smaller than that of this node's own by tolerance,
	// in standardised units, plus rounding times the own value. This covers the rounding of designs
	// in messages and of floats on another processor.
	tolerance = 1e-6
	rounding  = 1e-12

	// With manyParties or more parties the batch's value may be smaller by manyTolerance. Rounding
	// then decides at which of many maxima the search ends (BenchmarkStreams of package batch).
	manyParties   = 8
	manyTolerance = 0.2

	// dealing applies to rule two-step, in standardised units. The posterior mean of a party's
	// design may exceed that of a party with less gain by this much. It covers the change of the
	// mean by the rounding of designs in messages.
	dealing = 1e-3

	// evidenceTolerance is the amount by which the log posterior of another node's hyperparameters
	// may be below that of this node's own.
	evidenceTolerance = 0.01

	// A result is an outlier if its deviation exceeds farTimes the usual one (farOff).
	farTimes = 4
	// minUsual is a lower bound of the usual deviation, in predictive standard deviations.
	minUsual = 0.25
	// A party is named as suspicious if it has at least `repeatedly` outliers, and these are a tenth of
	// its results or more. It is judged only if it has at least minResults results, and the other
	// parties together have as many.
	repeatedly = 3
	minResults = 10

	bestDesigns = 5 // number of best evaluated designs around which the search samples
)

// chooser chooses batches and checks those of other parties. Its results depend only on its
// arguments and the task, so that all nodes get the same results up to rounding. It is
// immutable.
type chooser struct {
	task     *task.Task
	settings Settings
	model    surrogate.Model
	seed     random.Seed
}

func newChooser(t *task.Task) (chooser, error) {
	model, err := surrogate.New(t)
	hash := sha256.Sum256(append([]byte("fbo fair batches 1\x00"), t.ID().Bytes()...))
	return chooser{task: t, settings: settingsOf(t), model: model, seed: random.Seed(hash)}, err
}

// state is the input from which a batch is chosen.
type state struct {
	round   int
	book    *book
	parties []int // the parties that get a design, in ascending order
}

// choice is the batch that was chosen for a state.
type choice struct {
	hyper  surrogate.Hyperparameters
	points []protocol.Point // one design for each party of the state, in their order
	value  float64

	off []int // indices on the roster of parties with too many outliers
}

// pool holds the observations of all parties.
type pool struct {
	surrogate.Observations
	party []int  // author of each observation, an index on the roster
	past  []bool // whether each observation was imported
}

func (c chooser) pool(b *book) (p pool) {
	for party, list := range b.entries {
		for _, e := range list {
			if e.Value == nil {
				continue
			}
			p.X = append(p.X, e.Point.Encoded(c.task.Space))
			p.Y = append(p.Y, *e.Value)
			p.party = append(p.party, party)
			p.past = append(p.past, e.Imported)
		}
	}
	return p
}

// takes reports whether the model can use an evaluation. With fixed hyperparameters, a result too
// far from their mean cannot be used: beside it all other results would be negligible.
func (c chooser) takes(e protocol.Evaluation) bool {
	if e.Value == nil {
		return true
	}
	y, _, err := surrogate.Outputs(c.task, surrogate.Observations{X: [][]float64{e.Point.Encoded(c.task.Space)}, Y: []float64{*e.Value}})
	return err == nil && math.Abs(y[0]) < surrogate.MaxDeviations
}

// offers reports whether an assigned design is one that its party can evaluate next. The encoded
// design must be exactly a design of the task as rounded in messages. Otherwise the value of the
// batch would refer to a point that the party does not evaluate.
func (c chooser) offers(b *book, a protocol.Assigned) bool {
	x := a.Point.Encoded(c.task.Space)
	design := c.task.Space.Decode(x)
	if !slices.Equal(protocol.PointOf(c.task.Space, design).Encoded(c.task.Space), x) {
		return false
	}
	if c.task.MaxMoves == 0 {
		return true
	}
	i, _ := c.task.Space.Listing().Index(design)
	return slices.Contains(moves(c.task, c.visits(b, a.Party)), i)
}

// choose returns the batch of a state.
func (c chooser) choose(ctx context.Context, s state) (choice, error) {
	p := c.pool(s.book)
	if len(p.Y) == 0 {
		return choice{}, surrogate.ErrNoObservations
	}
	h, err := c.model.Fit(ctx, p.Observations, nil, c.seed.Stream("fit", uint64(s.round)))
	if err != nil {
		return choice{}, err
	}
	problem, err := c.problem(s, p, h)
	if err != nil {
		return choice{}, err
	}
	return c.solve(ctx, s, p, h, problem)
}

// solve returns the best batch that the search finds for a problem. The problem must belong to the
// state and the hyperparameters h.
func (c chooser) solve(ctx context.Context, s state, p pool, h surrogate.Hyperparameters, problem batch.Problem) (choice, error) {
	found, err := problem.Maximise(ctx, c.seed.Stream("batch", uint64(s.round)))
	if err != nil {
		return choice{}, err
	}
	result := choice{hyper: h}
	designs := make([][]float64, len(found.Designs))
	for i, x := range found.Designs {
		point := c.rounded(x)
		result.points = append(result.points, point)
		designs[i] = point.Encoded(c.task.Space)
	}
	result.value = problem.Value(designs)
	if surprise, ok := problem.Posterior.(surrogate.LeaveOuter); ok {
		result.off = farOff(p.party, surprise.LeaveOut(p.party), surprise.LeaveOut(nil), len(s.book.roster))
	}
	return result, nil
}

// maxRoundings is the maximum number of designs that rounded tries. Each one is farther inside of
// constraints among parameters than the one before.
const maxRoundings = 8

// rounded returns the point of the design at x as offers requires it: the point of the design to
// which it decodes. The rounding in messages can move a design across a constraint among parameters,
// and Decode then moves it back.
func (c chooser) rounded(x []float64) protocol.Point {
	space := c.task.Space
	for range maxRoundings {
		point := protocol.PointOf(space, space.Decode(x))
		next := point.Encoded(space)
		if slices.Equal(protocol.PointOf(space, space.Decode(next)).Encoded(space), next) {
			return point
		}
		x = next
	}
	return protocol.PointOf(space, space.Decode(x))
}

// farOff returns the parties that have at least three outliers, if these are a tenth or more of
// their results. party has the author of each result. byOthers has its residual given the results of
// the other parties, and byAll that given all other results, in predictive standard deviations. A
// result is an outlier if both exceed four times the root mean square of byAll over the other
// parties' results.
//
// Each of the two has causes other than false results. The process never fits exactly, so two true
// results of one party close to each other can contradict each other in byAll. With equal weights
// one party may get all designs near the optimum, where the process fits worst, while the results of
// the others fit. And a party that finds an optimum far from all other parties' designs surprises
// them in byOthers.
//
// A fixed limit of four predictive deviations would be weak evidence. A model that has learned from
// false results treats them as noise. And a model with fixed hyperparameters, or with few results,
// may fit the results of no party.
func farOff(party []int, byOthers, byAll []float64, parties int) (far []int) {
	squares, results := make([]float64, parties), make([]int, parties)
	for i, z := range byAll {
		squares[party[i]] += z * z
		results[party[i]]++
	}
	for suspect := range parties {
		square, others := 0.0, 0
		for other := range parties {
			if other != suspect {
				square += squares[other]
				others += results[other]
			}
		}
		if min(others, results[suspect]) < minResults {
			continue
		}
		limit := farTimes * max(math.Sqrt(square/float64(others)), minUsual)
		count := 0
		for i := range party {
			if party[i] == suspect && min(math.Abs(byOthers[i]), math.Abs(byAll[i])) > limit {
				count++
			}
		}
		if count >= repeatedly && 10*count >= results[suspect] {
			far = append(far, suspect)
		}
	}
	return far
}

// problem returns the maximisation problem of a state, under hyperparameters h.
func (c chooser) problem(s state, p pool, h surrogate.Hyperparameters) (batch.Problem, error) {
	posterior, err := c.model.Condition(p.Observations, h, nil)
	if err != nil {
		return batch.Problem{}, err
	}
	joint, ok := posterior.(surrogate.JointPosterior)
	if !ok {
		return batch.Problem{}, errors.New("the surrogate has no joint distribution of several designs")
	}
	scaled, ok := posterior.(surrogate.Scaled)
	if !ok {
		return batch.Problem{}, errors.New("the surrogate does not report its units")
	}
	gains := c.gains(s, p, scaled.Units())
	w := c.weights(len(s.parties))
	exploration := batch.Exploration{C1: c.settings.C1, C2: c.settings.C2, Varying: c.settings.Exploration == explorationVarying}
	return batch.Problem{
		Space:     c.task.Space,
		Posterior: joint,
		Noise:     h.Noise,
		Gains:     gains,
		Weights:   w,
		Alpha:     exploration.Alpha(w, c.task.Space.Len(), 1+evaluations(s.book)),
		Rule:      batch.Rule(c.settings.Batch),
		Choices:   c.choices(s.book, s.parties),
		Near:      best(p.Observations),
	}, nil
}

func (c chooser) weights(parties int) batch.Weights {
	if c.settings.Weights == weightsLinear {
		return batch.Linear(parties, c.settings.Rho)
	}
	return batch.Exponential(parties, c.settings.Rho)
}

// gains returns the gain so far of each party of the state, λ in S21, in the posterior's units. It
// is the sum of the differences between the party's results and the level of these units.
//
// In the paper all parties have evaluated equally often, so that the level does not matter. Here a
// party that was late has evaluated less often. A round without a result counts for it like an
// average result, whatever the objective's offset. Imported results are not part of the gain.
func (c chooser) gains(s state, p pool, units surrogate.Units) []float64 {
	all := make([]float64, len(s.book.roster))
	for i, y := range p.Y {
		if !p.past[i] && units.Scale > 0 {
			all[p.party[i]] += (y - units.Level) / units.Scale
		}
	}
	gains := make([]float64, len(s.parties))
	for i, party := range s.parties {
		gains[i] = all[party]
	}
	return gains
}

// evaluations returns the largest number of evaluations that one party has made, without imported
// ones.
func evaluations(b *book) (most int) {
	for _, list := range b.entries {
		count := 0
		for _, e := range list {
			if !e.Imported {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}

// best returns the encoded designs of the bestDesigns largest results.
func best(obs surrogate.Observations) (designs [][]float64) {
	order := make([]int, len(obs.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(obs.Y[b], obs.Y[a]) })
	for _, i := range order[:min(len(order), bestDesigns)] {
		designs = append(designs, obs.X[i])
	}
	return designs
}

// judge checks a batch that another node has chosen in this state. It returns this node's own
// choice, and an objection or nil if the batch is acceptable.
func (c chooser) judge(ctx context.Context, s state, b protocol.Batch) (own choice, objection error, err error) {
	p := c.pool(s.book)
	if len(p.Y) == 0 {
		return choice{}, errors.New("it uses no observation"), nil
	}
	h, err := c.model.Fit(ctx, p.Observations, nil, c.seed.Stream("fit", uint64(s.round)))
	if err != nil {
		return choice{}, nil, err
	}
	proposed := surrogate.Hyperparameters{Lengthscales: b.Lengthscales, Noise: b.Noise}
	if !h.Process().Equal(proposed.Process()) {
		if objection, err = c.doubt(p.Observations, h, proposed); objection != nil || err != nil {
			return choice{}, objection, err
		}
	}
	problem, err := c.problem(s, p, proposed)
	if err != nil {
		return choice{}, nil, err
	}
	if own, err = c.solve(ctx, s, p, proposed, problem); err != nil {
		return choice{}, nil, err
	}
	designs := make([][]float64, len(b.Assigned))
	for i, a := range b.Assigned {
		designs[i] = a.Point.Encoded(c.task.Space)
	}
	allowed := tolerance + rounding*math.Abs(own.value)
	if len(s.parties) >= manyParties {
		allowed = manyTolerance
	}
	if value := problem.Value(designs); !(value >= own.value-allowed) {
		return own, fmt.Errorf("its designs are worth %.7g, this node's own %.7g", value, own.value), nil
	}
	if problem.Rule == batch.TwoStep && problem.Choices == nil && !dealt(problem, designs) {
		return own, errors.New("its better designs are not for who has gained least"), nil
	}
	return own, nil, nil
}

// dealt reports whether parties with less gain have the designs with larger posterior mean, as rule
// two-step requires. The value of a batch under that rule does not depend on it.
func dealt(p batch.Problem, designs [][]float64) bool {
	means := p.Posterior.Joint(designs).Mean()
	for i, gain := range p.Gains {
		for j, other := range p.Gains {
			if gain < other-tolerance && means[i] < means[j]-dealing {
				return false
			}
		}
	}
	return true
}

// doubt returns an objection to hyperparameters of another node that differ from this node's own.
// It returns nil if they are acceptable.
func (c chooser) doubt(obs surrogate.Observations, own, other surrogate.Hyperparameters) (objection, err error) {
	judge, ok := c.model.(surrogate.EvidenceModel)
	if !ok {
		return errors.New("its process has other hyperparameters than the task"), nil
	}
	likelihood, err := judge.LogPosterior(obs, own)
	if err != nil {
		return nil, err
	}
	others, err := judge.LogPosterior(obs, other)
	if err != nil || !(others >= likelihood-evidenceTolerance) {
		return errors.New("the hyperparameters of its process fit the observations less well than this node's"), nil
	}
	return nil, nil
}
