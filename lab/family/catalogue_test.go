package family

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

func mustParse(t testing.TB, spec string) Family {
	t.Helper()
	f, err := Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustDraw(t testing.TB, spec string, seed uint64, agents int) Federation {
	t.Helper()
	f, err := mustParse(t, spec).Draw(random.SeedOf(seed), agents)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNamesAreShortestAndCanonical(t *testing.T) {
	for spec, name := range map[string]string{
		"gp":                                    "gp",
		"gp:kernel=se,d=2,e=5e-2":               "gp",
		" gp : e = 0.20 , d = 6":                "gp:d=6,e=0.2",
		"gp:e=-0,noise=1e-3":                    "gp:e=0,noise=0.001",
		"gp:lengthscale=.2,d=1":                 "gp:d=1,lengthscale=0.2",
		"gp:d_n=1.2,others=forged":              "gp:d_n=1.2,others=forged",
		"branin:newcomer=true,shift=0.05":       "branin:newcomer=true",
		"levy:d=5,clusters=3,rotate=15,warp=.1": "levy:rotate=15,warp=0.1,clusters=3",
		"shekel4:shift=.2,noise=0.1":            "shekel4:shift=0.2",
		"ackley:d=3.0":                          "ackley:d=3",
		"branin:units=deviation":                "branin",
		"ackley:noise=.2,units=own,d=3":         "ackley:d=3,units=own,noise=0.2",
		"limits:feasible=.10,c=1,border=any":    "limits:feasible=0.1",
	} {
		if f := mustParse(t, spec); f.Name != name {
			t.Errorf("Parse(%q).Name is %q, want %q", spec, f.Name, name)
		}
	}
}

func TestParseErrorsSayWhatIsAccepted(t *testing.T) {
	for spec, parts := range map[string][]string{
		"":                                  {`unknown name ""`, "gp", "levy"},
		"gauss:d=2":                         {`unknown name "gauss"`, "branin"},
		"gp:":                               {`"" is not key=value`, "kernel"},
		"gp:d":                              {`"d" is not key=value`},
		"gp:D=2":                            {`"D=2"`, "lengthscale"},
		"branin:d=2":                        {`"d=2"`, "shift"},
		"gp:d=2,d=2":                        {"key d is given twice"},
		"gp:d=2.5":                          {"key d", `"2.5"`, "1 to 20, whole"},
		"gp:d=21":                           {"key d", "1 to 20"},
		"gp:e=1.01":                         {"key e", "0 to 1"},
		"gp:e=NaN":                          {"key e", "NaN", "0 to 1"},
		"gp:noise=+Inf":                     {"key noise", "0 to 100"},
		"gp:e=":                             {"key e", `""`},
		"gp:kernel=rbf":                     {"key kernel", `"rbf"`, "se, matern52"},
		"gp:e=0.1,d_n=0.1":                  {"e and d_n are both given"},
		"gp:others=hostile":                 {"key others", "half-negated"},
		"gp:newcomer=yes":                   {"key newcomer", "true, false"},
		"gp:clusters=2,others=negated":      {"clusters is for others=similar"},
		"gp:adversaries=1,others=negated":   {"adversaries is for others=similar"},
		"gp:attack=corner":                  {"attack=corner is for adversaries or others=forged"},
		"gp:attack=edge":                    {"key attack", "accepted: random, corner"},
		"gp:adversaries=1,newcomer=true":    {"adversaries is for", "without a newcomer"},
		"levy:d=1,rotate=10":                {"key rotate", "one float"},
		"rosenbrock:d=1":                    {"key d", "2 to 20, whole"},
		"mixed:d=4":                         {`"d=4"`, "shift"},
		"shekel4:d=4":                       {`"d=4"`, "shift"},
		"branin:units=raw":                  {"key units", "deviation, own"},
		"branin:units=own,others=deceptive": {"keys units=own and others=deceptive", "units=deviation"},
		"gp:units=own":                      {`"units=own"`, "lengthscale"},
		"branin:shift=0.6":                  {"key shift", "0 to 0.5"},
		"hartmann6:scale=1":                 {"key scale", "0 to 0.99"},
		"limits:c=4":                        {"key c", "1 to 3, whole"},
		"limits:feasible=0.5":               {"key feasible", "0 to 0.4"},
		"limits:d_n=1":                      {`"d_n=1"`, "border"},
		"limits:border=yes,feasible=0":      {"key border applies where something is feasible"},
		"gramacy:shift=0.3":                 {"key shift", "0 to 0.25"},
		"ackley:warp=0.1=0.2,offset=abc":    {"key warp"},
	} {
		_, err := Kinds().Parse(spec)
		if err == nil {
			t.Errorf("Parse(%q) succeeds", spec)
			continue
		}
		for _, part := range append(parts, strconv.Quote(spec)) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Parse(%q): %q does not say %q", spec, err, part)
			}
		}
	}
}

