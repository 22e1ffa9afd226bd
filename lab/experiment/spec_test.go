package experiment

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSpecs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ts", "ts"},
		{"ts,fts", "ts|fts"},
		{"fts:schedule=inverse-square,mode=one-shot,ts", "fts:schedule=inverse-square,mode=one-shot|ts"},
		{"fts:mode=one-shot, share_after=10 ,fts", "fts:mode=one-shot,share_after=10|fts"},
		{"x:key=a:b,other=c:d", "x:key=a:b,other=c:d"},
		{"exact:lengthscales=.3;2,mean=1,rff", "exact:lengthscales=.3;2,mean=1|rff"},
		{"", "error: empty name"},
		{"ts,,fts", "error: empty name"},
		{"mode=one-shot", "error: no name before it"},
		{"ts,mode=one-shot", "error: no name before it"},
		{"fts:", "error: no setting"},
		{"fts:mode", "error: no setting"},
		{"fts:mode=", "error: no setting"},
		{"ts:type=fts", "error: the type is the name"},
		{"fts:mode=a,mode=b", "error: given twice"},
	} {
		specs, err := ParseSpecs(c.text)
		if wanted, isError := strings.CutPrefix(c.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), wanted) {
				t.Errorf("%q: error %v, want %q", c.text, err, wanted)
			}
			continue
		}
		var got []string
		for _, s := range specs {
			got = append(got, s.String())
		}
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	if _, err := ParseSpec("ts,fts"); err == nil {
		t.Error("two specs pass for one")
	}
}

func TestValuesOfSettings(t *testing.T) {
	for text, want := range map[string]string{
		"0.30":         `0.30`,
		".3":           `0.3`,
		"-.3":          `-0.3`,
		"-1e-3":        `-1e-3`,
		"own-only":     `"own-only"`,
		"010":          `"010"`,
		"0x10":         `"0x10"`,
		"inf":          `"inf"`,
		".":            `"."`,
		".3;.3967 ; 1": `[0.3,0.3967,1]`,
		"2;":           `[2]`,
		"a;1":          `["a",1]`,
		";":            `[""]`,
		"1;;2":         `[1,"",2]`,
	} {
		got, err := json.Marshal(Setting{"key", text}.value())
		if err != nil || string(got) != want {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestSpecsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z][a-z_-]{0,5}`)
		var texts []string
		for range rapid.IntRange(1, 4).Draw(t, "specs") {
			s := Spec{Name: word.Draw(t, "name")}
			for range rapid.IntRange(0, 3).Draw(t, "settings") {
				if key := word.Draw(t, "key"); !s.has(key) {
					s = s.With(key, rapid.StringMatching(`[a-z0-9.:=-]{1,5}`).Draw(t, "value"))
				}
			}
			texts = append(texts, s.String())
		}
		specs, err := ParseSpecs(strings.Join(texts, ","))
		if err != nil || len(specs) != len(texts) {
			t.Fatalf("%q: %v, %v", texts, specs, err)
		}
		for i, s := range specs {
			if s.String() != texts[i] {
				t.Fatalf("%q became %q", texts[i], s)
			}
		}
	})
}
