package main

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/fbo-node/fbo/benchmarks/internal/picture"
	"github.com/fbo-node/fbo/lab/experiment"
)

const height = 4.5 * vg.Inch

const bandOpacity = 30 // of 255

const titleWidth = 80 // in characters

// save draws the curves of a report into a file of the format that its name asks
// for. Nothing is written before the picture is complete.
func save(r experiment.Report, path string) error {
	p, err := chart(r)
	if err != nil {
		return err
	}
	return picture.Save(p, height, path)
}

func chart(r experiment.Report) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Padding = vg.Points(4)
	p.X.Label.Text = "evaluations per agent"
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	p.X.Tick.Marker = plot.TickerFunc(countTicks)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(regretTicks)
	p.Add(plotter.NewGrid())
	least := floor(r)
	var curves []curve
	for i, s := range r.Strategies {
		c, err := newCurve(s.Simple, least)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Strategy, err)
		}
		ink, dash, _ := picture.Line(i)
		c.line.Color, c.line.Width, c.line.Dashes = ink, vg.Points(1.5), dash
		if c.band != nil {
			c.band.Color = color.NRGBA{R: ink.R, G: ink.G, B: ink.B, A: bandOpacity}
			c.band.LineStyle.Width = 0
			p.Add(c.band)
		}
		p.Legend.Add(s.Strategy, c.line)
		curves = append(curves, c)
	}
	for _, c := range curves { // above all bands
		p.Add(c.line)
	}
	// What the axis shows stands in the title: for a label beside a logarithmic axis
	// gonum/plot would leave a third of the height empty.
	p.Title.Text = "Simple regret, mean ± standard error"
	if p.Y.Min <= least {
		p.Title.Text += fmt.Sprintf("; less than %.3g is drawn as that", least)
	}
	p.Title.Text += fmt.Sprintf("\n%s\n%d agents, %d repeats, seed %d", wrap(r.Family, titleWidth), r.Agents, r.Repeats, r.Seed)
	if p.Y.Min == p.Y.Max {
		p.Y.Max *= 10
	}
	around := steps(p.Y.Min, p.Y.Max)
	p.Y.Min, p.Y.Max = around[0], around[len(around)-1]
	return p, nil
}

// steps returns the numbers 1, 2 and 5 times powers of ten between low and high, with the
// nearest one to either side.
func steps(low, high float64) (all []float64) {
	for power := math.Floor(math.Log10(low)); ; power++ {
		for _, digit := range []float64{1, 2, 5} {
			step := digit * math.Pow(10, power)
			if step <= low {
				all = all[:0]
			}
			if all = append(all, step); step >= high {
				return all
			}
		}
	}
}

// regretTicks has labels at 1, 2 and 5 times powers of ten, or at powers of ten where those
// would be too many.
func regretTicks(low, high float64) (ticks []plot.Tick) {
	all := steps(low, high)
	for _, step := range all {
		tick := plot.Tick{Value: step}
		if power := strings.HasPrefix(strconv.FormatFloat(step, 'e', 0, 64), "1"); power || len(all) <= 12 {
			tick.Label = strconv.FormatFloat(step, 'g', 4, 64)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// countTicks has at most ten labels, at multiples of a round number.
func countTicks(_, high float64) (ticks []plot.Tick) {
	for _, step := range steps(1, high) {
		if high > 10*step {
			continue
		}
		for at := step; at <= high; at += step {
			ticks = append(ticks, plot.Tick{Value: at, Label: strconv.Itoa(int(at))})
		}
		return ticks
	}
	return nil
}

// wrap breaks a text after commas into lines of at most this number of characters, if possible.
func wrap(text string, most int) string {
	var lines strings.Builder
	width := 0
	for _, part := range strings.SplitAfter(text, ",") {
		if width > 0 && width+len(part) > most {
			lines.WriteString("\n")
			width = 0
		}
		lines.WriteString(part)
		width += len(part)
	}
	return lines.String()
}

// floor returns the value for drawing a regret of 0, since the axis is logarithmic.
func floor(r experiment.Report) float64 {
	if f := float64(r.RatioFloor); f > 0 {
		return f
	}
	return 1e-12
}

type curve struct {
	line *plotter.Line
	band *plotter.Polygon // nil without standard errors
}

func newCurve(s experiment.Series, least float64) (c curve, err error) {
	var middle, upper, lower plotter.XYs
	for k, m := range s.Mean {
		x, mean, se := float64(k+1), float64(m), float64(s.SE[k])
		middle = append(middle, plotter.XY{X: x, Y: max(mean, least)})
		if math.IsNaN(se) {
			continue
		}
		upper = append(upper, plotter.XY{X: x, Y: max(mean+se, least)})
		// A band that reaches 0 ends a decade below its curve.
		lower = append(lower, plotter.XY{X: x, Y: max(mean-se, mean/10, least)})
	}
	if c.line, err = plotter.NewLine(middle); err != nil || len(upper) == 0 {
		return c, err
	}
	for k := len(lower) - 1; k >= 0; k-- {
		upper = append(upper, lower[k])
	}
	c.band, err = plotter.NewPolygon(upper)
	return c, err
}
