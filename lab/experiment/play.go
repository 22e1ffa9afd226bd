package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// deviationDesigns is the number of random designs from which the standard deviation of an
// objective is estimated.
const deviationDesigns = 500

// federation is one drawn federation, on which all strategies of a repeat are simulated.
type federation struct {
	family.Federation
	seed       random.Seed // of the repeat
	deviation  float64     // mean of the members' standard deviations
	topAverage float64     // largest average of the objectives of the members that count, larger is better; only with Plan.OneDesign
	deviations []float64   // standard deviation by member; set at least for members that count and have a name
}

// Federation draws the federation of a repeat, counted from 0. Of the plan it needs the family, the
// seed and the number of agents only.
func (p Plan) Federation(repeat int) (family.Federation, error) {
	drawn, err := p.Family.Draw(p.seedOf(repeat).Derive("federation", 0), p.Agents)
	if err != nil {
		return drawn, fmt.Errorf("%s, repeat %d: %w", p.Family.Name, repeat, err)
	}
	return drawn, nil
}

func (p Plan) seedOf(repeat int) random.Seed {
	return random.SeedOf(p.Seed).Derive("repeat", uint64(repeat))
}

func (p Plan) draw(repeat int) (*federation, error) {
	seed := p.seedOf(repeat)
	drawn, err := p.Federation(repeat)
	if err != nil {
		return nil, err
	}
	f := &federation{Federation: drawn, seed: seed, deviations: make([]float64, len(drawn.Members))}
	counting := 0
	for i, m := range f.Members {
		if m.Counts && (counting < MaxMesh || m.Name != "") { // the mean over MaxMesh members is precise enough
			counting++
			f.deviations[i] = deviation(cmp.Or(m.Space, f.Space), m.Objective, seed.Derive("deviation", uint64(i)))
			f.deviation += f.deviations[i]
		}
	}
	if counting == 0 {
		return nil, fmt.Errorf("%s, repeat %d: no member's regret counts", p.Family.Name, repeat)
	}
	f.deviation /= float64(counting)
	if p.OneDesign {
		f.topAverage, err = newAverageObjective(f.Federation).top(context.Background(), seed)
	}
	return f, err
}

