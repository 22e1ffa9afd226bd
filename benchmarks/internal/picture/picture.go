// Package picture has the common parts of the benchmarks' pictures: colours and dashes of
// lines, and a legend beside them.
package picture

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Width is the width of a picture without its legend, which is to the right of the lines.
const Width = 7 * vg.Inch

const gap = vg.Inch / 8

// palette is that of Okabe and Ito (Color Universal Design, 2008), without yellow: its colours
// remain distinguishable with impaired colour vision.
var palette = []color.RGBA{
	{R: 0, G: 0, B: 0, A: 255},
	{R: 213, G: 94, B: 0, A: 255},
	{R: 0, G: 114, B: 178, A: 255},
	{R: 0, G: 158, B: 115, A: 255},
	{R: 204, G: 121, B: 167, A: 255},
	{R: 230, G: 159, B: 0, A: 255},
	{R: 86, G: 180, B: 233, A: 255},
}

var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)}}

// Line returns the colour and the dashes of the line with this index, from 0. Lines of one
// colour differ in their dashes; repeats is the number of earlier lines with the same colour.
func Line(place int) (ink color.RGBA, dash []vg.Length, repeats int) {
	repeats = place / len(palette)
	return palette[place%len(palette)], dashes[repeats%len(dashes)], repeats
}

// Save draws a plot of this height, with the legend beside it, into a file. The file's extension
// selects the format. Save writes only a complete picture.
func Save(p *plot.Plot, height vg.Length, path string) error {
	legend := p.Legend
	p.Legend = plot.NewLegend()
	size := legend.Rectangle(draw.Canvas{}).Size()
	beside := size.X + 2*gap
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	canvas, err := draw.NewFormattedCanvas(Width+beside, max(height, size.Y+2*gap), format)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	all := draw.New(canvas)
	p.Draw(draw.Crop(all, gap, -beside, 0, 0))
	legend.Draw(draw.Crop(all, Width+gap, 0, gap, -gap))
	var picture bytes.Buffer
	if _, err := canvas.WriteTo(&picture); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, picture.Bytes(), 0o644)
}
