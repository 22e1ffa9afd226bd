package vizierapi

import (
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy/all"
)

func problemOf(spec *vizierpb.StudySpec) (*problem, error) {
	return newProblem(&vizierpb.Study{DisplayName: "example", StudySpec: spec}, all.Strategies())
}

func integer(id string, low, high int64) *parameterSpec {
	return &parameterSpec{ParameterId: id, ParameterValueSpec: &vizierpb.StudySpec_ParameterSpec_IntegerValueSpec_{
		IntegerValueSpec: &vizierpb.StudySpec_ParameterSpec_IntegerValueSpec{MinValue: low, MaxValue: high}}}
}

func discrete(id string, values ...float64) *parameterSpec {
	return &parameterSpec{ParameterId: id, ParameterValueSpec: &vizierpb.StudySpec_ParameterSpec_DiscreteValueSpec_{
		DiscreteValueSpec: &vizierpb.StudySpec_ParameterSpec_DiscreteValueSpec{Values: values}}}
}

// childFor returns a child that is active for these values of a categorical parent.
func childFor(child *parameterSpec, values ...string) *vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec {
	return &vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec{ParameterSpec: child,
		ParentValueCondition: &vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec_ParentCategoricalValues{
			ParentCategoricalValues: &vizierpb.StudySpec_ParameterSpec_ConditionalParameterSpec_CategoricalValueCondition{Values: values}}}
}

// TestStudyIsTheTaskOfAFile: a study has the ID of the task file that docs/vizier.md shows for it.
func TestStudyIsTheTaskOfAFile(t *testing.T) {
	rate := double("learning-rate", 0.001, 1)
	rate.ScaleType = vizierpb.StudySpec_ParameterSpec_UNIT_LOG_SCALE
	rate.GetDoubleValueSpec().DefaultValue = wrapperspb.Double(0.1)
	optimizer := categorical("optimizer", "adam", "sgd")
	optimizer.GetCategoricalValueSpec().DefaultValue = wrapperspb.String("sgd")
	momentum := double("momentum", 0, 0.99)
	momentum.GetDoubleValueSpec().DefaultValue = wrapperspb.Double(0.9)
	optimizer.ConditionalParameterSpecs = append(optimizer.ConditionalParameterSpecs, childFor(momentum, "sgd"))
	layers, units, zero := integer("layers", 1, 4), discrete("units", 64, 16, 32), integer("seed", 0, 0)
	layers.GetIntegerValueSpec().DefaultValue = wrapperspb.Int64(2)
	units.GetDiscreteValueSpec().DefaultValue = wrapperspb.Double(32)
	zero.GetIntegerValueSpec().DefaultValue = wrapperspb.Int64(0)
	heat := minimized("heat")
	heat.SafetyConfig = &vizierpb.StudySpec_MetricSpec_SafetyMetricConfig{SafetyThreshold: 3}
	spec := &vizierpb.StudySpec{
		Algorithm: "fbo:density", Parameters: []*parameterSpec{rate, optimizer, layers, units, zero}, Metrics: []*metricSpec{minimized("loss"), heat},
		AutomatedStoppingSpec: &vizierpb.StudySpec_DefaultStoppingSpec{DefaultStoppingSpec: &vizierpb.StudySpec_DefaultEarlyStoppingSpec{}},
	}
	got, err := problemOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	want, err := all.Strategies().Parse("example.yaml", []byte(`name: example
goal: minimize
parameters:
  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: optimizer, type: categorical, choices: [adam, sgd]}
  - {name: momentum, type: float, low: 0, high: 0.99, when: {optimizer: sgd}}
  - {name: layers, type: int, low: 1, high: 4}
  - {name: units, type: int, choices: [16, 32, 64]}
  - {name: seed, type: int, value: 0}
constraints:
  - {name: heat, high: 3}
stop: {type: forecast}
strategy: {type: density}
default: {learning_rate: 0.1, optimizer: sgd, momentum: 0.9, layers: 2, units: 32}
`))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.task.File()) != string(want.File()) {
		t.Errorf("the task is\n%s\nexpected\n%s", got.task.File(), want.File())
	}
	layers.GetIntegerValueSpec().DefaultValue = nil
	if got, err := problemOf(spec); err != nil || !got.task.About.Default.IsZero() || got.task.ID() != want.ID() {
		t.Errorf("without one default value: %v, %v", got, err)
	}
}

