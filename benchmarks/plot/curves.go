package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/fbo-node/fbo/benchmarks/internal/picture"
	"github.com/fbo-node/fbo/experiment"
)

const height = 4.5 * vg.Inch

const bandOpacity = 45 // of 255

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
	// What the axis shows stands in the title: for a label beside a logarithmic axis
	// gonum/plot would leave a third of the height empty.
	p.Title.Text = fmt.Sprintf("Simple regret, mean ± standard error\n%s, %d agents, %d repeats, seed %d", r.Family, r.Agents, r.Repeats, r.Seed)
	p.X.Label.Text = "evaluations per agent"
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
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
	// Only powers of ten have labels.
	p.Y.Min = math.Pow(10, math.Floor(math.Log10(p.Y.Min)))
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	if p.Y.Min == p.Y.Max {
		p.Y.Max *= 10
	}
	return p, nil
}

// floor is what a regret of 0 is drawn as: a logarithm needs more.
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
