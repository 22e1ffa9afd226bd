package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/experiment/family"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// deviationDesigns is the number of random designs over which the deviation of an
// objective is measured.
const deviationDesigns = 500

// federation is what all strategies of a repeat are played on.
type federation struct {
	family.Federation
	seed      random.Seed // of the repeat
	deviation float64
}

func (p Plan) draw(repeat int) (*federation, error) {
	seed := random.SeedOf(p.Seed).Derive("repeat", uint64(repeat))
	drawn, err := p.Family.Draw(seed.Derive("federation", 0), p.Agents)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s, repeat %d: %w", p.Family.Name, repeat, err)
	}
	f := &federation{Federation: drawn, seed: seed}
	counting := 0
	for i, m := range f.Members {
		if m.Counts && counting < MaxMesh { // enough for an average
			counting++
			f.deviation += deviation(f.Space, m.Objective, seed.Derive("deviation", uint64(i)))
		}
	}
	if counting == 0 {
		return nil, fmt.Errorf("experiment: %s, repeat %d: no member's regret counts", p.Family.Name, repeat)
	}
	f.deviation /= float64(counting)
	return f, nil
}

// deviation measures how much the noise-free objective varies over the space.
func deviation(space *task.Space, o family.Objective, seed random.Seed) float64 {
	rng := seed.Stream("designs", 0)
	values := make([]float64, deviationDesigns)
	for i := range values {
		values[i] = o.Value(space.Decode(acquisition.Sample(space, rng)))
	}
	m := mean(values)
	sum := 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// play runs one strategy on a federation, with so many members computing at a
// time. evaluated is called at each evaluation, one after the other.
func (p Plan) play(ctx context.Context, repeat int, s Spec, f *federation, workers int, evaluated func()) (Record, error) {
	roster, err := p.roster(s, runSeed(f))
	if err != nil {
		return Record{}, err
	}
	t, err := taskOf(fmt.Sprintf("simulation %d-%d", p.Seed, repeat), f.Space, f.Goal, p.Surrogate, asTask(s), p.Initial, roster)
	if err != nil {
		return Record{}, messages(err)
	}
	scenario := p.scenario(s, t, f, workers)
	var forgers []*forger
	for i := range f.Members {
		m, forger := p.member(i, s, t, f, evaluated)
		scenario.Members = append(scenario.Members, m)
		if forger != nil {
			forgers = append(forgers, forger)
		}
	}
	method, isMethod := methodOf(s)
	if isMethod {
		if err := method.install(s, &scenario); err != nil {
			return Record{}, err
		}
	}
	result, err := sim.Run(ctx, scenario)
	if err != nil {
		return Record{}, err
	}
	for _, forger := range forgers {
		if forger.err != nil {
			return Record{}, forger.err
		}
	}
	r := p.record(f, t, result)
	r.Repeat, r.Strategy = repeat, p.key(s)
	if isMethod {
		sent := int64(0)
		for i, m := range f.Members {
			sent += method.bytes(t, p.budget(i, m, f.seed))
		}
		r.Bytes = float64(sent) / float64(len(f.Members))
	}
	return r, nil
}

// runSeed is that of the simulation, the same for all strategies.
func runSeed(f *federation) random.Seed { return f.seed.Derive("run", 0) }

// scenario has no members yet.
func (p Plan) scenario(s Spec, t *task.Task, f *federation, workers int) sim.Scenario {
	scenario := sim.Scenario{
		Task:      t,
		Network:   p.Network,
		Seed:      runSeed(f),
		Workers:   workers,
		Recommend: p.Checkpoints,
	}
	if peersOf(s) == ownCluster {
		scenario.Hears = func(hearer, author int) bool { return f.Members[hearer].Cluster == f.Members[author].Cluster }
	}
	return scenario
}

// member prepares member i. Where nobody listens, those that do not count need
// not be played.
func (p Plan) member(i int, s Spec, t *task.Task, f *federation, evaluated func()) (sim.Member, *forger) {
	m := f.Members[i]
	noise := f.seed.Derive("noise", uint64(i))
	member := sim.Member{
		Start:    p.start(i, m, f.seed),
		Duration: p.duration(i, f.seed),
		Offline:  p.offline(i, f.seed),
		Objective: func(d task.Design, trial uint64) float64 {
			evaluated()
			value := m.Objective.Value(d)
			if m.Objective.Noise > 0 {
				value += m.Objective.Noise * noise.Stream("trial", trial).NormFloat64()
			}
			return value
		},
	}
	if signalOf(s) == noSignal {
		member.Wrap = func(e strategy.Exchange) strategy.Exchange { return mute{e} }
	}
	if m.Counts || !alone(s) {
		member.Evaluations = p.budget(i, m, f.seed)
	}
	if !m.Forged || isBaseline(s) {
		return member, nil
	}
	forger := newForger(t, registrationOf(s), f.seed, i)
	member.Forge = forger.forge
	return member, forger
}

func (p Plan) record(f *federation, t *task.Task, result sim.Result) Record {
	r := Record{Goal: string(f.Goal), Deviation: f.deviation}
	for i, m := range result.Members {
		r.Bytes += float64(m.Bytes+m.DirectBytes) / float64(len(result.Members))
		if !f.Members[i].Counts {
			continue
		}
		regret := regretOf(f.Members[i].Objective, t.Goal)
		one := MemberRecord{Member: i, PeerQueries: m.PeerQueries}
		for _, trial := range m.Trials {
			v := regret(trial.Design)
			one.Excess = max(one.Excess, -v)
			one.Regret = append(one.Regret, Number(max(v, 0)))
		}
		for _, at := range p.Checkpoints {
			v := math.NaN()
			if d, ok := m.Recommended[min(at, len(m.Trials))]; ok && !d.IsZero() {
				v = max(regret(d), 0)
			}
			one.Recommended = append(one.Recommended, Number(v))
		}
		r.Members = append(r.Members, one)
		r.Noise += f.Members[i].Objective.Noise
	}
	r.Noise /= float64(max(len(r.Members), 1))
	return r
}

// regretOf returns how far a design is from the best one; below 0 when it is
// better than that.
func regretOf(o family.Objective, goal task.Goal) func(task.Design) float64 {
	return func(d task.Design) float64 { return goal.Sign() * (o.Optimum - o.Value(d)) }
}
