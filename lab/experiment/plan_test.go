package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
)

// tiny is a plan that takes a tenth of a second.
func tiny(t testing.TB, change func(p *Plan)) Plan {
	t.Helper()
	p := Plan{Agents: 3, Evaluations: 6, Repeats: 2, Seed: 1, Surrogate: Spec{Name: "exact"}.With("features", "32")}
	p.Family = familyOf(t, "gp:d=1,noise=0.05")
	p.Strategies = specsOf(t, "ts,fts")
	if change != nil {
		change(&p)
	}
	p, err := p.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cut parts even from odd agents, between seconds of virtual time.
func cut(from, until time.Duration) []sim.Partition {
	return []sim.Partition{{Span: sim.Span{From: from * time.Second, Until: until * time.Second}, Parts: 2}}
}

func familyOf(t testing.TB, text string) family.Family {
	t.Helper()
	f, err := family.Kinds().Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func specsOf(t testing.TB, text string) []Spec {
	t.Helper()
	specs, err := ParseSpecs(text)
	if err != nil {
		t.Fatal(err)
	}
	return specs
}

func TestPlansAreCheckedInTheWordsOfTheCommandLine(t *testing.T) {
	set := func(text string) func(p *Plan) { return func(p *Plan) { p.Strategies = specsOf(t, text) } }
	for _, c := range []struct {
		change func(p *Plan)
		want   string
	}{
		{func(p *Plan) { p.Agents = 0 }, "--agents 0: expected 1 to 100000"},
		{func(p *Plan) { p.Evaluations = -1 }, "--evals -1: expected 1 to 10000"},
		{func(p *Plan) { p.Repeats = 0 }, "--repeats 0: expected 1 to 100000"},
		{func(p *Plan) { p.Initial = 1001 }, "--initial-designs 1001: expected 1 to 1000"},
		{func(p *Plan) { p.Network.Loss = 1 }, "--scenario: loss 1: expected 0 to below 1"},
		{func(p *Plan) { p.Network.Delay = -1 }, "--scenario: delay -1ns: expected 0s to 1h0m0s"},
		{func(p *Plan) { p.Network.Jitter = -1 }, "--scenario: jitter -1ns: expected 0s to 1h0m0s"},
		{func(p *Plan) { p.Network.Delay = 2 * time.Hour }, "--scenario: delay 2h0m0s: expected 0s to 1h0m0s"},
		{func(p *Plan) { p.Network.Jitter = math.MaxInt64 }, "expected 0s to 1h0m0s"},
		{func(p *Plan) { p.Initial = 7 }, "--initial-designs 7: expected 1 to --evals 6"},
		{func(p *Plan) { p.MinEvaluations = 2 }, "--scenario: min_evals 2: expected --initial-designs 3 to --evals 6, and 0 for all"},
		{set("fts-de:epsilon=4,min_contributors=3,peers=own-cluster"), "peers=own-cluster: all must hear the whole roster, expected peers=all"},
		{func(p *Plan) {
			p.Family, p.Strategies = familyOf(t, "gp:others=forged"), specsOf(t, "fts-de:epsilon=4,min_contributors=3")
		}, "min_contributors=3: --family gp:others=forged forges what agents share"},
		{func(p *Plan) { p.Network.Degree = -1 }, "--scenario: degree -1: expected 0 or more"},
		{func(p *Plan) { p.Straggler = 0.5 }, "--scenario: straggler 0.5: expected 1 to 1000"},
		{func(p *Plan) { p.Straggler = -1 }, "--scenario: straggler -1: expected 1 to 1000"},
		{func(p *Plan) { p.Straggler = math.NaN() }, "--scenario: straggler NaN: expected 1 to 1000"},
		{func(p *Plan) { p.Straggler = 1001 }, "--scenario: straggler 1001: expected 1 to 1000"},
		{func(p *Plan) { p.MaxSlowdown = 0.5 }, "--scenario: max_slowdown 0.5: expected 1 to 1000"},
		{func(p *Plan) { p.MaxSlowdown, p.Straggler = 50, 40 }, "--scenario: straggler 40 with max_slowdown 50: expected a product of at most 1000"},
		{func(p *Plan) { p.JoinWithin = -1 }, "--scenario: join_within -1ns: expected more than 0s, up to 24h0m0s"},
		{func(p *Plan) { p.MinEvaluations = 7 }, "--scenario: min_evals 7: expected --initial-designs 3 to --evals 6"},
		{func(p *Plan) { p.MinEvaluations = -1 }, "--scenario: min_evals -1: expected --initial-designs 3 to --evals 6"},
		{func(p *Plan) { p.Churn = 0.95 }, "--scenario: churn 0.95: expected 0 to 0.9"},
		{func(p *Plan) { p.Churn = math.NaN() }, "--scenario: churn NaN: expected 0 to 0.9"},
		{func(p *Plan) { p.Network.Partitions = cut(20, 20) }, "--scenario: partition 20s-20s: expected FROM-UNTIL with FROM before UNTIL"},
		{func(p *Plan) { p.Network.Partitions = cut(-1, 20) }, "--scenario: partition -1s-20s: expected FROM-UNTIL"},
		{func(p *Plan) { p.Agents = 1001 }, "--agents 1001, each of which receives from 1000 others: expected at most 999 others where there are more than 1000 agents; use the key degree of --scenario"},
		{func(p *Plan) { p.Agents, p.Network.Degree = 5000, 1000 }, "--agents 5000, each of which receives from 1000 others"},
		{set("fts:peers=near"), `--strategy fts:peers=near: peers must be one of all, own-cluster, not "near"`},
		{set("fts:authors=0"), `--strategy fts:authors=0: authors must be a whole number from 1 to 63, not "0"`},
		{set("fts:authors=64"), `--strategy fts:authors=64: authors must be a whole number from 1 to 63, not "64"`},
		{set("fts:authors=all"), `--strategy fts:authors=all: authors must be a whole number from 1 to 63, not "all"`},
		{set("fts,fts:peers=all"), "--strategy fts:peers=all: it is the same as fts"},
		{func(p *Plan) { p.Strategies = nil }, "--strategy is missing, expected"},
		{set("tsx"), "--strategy tsx: strategy: type must be one of peer-prior, fts, "},
		{set("tsx"), "; or one of the baselines random, rgpe, taf, pooled, multitask, dp-fts-de, guide, fmtbo, global"},
		{set("global:by=gradients"), `--strategy global:by=gradients: unknown key "by"; accepted: from`},
		{set("global:from=means"), `--strategy global:from=means: from must be one of gradients, candidates, not "means"`},
		{set("global,global:from=gradients"), "--strategy global:from=gradients: it is the same as global"},
		{func(p *Plan) { p.Surrogate, p.Strategies = Spec{Name: "rff"}, specsOf(t, "global") }, "the baseline global accepts --surrogate exact only, not rff"},
		{set("fts:mode=both"), `--strategy fts:mode=both: strategy: mode must be one of concurrent, one-shot, not the text "both"`},
		{set("fts:share_every=0"), "--strategy fts:share_every=0: strategy: share_every 0 must be a whole number from 1"},
		{set("ts:mode=one-shot"), "--strategy ts:mode=one-shot: strategy: unknown key"},
		{set("ts:initial_designs=2"), "--strategy ts:initial_designs=2: initial_designs must be the same for all strategies: use --initial-designs"},
		{set("ts,ts"), "--strategy ts: it is the same as ts"},
		{set("fts,fts:mode=concurrent"), "--strategy fts:mode=concurrent: it is the same as fts"},
		{set("random:x=1"), "--strategy random:x=1: the baseline random accepts no settings"},
		{set("pooled:unit=own"), `--strategy pooled:unit=own: unknown key "unit"; accepted: units`},
		{set("pooled:units=si"), `--strategy pooled:units=si: units must be one of own, common, not "si"`},
		{set("pooled,pooled:units=own"), "--strategy pooled:units=own: it is the same as pooled"},
		{func(p *Plan) { p.Surrogate.Name = "rff"; p.Strategies = specsOf(t, "pooled") }, "--strategy pooled: the baseline pooled accepts --surrogate exact only, not rff"},
		{func(p *Plan) {
			p.Surrogate = Spec{Name: "exact"}.With("hyperparameters", "fixed").With("lengthscales", "1;").With("mean", "0").With("signal_std", "1").With("noise_std", ".1")
			p.Strategies = specsOf(t, "pooled")
		}, "--strategy pooled: the baseline pooled accepts --surrogate with hyperparameters=learned only, not exact:hyperparameters=fixed,lengthscales=1;,mean=0,signal_std=1,noise_std=.1"},
		{func(p *Plan) {
			p.Surrogate = Spec{Name: "exact"}.With("hyperparameters", "fixed").With("lengthscales", "1;2")
		},
			`--surrogate exact:hyperparameters=fixed,lengthscales=1;2: surrogate: missing key "mean"; surrogate: missing key "signal_std"; surrogate: missing key "noise_std"; surrogate: lengthscales must be one for each of the 1 parameters, not 2`},
		{func(p *Plan) { p.Surrogate = p.Surrogate.With("noise_std", ".1") }, "surrogate: noise_std applies only with hyperparameters: fixed"},
		{func(p *Plan) { p.Surrogate.Name = "tree" }, "--surrogate tree:features=32: surrogate: type must be one of exact, rff, shared-latent"},
		{func(p *Plan) { p.Surrogate = Spec{Name: "rff"}.With("features", "3") }, "--surrogate rff:features=3: surrogate: features 3 must be even"},
		{func(p *Plan) { p.Control = "logei" }, `--control logei: expected one of --strategy: ts, fts`},
		{func(p *Plan) { p.Checkpoints = []int{7} }, "--checkpoints 7: 7 is not accepted there; expected ascending numbers from 1 to --evals 6"},
		{func(p *Plan) { p.Checkpoints = []int{3, 3} }, "--checkpoints 3,3: 3 is not accepted there; expected ascending"},
	} {
		p := tiny(t, nil)
		c.change(&p)
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestPlanDefaults(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Evaluations, p.Surrogate = 30, Spec{}
		p.Strategies = specsOf(t, "fts,ts,logei")
	})
	if p.Initial != 3 || p.Surrogate.Name != "exact" || p.Control != "ts" || !slices.Equal(p.Checkpoints, []int{10, 15, 25, 30}) {
		t.Errorf("%+v", p)
	}
	given := tiny(t, func(p *Plan) { p.Checkpoints, p.Strategies = []int{2, 4}, specsOf(t, "fts,logei") })
	if given.Control != "fts" || !slices.Equal(given.Checkpoints, []int{2, 4, 6}) {
		t.Errorf("%+v", given)
	}
}

// What decides the result of a run is in the hash; what does not is not, so that
// repeats and strategies can be added.
func TestHashIsOfWhatDecidesARun(t *testing.T) {
	hash := tiny(t, nil).Hash()
	for name, change := range map[string]func(p *Plan){
		"repeats":    func(p *Plan) { p.Repeats = 9 },
		"strategies": func(p *Plan) { p.Strategies = specsOf(t, "logei") },
		"schedule": func(p *Plan) {
			p.Schedule = Schedule{JoinWithin: EvaluationTime, MaxSlowdown: 1, Straggler: 1, MinEvaluations: p.Evaluations}
		},
		"learned": func(p *Plan) { p.Surrogate = p.Surrogate.With("hyperparameters", "learned") },
		"default": func(p *Plan) { p.Surrogate = p.Surrogate.With("kernel", "matern52") },
	} {
		if tiny(t, change).Hash() != hash {
			t.Errorf("%s changes the hash", name)
		}
	}
	// A default of one space may be a setting on another.
	plane := tiny(t, func(p *Plan) { p.Family = familyOf(t, "gp") })
	if given := tiny(t, func(p *Plan) { p.Family, p.Surrogate = plane.Family, p.Surrogate.With("lengthscale", "0.1") }); given.Hash() == plane.Hash() {
		t.Error("half the lengthscale does not change the hash")
	}
	for name, change := range map[string]func(p *Plan){
		"family":       func(p *Plan) { p.Family = familyOf(t, "gp:d=1") },
		"agents":       func(p *Plan) { p.Agents = 4 },
		"evaluations":  func(p *Plan) { p.Evaluations = 7 },
		"seed":         func(p *Plan) { p.Seed = 2 },
		"surrogate":    func(p *Plan) { p.Surrogate = p.Surrogate.With("kernel", "se") },
		"initial":      func(p *Plan) { p.Initial = 2 },
		"network":      func(p *Plan) { p.Network.Delay = time.Second },
		"checkpoints":  func(p *Plan) { p.Checkpoints = []int{2} },
		"slow":         func(p *Plan) { p.Straggler = 2 },
		"speeds":       func(p *Plan) { p.MaxSlowdown = 2 },
		"joining":      func(p *Plan) { p.JoinWithin = time.Minute },
		"budgets":      func(p *Plan) { p.MinEvaluations = 4 },
		"parallel":     func(p *Plan) { p.Parallel = 2 },
		"asynchronous": func(p *Plan) { p.Parallel, p.Asynchronous = 2, true },
		"churn":        func(p *Plan) { p.Churn = 0.1 },
		"partition":    func(p *Plan) { p.Network.Partitions = cut(10, 20) },
	} {
		if tiny(t, change).Hash() == hash {
			t.Errorf("%s does not change the hash", name)
		}
	}
}

// Runs that were stored before there were faults are found again by plans without.
func TestPlansWithoutFaultsHaveTheHeaderThatTheyAlwaysHad(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Network.Delay, p.Network.Loss = 50*time.Millisecond, 0.1 })
	template, err := p.template(Spec{Name: "ts"})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"Arithmetic":%d,"Family":"gp:d=1,noise=0.05","Agents":3,"Evaluations":6,"Seed":1,"Surrogate":%s,"Initial":3,`+
		`"Network":{"Delay":50000000,"Jitter":0,"Loss":0.1,"Resync":0,"Degree":0,"Partitions":null},"Checkpoints":[6]}`,
		resultsVersion, canonical(template, "surrogate"))
	if got := string(p.header()); got != want {
		t.Errorf("header\n%s\nwant\n%s", got, want)
	}
}
