package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/fbo-node/fbo/benchmarks/internal/picture"
)

const height = 5 * vg.Inch

// marks tell strategies apart when colours repeat.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}

const (
	// spread is the part of the distance between checkpoints over which the strategies
	// stand side by side, for their bounds not to cover each other.
	spread = 0.6

	// beyond is how many times the largest mean, and which part of the least, the axis
	// shows: bounds over few reports can be so wide that the means would be one line.
	beyond = 2
)

// save draws a summary into an SVG file. Nothing is written before the picture is complete.
func save(s summary, path string) error {
	p, err := chart(s)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return picture.Save(p, height, path)
}

func chart(s summary) (*plot.Plot, error) {
	p := plot.New()
	// As in benchmarks/plot, a label beside a logarithmic axis would take too much room.
	p.Title.Text = fmt.Sprintf("Simple regret in ratio to that of %s\n%s", s.reports[0].Control, s.about())
	p.X.Label.Text = "evaluations per agent"
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	p.Y.Scale = plot.LogScale{}
	least, largest := s.axis()
	p.Y.Tick.Marker = plot.ConstantTicks(ratioTicks(least, largest))
	p.X.Tick.Marker = plot.ConstantTicks(s.checkpointTicks())
	p.Add(plotter.NewGrid())
	last := float64(len(s.reports[0].Checkpoints) - 1)
	one, err := plotter.NewLine(plotter.XYs{{X: -spread, Y: 1}, {X: last + spread, Y: 1}})
	if err != nil {
		return nil, err
	}
	one.Color, one.Width = color.Gray{Y: 110}, vg.Points(2)
	p.Add(one)
	for i := range s.lines {
		if err := s.draw(p, i, least, largest); err != nil {
			return nil, fmt.Errorf("%s: %w", s.lines[i].strategy, err)
		}
	}
	p.X.Min, p.X.Max = -spread, last+spread
	p.Y.Min, p.Y.Max = least, largest
	return p, nil
}

func (s summary) about() string {
	if len(s.reports) == 1 {
		return s.reports[0].name
	}
	return fmt.Sprintf("geometric mean over %d reports, one-sided 95 %% bound to either side", len(s.reports))
}

// axis returns the ends of the vertical axis.
func (s summary) axis() (least, largest float64) {
	low, high := 1.0, 1.0 // of means
	least, largest = 0.9, 1.1
	for _, l := range s.lines {
		for _, e := range l.means {
			low, high = min(low, e.ratio()), max(high, e.ratio())
			least, largest = min(least, e.ratio()*0.95), max(largest, e.ratio()*1.05)
			if from, to := e.bounds(); !math.IsNaN(e.margin) {
				least, largest = min(least, from*0.95), max(largest, to*1.05)
			}
		}
	}
	return max(least, low/beyond), min(largest, high*beyond)
}

func ratioTicks(least, largest float64) []plot.Tick {
	digits := []float64{1, 1.5, 2, 3, 5, 7}
	if largest/least < 4 {
		digits = []float64{1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	}
	if largest/least > 100 {
		digits = []float64{1}
	}
	var all []plot.Tick
	for power := math.Floor(math.Log10(least)); power <= math.Log10(largest); power++ {
		for _, d := range digits {
			if tick := d * math.Pow(10, power); tick >= least && tick <= largest {
				all = append(all, plot.Tick{Value: tick, Label: fmt.Sprintf("%.3g", tick)})
			}
		}
	}
	return all
}

func (s summary) checkpointTicks() []plot.Tick {
	var all []plot.Tick
	for k, t := range s.reports[0].Checkpoints {
		all = append(all, plot.Tick{Value: float64(k), Label: fmt.Sprint(t)})
	}
	return all
}

// draw adds a strategy: a line with a mark and bounds at each checkpoint.
func (s summary) draw(p *plot.Plot, place int, least, largest float64) error {
	l := s.lines[place]
	ink, dash, group := picture.Line(place)
	aside := 0.0
	if n := len(s.lines); n > 1 {
		aside = spread * (float64(place)/float64(n-1) - 0.5)
	}
	var means plotter.XYs
	for k, e := range l.means {
		x := float64(k) + aside
		means = append(means, plotter.XY{X: x, Y: e.ratio()})
		if math.IsNaN(e.margin) {
			continue
		}
		low, high := e.bounds()
		bar, err := plotter.NewLine(plotter.XYs{{X: x, Y: max(low, least)}, {X: x, Y: min(high, largest)}})
		if err != nil {
			return err
		}
		bar.Color, bar.Width = color.NRGBA{R: ink.R, G: ink.G, B: ink.B, A: 130}, vg.Points(1)
		p.Add(bar)
	}
	lines, points, err := plotter.NewLinePoints(means)
	if err != nil {
		return err
	}
	lines.Color, lines.Width, lines.Dashes = ink, vg.Points(1), dash
	points.Color, points.Radius, points.Shape = ink, vg.Points(2.5), marks[group%len(marks)]
	p.Add(lines, points)
	p.Legend.Add(l.strategy+s.partly(l), lines, points)
	return nil
}