// What a family is called gives the family again, whatever keys are set.
func TestNamesParseToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(Kinds().List()).Draw(t, "kind")
		var settings []string
		for _, k := range rapid.Permutation(kind.Keys).Draw(t, "order") {
			if rapid.Bool().Draw(t, "set "+k.Name) {
				settings = append(settings, k.Name+"="+someValue(t, k))
			}
		}
		spec := kind.Name
		if len(settings) > 0 {
			spec += ":" + strings.Join(settings, ",")
		}
		f, err := Kinds().Parse(spec)
		if err != nil {
			if strings.Contains(err.Error(), "not accepted") || strings.Contains(err.Error(), "unknown") {
				t.Fatal(err)
			}
			t.Skip("keys that exclude each other")
		}
		again, err := Kinds().Parse(f.Name)
		if err != nil || again.Name != f.Name {
			t.Fatalf("%q is called %q, which is called %q (%v)", spec, f.Name, again.Name, err)
		}
		slices.Reverse(settings)
		if len(settings) > 0 {
			turned, err := Kinds().Parse(kind.Name + ":" + strings.Join(settings, ","))
			if err != nil || turned.Name != f.Name {
				t.Fatalf("in another order %q is called %q (%v)", spec, turned.Name, err)
			}
		}
	})
}

func someValue(t *rapid.T, k Key) string {
	switch k.Type {
	case Number:
		return fmt.Sprint(rapid.Float64Range(k.Low, k.High).Draw(t, k.Name))
	case Whole:
		return fmt.Sprint(rapid.IntRange(int(k.Low), int(k.High)).Draw(t, k.Name))
	case Choice:
		return rapid.SampledFrom(k.Choices).Draw(t, k.Name)
	case Switch:
		return fmt.Sprint(rapid.Bool().Draw(t, k.Name))
	default:
		return rapid.StringMatching(`[a-z/.=:]+`).Draw(t, k.Name)
	}
}

// Defaults are values, in canonical form, of well-described keys.
func TestKeysAreWellFormed(t *testing.T) {
	for _, kind := range Kinds().List() {
		if kind.About == "" || strings.HasSuffix(kind.About, ".") {
			t.Errorf("%s: about %q", kind.Name, kind.About)
		}
		for _, k := range kind.Keys {
			if canonical, ok := k.canonical(k.Default); k.Default != "" && (!ok || canonical != k.Default) {
				t.Errorf("%s: key %s has the default %q", kind.Name, k.Name, k.Default)
			}
			if k.Meaning == "" || k.Accepts() == "" {
				t.Errorf("%s: key %s does not say what it means", kind.Name, k.Name)
			}
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	if _, err := (Family{}).Draw(random.SeedOf(1), 1); err == nil {
		t.Error("the zero Family draws")
	}
	for _, agents := range []int{-1, 0, MaxAgents + 1} {
		if _, err := mustParse(t, "branin").Draw(random.SeedOf(1), agents); err == nil || !strings.Contains(err.Error(), "1 to 100000") {
			t.Errorf("%d agents: %v", agents, err)
		}
	}
}
