package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/vgimg"

	lines "github.com/fbo-node/fbo/benchmarks/internal/picture"
	"github.com/fbo-node/fbo/lab/experiment"
)

// made is a report of two strategies that differ; the second reaches regret 0.
func made() experiment.Report {
	series := func(at func(k int) float64, se float64) (s experiment.Series) {
		for k := range 10 {
			s.Mean = append(s.Mean, experiment.Number(at(k)))
			s.SE = append(s.SE, experiment.Number(se))
		}
		return s
	}
	return experiment.Report{
		Family: "gp:d=1", Agents: 3, Evaluations: 10, Repeats: 4, RatioFloor: 1e-4,
		Strategies: []experiment.StrategyReport{
			{Strategy: "ts", Simple: series(func(k int) float64 { return 1 / float64(k+1) }, 0.1)},
			{Strategy: "fts:mode=one-shot", Simple: series(func(k int) float64 { return max(0, 1-float64(k)/5) }, math.NaN())},
		},
	}
}

func input(t *testing.T, r experiment.Report) io.Reader {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

func TestSVGIsWellFormedAndNamesStrategies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curves.svg")
	if err := run([]string{"-", path}, input(t, made())); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{">ts<", ">fts:mode=one-shot<", ">0.001<", ">gp:d=1<", ">3 agents, 4 repeats, seed 0<", ">Simple regret, mean ± standard error; less than 0.0001 is drawn as that<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	labels := func(ticks []plot.Tick) (all []string) {
		for _, tick := range ticks {
			if tick.Label != "" {
				all = append(all, tick.Label)
			}
		}
		return all
	}
	for _, c := range []struct {
		ticks     plot.TickerFunc
		low, high float64
		want      string
	}{
		{regretTicks, 0.007, 0.06, "0.005 0.01 0.02 0.05 0.1"},
		{regretTicks, 0.01, 0.01, "0.01"},
		{regretTicks, 1e-6, 2000, "1e-06 1e-05 0.0001 0.001 0.01 0.1 1 10 100 1000"},
		{countTicks, 1, 1, "1"},
		{countTicks, 1, 12, "2 4 6 8 10 12"},
		{countTicks, 1, 30, "5 10 15 20 25 30"},
		{countTicks, 1, 105, "20 40 60 80 100"},
	} {
		if got := strings.Join(labels(c.ticks(c.low, c.high)), " "); got != c.want {
			t.Errorf("from %g to %g: labels %s, wanted %s", c.low, c.high, got, c.want)
		}
	}
}

func TestALongTitleIsBroken(t *testing.T) {
	for text, want := range map[string]string{
		"gp:d=2,noise=0": "gp:d=2,noise=0",
		"table:task=long/task.yaml,file=long.csv,newcomer=true": "table:task=long/task.yaml,\nfile=long.csv,\nnewcomer=true",
	} {
		if got := wrap(text, 20); got != want {
			t.Errorf("%q becomes %q, wanted %q", text, got, want)
		}
	}
}

// drawn is the picture of a report.
func drawn(t *testing.T, r experiment.Report) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "curves.png")
	if err := run([]string{"-", path}, input(t, r)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// inks counts the pixels of each colour in a part of a picture.
func inks(picture image.Image, part image.Rectangle) map[color.RGBA]int {
	pixels := map[color.RGBA]int{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			pixels[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	return pixels
}

func TestPNGShowsCurvesAndBands(t *testing.T) {
	picture := drawn(t, made())
	pixels := inks(picture, picture.Bounds())
	band := color.RGBA{R: 255 - bandOpacity, G: 255 - bandOpacity, B: 255 - bandOpacity, A: 255} // black on white
	first, _, _ := lines.Line(0)
	second, _, _ := lines.Line(1)
	for what, ink := range map[string]color.RGBA{"first curve": first, "second curve": second, "band": band} {
		if pixels[ink] < 100 {
			t.Errorf("%s: %d pixels of %v", what, pixels[ink], ink)
		}
	}
}

// The legend stands beside the curves, and the picture has room for all of it.
func TestTheLegendIsBesideTheCurves(t *testing.T) {
	few, many := made(), made()
	for i := range many.Strategies {
		many.Strategies[i].Strategy = fmt.Sprintf("fts:mechanism=local,epsilon=%d,signal=none", i)
	}
	for range 40 { // on top of each other
		many.Strategies = append(many.Strategies, many.Strategies[0])
	}
	short, long := drawn(t, few), drawn(t, many)
	if s, l := short.Bounds().Size(), long.Bounds().Size(); l.X <= s.X || l.Y <= s.Y {
		t.Errorf("%v for two short names, %v for many long ones", s, l)
	}
	white := color.RGBA{R: 255, G: 255, B: 255, A: 255}
	for name, picture := range map[string]image.Image{"few": short, "many": long} {
		frame := picture.Bounds()
		left := int(lines.Width.Dots(vgimg.DefaultDPI))
		beside := image.Rect(left, frame.Min.Y, frame.Max.X, frame.Max.Y)
		if n := beside.Dx() * beside.Dy(); n-inks(picture, beside)[white] < 100 {
			t.Errorf("%s: no legend beside the curves", name)
		}
		margins := []image.Rectangle{
			image.Rect(left, frame.Max.Y-3, frame.Max.X, frame.Max.Y),
			image.Rect(frame.Max.X-3, frame.Min.Y, frame.Max.X, frame.Max.Y),
		}
		for _, margin := range margins {
			if n := margin.Dx() * margin.Dy(); inks(picture, margin)[white] != n {
				t.Errorf("%s: the legend is cut off at %v", name, margin)
			}
		}
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		in   string
		want string
	}{
		{nil, "", "0 arguments given, expected two"},
		{[]string{"-", "c.svg"}, "strategy  regret", "not a result of simulate --json"},
		{[]string{"-", "c.svg"}, "{}", "a result without strategies"},
		{[]string{"nonesuch.json", "c.svg"}, "", "nonesuch.json"},
	} {
		if err := run(c.args, strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.args, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "curves.doc")
	if err := run([]string{"-", path}, input(t, made())); err == nil || !strings.Contains(err.Error(), "doc") {
		t.Errorf("another kind of file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
}
