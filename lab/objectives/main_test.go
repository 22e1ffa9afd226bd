package main

import (
	"io"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	var out strings.Builder
	err := run([]string{"--family", "zdt1:warp=0", "--repeat", "3"}, strings.NewReader("[0.25,0,0,0,0,0]\n[0,1,1,1,1,1]\n"), &out, io.Discard)
	want := "{\"coordinates\":6,\"reference\":[11,11],\"hypervolume\":120.66666666666667}\n[0.25,0.5]\n[0,10]\n"
	if err != nil || out.String() != want {
		t.Errorf("%q, %v; expected %q", out.String(), err, want)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ flags, input, want string }{
		{"--family zdt1", "[0,0]", "line 1 of the input: 2 numbers; expected 6"},
		{"--family zdt1", "[0,0,0,0,0,2]", "line 1 of the input: coordinate 2; expected 0 to 1"},
		{"--family zdt1", "[0,0,0,0,0,0]\nx", "line 2 of the input: invalid character 'x' looking for beginning of value; expected a list of 6 numbers"},
		{"--family corner", "", "--family corner has one objective; expected a family with several"},
		{"--family zdt1 --agent 1", "", "--agent 1; expected 0 to 0, below --agents"},
		{"--family zdt1 --repeat -1", "", "--repeat -1; expected 0 or more"},
		{"--family zdt1 more", "", `argument "more"; expected only flags`},
	} {
		err := run(strings.Fields(c.flags), strings.NewReader(c.input), io.Discard, io.Discard)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s, %q: %v; expected %s", c.flags, c.input, err, c.want)
		}
	}
}