func TestSpecificationsThatAreRefused(t *testing.T) {
	with := func(parameters ...*parameterSpec) *vizierpb.StudySpec {
		return &vizierpb.StudySpec{Parameters: parameters, Metrics: []*metricSpec{minimized("loss")}}
	}
	changed := func(change func(*vizierpb.StudySpec)) *vizierpb.StudySpec {
		spec := bowl()
		change(spec)
		return spec
	}
	reverse := double("x", 1, 2)
	reverse.ScaleType = vizierpb.StudySpec_ParameterSpec_UNIT_REVERSE_LOG_SCALE
	parent := categorical("p", "a", "b")
	parent.ConditionalParameterSpecs = append(parent.ConditionalParameterSpecs, childFor(double("x", 0, 1)))
	unknown := categorical("p", "a", "b")
	unknown.ConditionalParameterSpecs = append(unknown.ConditionalParameterSpecs, childFor(double("x", 0, 1), "c"))
	safe := minimized("heat")
	safe.SafetyConfig = &vizierpb.StudySpec_MetricSpec_SafetyMetricConfig{DesiredMinSafeTrialsFraction: proto.Float64(0.5)}
	alone := minimized("heat")
	alone.SafetyConfig = &vizierpb.StudySpec_MetricSpec_SafetyMetricConfig{}
	for _, c := range []struct {
		code connect.Code
		text string
		spec *vizierpb.StudySpec
	}{
		{connect.CodeInvalidArgument, "metrics: expected one", nil},
		{connect.CodeInvalidArgument, "parameters", with()},
		{connect.CodeInvalidArgument, `parameter "x" has no type`, with(&parameterSpec{ParameterId: "x"})},
		{connect.CodeUnimplemented, "REVERSE_LOG", with(reverse)},
		{connect.CodeInvalidArgument, `"a b": another one`, with(double("a-b", 0, 1), double("a b", 0, 1))},
		{connect.CodeInvalidArgument, `expected values of its parent "p"`, with(parent)},
		{connect.CodeInvalidArgument, `"x"`, with(unknown)},
		{connect.CodeInvalidArgument, `"x"`, with(double("x", 2, 1))},
		{connect.CodeInvalidArgument, "expected DEFAULT, or fbo:", changed(func(s *vizierpb.StudySpec) { s.Algorithm = "NSGA2" })},
		{connect.CodeInvalidArgument, `"none"`, changed(func(s *vizierpb.StudySpec) { s.Algorithm = "fbo:none" })},
		{connect.CodeInvalidArgument, "expected MAXIMIZE or MINIMIZE", bowl(&metricSpec{MetricId: "loss"})},
		{connect.CodeInvalidArgument, "differs from the others", bowl(minimized("a-b"), minimized("a_b"))},
		{connect.CodeUnimplemented, "desired_min_safe_trials_fraction", bowl(minimized("loss"), safe)},
		{connect.CodeInvalidArgument, "no safety metrics", bowl(alone)},
		{connect.CodeUnimplemented, "pythia_endpoint", changed(func(s *vizierpb.StudySpec) { s.Metadata = []*vizierpb.KeyValue{{Ns: ":service", Key: pythiaKey}} })},
		{connect.CodeInvalidArgument, "stop", changed(func(s *vizierpb.StudySpec) {
			s.Metrics = append(s.Metrics, minimized("other"))
			s.AutomatedStoppingSpec = &vizierpb.StudySpec_DefaultStoppingSpec{DefaultStoppingSpec: &vizierpb.StudySpec_DefaultEarlyStoppingSpec{}}
		})},
		{connect.CodeInvalidArgument, "default values", changed(func(s *vizierpb.StudySpec) {
			for _, p := range s.Parameters {
				p.GetDoubleValueSpec().DefaultValue = wrapperspb.Double(9)
			}
		})},
	} {
		_, err := problemOf(c.spec)
		if connect.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %v and %q", c.spec, err, c.code, c.text)
		}
	}
}

func TestMetadataRoundTrip(t *testing.T) {
	fbotest.CheckFew(t, 200, func(t *rapid.T) {
		kv := &vizierpb.KeyValue{Key: rapid.String().Draw(t, "key")}
		if rapid.Bool().Draw(t, "has a namespace") {
			kv.Ns = ":" + rapid.String().Draw(t, "namespace")
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			kv.AValue = &vizierpb.KeyValue_Proto{Proto: &anypb.Any{TypeUrl: rapid.String().Draw(t, "type"), Value: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "value")}}
		case 1:
			kv.AValue = &vizierpb.KeyValue_Value{Value: rapid.SampledFrom([]string{"", textValue, messageValue, messageValue + "AAAA"}).Draw(t, "marked text")}
		default:
			kv.AValue = &vizierpb.KeyValue_Value{Value: rapid.String().Draw(t, "text")}
		}
		name, text, err := attributeOf(kv)
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			t.Fatalf("%v becomes an attribute without text, which does not exist", kv)
		}
		if again := entryOf(name, text); !proto.Equal(again, kv) {
			t.Fatalf("%v becomes %q: %q and then %v", kv, name, text, again)
		}
	})
}

// TestStudyOfAnEarlierVersion: a study keeps its task when its specification has another meaning now.
func TestStudyOfAnEarlierVersion(t *testing.T) {
	message := &vizierpb.Study{Name: bowlStudy, DisplayName: "bowl", StudySpec: bowl()}
	earlier := proto.CloneOf(message)
	earlier.StudySpec.Algorithm = "fbo:alone" // as if that had been the default
	p, err := newProblem(earlier, all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	s := &store{dir: t.TempDir(), byName: map[string]*study{}}
	if err := s.put(&study{message, p}); err != nil {
		t.Fatal(err)
	}
	again, err := openStore(s.dir, all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	if one, ok := again.get(bowlStudy); !ok || one.task.ID() != p.task.ID() || !proto.Equal(one.Study, message) {
		t.Errorf("the study is %v", one)
	}
}

func FuzzStudyFile(f *testing.F) {
	f.Add([]byte(`{"format":1,"name":"owners/me/studies/bowl","task":"bag","study":"CgA="}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		one, err := decodeStudy(data, all.Strategies())
		if err == nil && checkStudy(one.GetName()) != nil {
			t.Errorf("accepted a study with the name %q", one.GetName())
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add("owners/me/operations/suggestion/bowl/a/3")
	f.Add("owners/me/studies/bowl/trials/7")
	f.Fuzz(func(t *testing.T, name string) {
		if s, err := parseSuggestion(name); err == nil {
			if again, err := parseSuggestion(s.name()); err != nil || again != s {
				t.Errorf("%q is %+v and then %+v, %v", name, s, again, err)
			}
		}
		if study, id, err := parseTrial(name); err == nil && (checkStudy(study) != nil || id == 0) {
			t.Errorf("%q is trial %d of study %q", name, id, study)
		}
	})
}
