package democmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Report is the demo's result, as demo --json prints it.
type Report struct {
	Strategy string       `json:"strategy"`
	Similar  bool         `json:"similar"` // whether the sites are
	Seconds  float64      `json:"seconds"`
	Seeds    []seedReport `json:"seeds"`
	Scenes   []scene      `json:"scenes"`
}

type seedReport struct {
	Seed  uint64       `json:"seed"`
	Sites []siteReport `json:"sites"` // the last one is that of scene two
}

type siteReport struct {
	WithPeers runReport `json:"with_peers"`
	Alone     runReport `json:"alone"`
	// Lowest is the lowest loss that a long search or one of the two runs has found; nil without
	// --regret.
	Lowest *float64 `json:"lowest,omitempty"`
}

// runReport is the result of one node.
type runReport struct {
	PeerID     string          `json:"peer_id"`
	Best       json.RawMessage `json:"best"`        // design
	Curve      []float64       `json:"curve"`       // lowest loss after each evaluation
	Designs    []string        `json:"designs"`     // evaluated designs
	UsedShares int             `json:"used_shares"` // number of designs that used peers' shares
	BytesSent  int64           `json:"bytes_sent"`
}

func (r *runReport) add(t trial, loss float64) {
	best := loss
	if n := len(r.Curve); n > 0 && r.Curve[n-1] <= loss {
		best = r.Curve[n-1]
	} else {
		r.Best = t.Parameters
	}
	r.Curve, r.Designs = append(r.Curve, best), append(r.Designs, string(t.Parameters))
	if t.Why.FromPeers() {
		r.UsedShares++
	}
}

// scene is the summary of one scene over the seeds.
type scene struct {
	Sites  int    `json:"sites"`  // of all seeds
	Better int    `json:"better"` // number of sites with a lower final loss with peers
	Worse  int    `json:"worse"`
	Curves curves `json:"curves"`
	// Share is the fraction of sites that were better with peers, ties counting half. Ratio is the
	// geometric mean over seeds of the regret with peers divided by that alone.
	Share estimate  `json:"share"`
	Ratio *estimate `json:"regret_ratio,omitempty"`
	// Regrets are means over seeds.
	Regrets *[2]estimate `json:"regrets,omitempty"` // with peers, alone
}