// deviation returns the standard deviation of the noise-free objective over the space. It estimates
// it from random designs, unless the family knows it.
func deviation(space *task.Space, o family.Objective, seed random.Seed) float64 {
	if o.Deviation > 0 {
		return o.Deviation
	}
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

// play simulates one strategy on a federation and returns the result. At most workers members
// compute at a time. It calls evaluated after each evaluation, never concurrently.
func (p Plan) play(ctx context.Context, repeat int, s Spec, f *federation, workers int, evaluated func()) (Record, error) {
	if err := p.checkTogether(s, f); err != nil {
		return Record{}, err
	}
	roster, err := p.roster(s, runSeed(f))
	if err != nil {
		return Record{}, err
	}
	t, err := p.taskOf(fmt.Sprintf("simulation %d-%d", p.Seed, repeat), f.Federation, p.asTask(s), roster)
	if err != nil {
		return Record{}, messages(err)
	}
	if t.Stop, err = stoppingOf(s); err != nil {
		return Record{}, err
	}
	dealt, err := p.deal(f)
	if err != nil {
		return Record{}, err
	}
	f = f.withAdversaries(s)
	scenario := p.scenario(s, t, f, workers)
	var adversaries []*forger
	for i := range f.Members {
		count := evaluated
		if i >= p.Agents {
			count = func() {} // evaluations of adversaries are not counted
		}
		m, forger := p.member(i, s, t, f, count)
		if i < p.Agents {
			m.Enqueue = dealt[i]
		}
		scenario.Members = append(scenario.Members, m)
		if forger != nil {
			adversaries = append(adversaries, forger)
		}
	}
	method, isMethod := methodOf(s)
	if isMethod {
		if err := method.install(s, &scenario); err != nil {
			return Record{}, err
		}
	}
	warnings := 0
	if understated(s, 0) > 0 { // other agents may detect this and warn
		scenario.Warned = func(int, string) { warnings++ }
	}
	result, err := sim.Run(ctx, scenario)
	if err != nil {
		return Record{}, err
	}
	for _, forger := range adversaries {
		if err := forger.check(result); err != nil {
			return Record{}, err
		}
	}
	r := p.record(f, t, result)
	r.Observed, r.Warnings = p.observed(s, t, f, result), warnings
	r.ThompsonBound = p.thompsonBound(s, t, f, result)
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

// runSeed returns the seed of the simulation, which is the same for all strategies.
func runSeed(f *federation) random.Seed { return f.seed.Derive("run", 0) }

// scenario returns the simulation's scenario without members.
func (p Plan) scenario(s Spec, t *task.Task, f *federation, workers int) sim.Scenario {
	scenario := sim.Scenario{
		Task:       t,
		Strategies: p.known(),
		Network:    p.Network,
		Seed:       runSeed(f),
		Workers:    workers,
		Recommend:  p.Checkpoints,
	}
	scenario.Network.Authors = authorsOf(s)
	if peersOf(s) == ownCluster {
		scenario.Receives = func(hearer, author int) bool { return f.Members[hearer].Cluster == f.Members[author].Cluster }
	}
	return scenario
}

// member returns the simulated member i, and its forger if it forges shares. If the strategy uses
// no peer information, members that do not count evaluate nothing.
func (p Plan) member(i int, s Spec, t *task.Task, f *federation, evaluated func()) (sim.Member, *forger) {
	m := f.Members[i]
	noise := f.seed.Derive("noise", uint64(i))
	worse := t.Goal.Sign() * understated(s, i)
	member := sim.Member{
		Space:    m.Space,
		Start:    p.start(i, m, f.seed),
		Duration: p.duration(i, f.seed),
		Lasts:    p.lasts(i, f.seed),
		Parallel: p.Parallel,
		InRounds: !p.Asynchronous,
		Offline:  p.offline(i, f.seed),
		Objective: func(d task.Design, trial uint64) float64 {
			evaluated()
			value := m.Objective.Value(d)
			if m.Objective.Noise > 0 {
				value += m.Objective.Noise * noise.Stream("trial", trial).NormFloat64()
			}
			return value - worse
		},
	}
	if p.reportsSteps(m) {
		member.Curve, member.Steps = m.Objective.Curve, m.Objective.Steps
	}
	if t.Several() {
		member.Metrics = func(d task.Design, trial uint64) map[string]float64 {
			return further(t, m, d, func(name string) float64 { return noise.Stream("trial of "+name, trial).NormFloat64() })
		}
	}
	if t.Constrained() {
		member.Constraints = func(d task.Design, trial uint64) map[string]task.Reading {
			return readings(t, m, d, func(name string) float64 { return noise.Stream("trial of "+name, trial).NormFloat64() })
		}
	}
	if signalOf(s) == noSignal {
		member.Wrap = func(e strategy.Exchange) strategy.Exchange { return mute{e} }
	}
	if m.Counts || !p.alone(s) {
		member.Evaluations = p.budget(i, m, f.seed)
	}
	if !m.Forged || isBaseline(s) {
		return member, nil
	}
	forger := newForger(t, p.registrationOf(s), f.seed, i, strategy.Forgery{Corner: m.Corner, Extreme: m.Extreme})
	member.Forge = forger.forge
	return member, forger
}

// further returns the values that a member measures of the objectives after the first at d. normal returns
// a standard normal number for the noise of each; nil means without noise.
func further(t *task.Task, m family.Member, d task.Design, normal func(name string) float64) map[string]float64 {
	all := map[string]float64{}
	for i, output := range t.ObjectiveOutputs()[1:] {
		value := m.Further[i].Value(d)
		if normal != nil && m.Further[i].Noise > 0 {
			value += m.Further[i].Noise * normal(string(output))
		}
		all[string(output)] = value
	}
	return all
}

// volumes returns by trial the part of the largest hypervolume that the designs up to it lack, without
// noise.
func volumes(t *task.Task, m family.Member, trials []strategy.Trial) (missing []Number) {
	exact := make([]strategy.Trial, len(trials))
	for k, trial := range trials {
		trial.State, trial.Outcome = strategy.Done, &strategy.Outcome{Value: m.Objective.Value(trial.Design), Metrics: further(t, m, trial.Design, nil)}
		exact[k] = trial
		volume, _ := strategy.Hypervolume(t, exact[:k+1])
		missing = append(missing, Number(max(m.Hypervolume-volume, 0)))
	}
	return missing
}

// readings returns the values that a member measures of the constraints at d. normal returns a
// standard normal number for the noise of each constraint; nil means without noise.
func readings(t *task.Task, m family.Member, d task.Design, normal func(name string) float64) map[string]task.Reading {
	all := map[string]task.Reading{}
	for i, c := range t.Constraints {
		value := m.Constraints[i].Value(d)
		if normal != nil && m.Constraints[i].Noise > 0 {
			value += m.Constraints[i].Noise * normal(string(c.Output))
		}
		all[string(c.Output)] = task.Number(value)
		if c.Truth {
			all[string(c.Output)] = task.Truth(c.Keeps(value))
		}
	}
	return all
}

func (p Plan) record(f *federation, t *task.Task, result sim.Result) Record {
	r := Record{Goal: string(f.Goal), Deviation: f.deviation, Infeasible: f.Infeasible}
	for i, m := range result.Members {
		r.Bytes += float64(m.Bytes+m.DirectBytes) / float64(len(result.Members))
		if !f.Members[i].Counts {
			continue
		}
		r.Members = append(r.Members, p.memberRecord(i, f, t, m))
		r.Noise += noiseOf(f, i)
	}
	r.Noise /= float64(max(len(r.Members), 1))
	r.OneDesign = p.oneDesign(f, result)
	return r
}

// noiseOf returns the standard deviation of the noise of the quantity that regrets measure: the
// objective, or in infeasible federations the constraints.
func noiseOf(f *federation, member int) float64 {
	if !f.Infeasible {
		return f.Members[member].Objective.Noise
	}
	most := 0.0
	for _, m := range f.Members[member].Constraints {
		most = max(most, m.Noise)
	}
	return most
}

func (p Plan) memberRecord(i int, f *federation, t *task.Task, m sim.MemberResult) MemberRecord {
	one := MemberRecord{Member: i, PeerInformedTrials: m.PeerInformedTrials}
	if name := f.Members[i].Name; name != "" {
		one.Name, one.Deviation, one.Noise = name, f.deviations[i], noiseOf(f, i)
	}
	if r, ok := p.known().Named(t.Strategy.Type); ok {
		if e := strategy.PeerEffectOf(t, r.Disclosure(t), m.Trials); e.Verdict != strategy.PeersNotMeasured {
			one.PeerEffect = &e
		}
	}
	if t.Several() {
		one.Regret = volumes(t, f.Members[i], m.Trials)
		for range p.Checkpoints {
			one.Recommended = append(one.Recommended, Number(math.NaN())) // a front has no recommended design
		}
		return one
	}
	judge, limited := judgeOf(f, t, i), t.Constrained() && !f.Infeasible
	if limited {
		one.Nothing = Number(f.Members[i].Objective.Range)
	}
	budget := len(m.Trials)
	if p.reportsSteps(f.Members[i]) {
		budget = p.budget(i, f.Members[i], f.seed)
		one.Regret = bySteps(m.Trials, f.Members[i].Objective.Steps, budget, judge)
	} else {
		for k, trial := range m.Trials {
			regret, violation := judge(trial.Design)
			if violation == 0 {
				one.Excess = max(one.Excess, -regret)
			}
			one.Regret = append(one.Regret, regretIf(violation == 0, regret))
			if limited {
				one.Violation = append(one.Violation, Number(violation))
				one.Best = append(one.Best, reported(t, m.Trials[:k+1]))
			}
		}
	}
	for _, at := range p.Checkpoints {
		regret, violation := math.NaN(), math.NaN()
		if d, ok := m.Recommended[min(at, budget)]; ok && !d.IsZero() {
			regret, violation = judge(d)
		}
		one.Recommended = append(one.Recommended, regretIf(violation == 0, regret))
		if limited {
			one.RecommendedViolation = append(one.RecommendedViolation, Number(violation))
		}
	}
	return one
}

func regretIf(feasible bool, regret float64) Number {
	if !feasible {
		return Number(math.NaN())
	}
	return Number(max(regret, 0))
}

// reported returns the number, from 1, of the trial that a node would report as the best. It
// returns 0 if no trial was measured as feasible.
func reported(t *task.Task, trials []strategy.Trial) int {
	best := strategy.Best(t, trials)
	if best == nil {
		return 0
	}
	return 1 + slices.IndexFunc(trials, func(trial strategy.Trial) bool { return trial.ID == best.ID })
}

// judgeOf returns a function that computes the regret and the violation of a design, both without
// noise. The regret is below 0 if the design is better than the stated optimum. If no design can be
// feasible, the violation is returned in place of the regret.
func judgeOf(f *federation, t *task.Task, member int) func(task.Design) (regret, violation float64) {
	m := f.Members[member]
	regret := regretOf(m.Objective, t.Goal)
	return func(d task.Design) (float64, float64) {
		violation := 0.0
		if t.Constrained() {
			violation = t.Violation(&strategy.Outcome{Constraints: readings(t, m, d, nil)})
		}
		if f.Infeasible {
			return violation, 0
		}
		return regret(d), violation
	}
}

// regretOf returns a function that computes the regret of a design. It is below 0 if the design is
// better than the stated optimum.
func regretOf(o family.Objective, goal task.Goal) func(task.Design) float64 {
	return func(d task.Design) float64 { return goal.Sign() * (o.Optimum - o.Value(d)) }
}