// estimate is a mean over seeds with its standard error, which is 0 for one seed.
type estimate struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"standard_error"`
}

func estimateOf(values []float64) estimate {
	if len(values) == 1 {
		return estimate{Mean: values[0]}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return estimate{mean, stat.StdErr(deviation, float64(len(values)))}
}

// leastRegret counts in ratios for regrets below it.
const leastRegret = 0.01

// summarize sets the scenes of the seeds.
func (r *Report) summarize() {
	r.Scenes = []scene{newScene(r.Seeds, 0, sites-1), newScene(r.Seeds, sites-1, sites)}
}

// newScene returns the summary of the sites from and below until.
func newScene(seeds []seedReport, from, until int) (s scene) {
	var withPeers, alone [][]float64
	var share, logRatio []float64
	var regrets [2][]float64
	for _, seed := range seeds {
		half, sums, known := 0.0, [2]float64{}, true
		for _, site := range seed.Sites[from:until] {
			withPeers, alone = append(withPeers, site.WithPeers.Curve), append(alone, site.Alone.Curve)
			a, b := last(site.WithPeers.Curve), last(site.Alone.Curve)
			switch {
			case a < b:
				s.Better++
				half += 2
			case a > b:
				s.Worse++
			default:
				half++
			}
			if known = known && site.Lowest != nil; known {
				sums[0] += (a - *site.Lowest) / float64(until-from)
				sums[1] += (b - *site.Lowest) / float64(until-from)
			}
		}
		share = append(share, half/2/float64(until-from))
		if known {
			logRatio = append(logRatio, math.Log(max(sums[0], leastRegret)/max(sums[1], leastRegret)))
			regrets[0], regrets[1] = append(regrets[0], sums[0]), append(regrets[1], sums[1])
		}
	}
	s.Sites, s.Curves, s.Share = len(alone), curves{meanCurve(withPeers), meanCurve(alone)}, estimateOf(share)
	if len(logRatio) > 0 {
		log := estimateOf(logRatio)
		s.Ratio = &estimate{math.Exp(log.Mean), math.Exp(log.Mean) * log.Error}
		s.Regrets = &[2]estimate{estimateOf(regrets[0]), estimateOf(regrets[1])}
	}
	return s
}

// The size of a plot, of which two are side by side.
const (
	plotRows  = 6
	plotWidth = 38
)

// write prints the result for people, within 24 lines of 80 characters together with the two lines
// before it and the prompt, unless regrets are added.
func (r Report) write(out io.Writer) {
	fmt.Fprintf(out, "%-43s with peers    alone\n", "Best loss, mean of "+sanitize.Count(len(r.Seeds), "seed"))
	for i := range sites {
		var a, b float64
		for _, seed := range r.Seeds {
			a += last(seed.Sites[i].WithPeers.Curve) / float64(len(r.Seeds))
			b += last(seed.Sites[i].Alone.Curve) / float64(len(r.Seeds))
		}
		row := fmt.Sprintf("  scene %s, site %d, %s", sceneNames[i/(sites-1)], i+1, sanitize.Count(len(r.Seeds[0].Sites[i].Alone.Curve), "evaluation"))
		fmt.Fprintf(out, "%-43s %10.4f %8.4f\n", row, a, b)
	}
	fmt.Fprintln(out, "Mean best loss after each evaluation (p with peers, a alone, * both):")
	one, two := r.Scenes[0].Curves.plot(plotRows, plotWidth), r.Scenes[1].Curves.plot(plotRows, plotWidth)
	for i := range one {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s %s", plotWidth, one[i], two[i]), " "))
	}
	for i, s := range r.Scenes {
		fmt.Fprintln(out, s.sentence(sceneNames[i]))
		if s.Ratio != nil {
			fmt.Fprintln(out, s.figures())
		}
	}
	if r.Similar && r.Strategy == Strategies()[0] && len(r.Scenes[0].Curves.Alone) == defaultEvals {
		fmt.Fprint(out, dissimilarSites)
	}
	fmt.Fprintf(out, "This took %.0f s. The same seeds give the same losses again on this machine.\n", r.Seconds)
}

var sceneNames = []string{"one", "two"}

// dissimilarSites has the measured result of dissimilar sites with the default strategy and number of
// evaluations.
const dissimilarSites = `Of dissimilar sites, in twenty seeds, 53 ± 6 % ended better in scene one,
85 ± 8 % in scene two (demo --dissimilar, docs/experiments/demo.md).
`

// sentence compares the runs of a scene.
func (s scene) sentence(name string) string {
	first, second, with, other := s.Curves.WithPeers, s.Curves.Alone, "with peers", "alone"
	if after(first, last(second)) == 0 {
		first, second, with, other = second, first, other, with
	}
	return fmt.Sprintf("Scene %s: %s %s reached the mean loss of %d %s;\n  with peers %d of %s ended better, %d worse.",
		name, with, sanitize.Count(after(first, last(second)), "evaluation"), len(second), other, s.Better, sanitize.Count(s.Sites, "site"), s.Worse)
}

// figures has the estimates with errors.
func (s scene) figures() string {
	return fmt.Sprintf("  Better: %.0f ± %.0f %%, ties half. Regret: %.3f ± %.3f, alone %.3f ± %.3f;\n  ratio %.2f ± %.2f.",
		100*s.Share.Mean, 100*s.Share.Error, s.Regrets[0].Mean, s.Regrets[0].Error, s.Regrets[1].Mean, s.Regrets[1].Error, s.Ratio.Mean, s.Ratio.Error)
}
