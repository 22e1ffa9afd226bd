package coarsen

import (
	"fmt"
	"math"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// maxNamed is the maximum number of parameters that Reveals names.
const maxNamed = 10

// Reveals describes, for people, what a node discloses that shares coarse designs of a space.
func Reveals(space *task.Space) string {
	return reveals(space, "the approximate location of this node's estimated optimum", "Known attacks find no more (docs/privacy.md); this is no proof.")
}

// RevealsFront is Reveals for shares with up to this number of designs of a Pareto front.
func RevealsFront(space *task.Space, designs int) string {
	return reveals(space, fmt.Sprintf("the approximate locations of up to %d designs on this node's Pareto front", designs),
		"That discloses more than one optimum; docs/privacy.md has the attacks.")
}

func reveals(space *task.Space, what, attacks string) string {
	var cells []string
	for i, p := range space.Parameters() {
		if space.Blocks()[i].Len > 1 || space.Blocks()[i].Kind != task.Categorical { // not fixed
			cells = append(cells, p.Name+" "+cellText(space, i))
		}
	}
	if more := len(cells) - maxNamed; more > 0 {
		cells = append(cells[:maxNamed], fmt.Sprintf("and %d more parameters likewise", more))
	}
	return "Peers receive " + what + " (" + strings.Join(cells, ", ") +
		"; a cell at an end of a range may be narrower) and the number of results behind it, never a result. " + attacks
}

// cellText describes the width of the cells of a parameter, for people.
func cellText(space *task.Space, parameter int) string {
	block := space.Blocks()[parameter]
	if block.Kind == task.Categorical {
		return fmt.Sprintf("itself with probability %g", 1-OtherChoice)
	}
	c := cellsOf(space, parameter)
	switch inCell := c.part() * float64(block.Count); {
	case block.Kind == task.Int && inCell <= 1:
		return "itself"
	case block.Kind == task.Int && block.Count <= 64 && c.scale == "linear":
		return fmt.Sprintf("to %g or %g of %d values", math.Floor(inCell), math.Ceil(inCell), block.Count)
	case c.scale == "log":
		return fmt.Sprintf("to a factor of %.2g", math.Exp(c.width))
	}
	return fmt.Sprintf("to %.2g", c.width)
}

// DisclosesMore describes, in sentences for people, what an edited task file discloses in addition
// to the former one. It returns nil if the cells are the same or wider.
func DisclosesMore(former, edited *task.Space) (lines []string) {
	var narrower, renamed []string
	for i, p := range edited.Parameters() {
		if edited.Blocks()[i].Kind == task.Categorical {
			continue
		}
		now := cellsOf(edited, i)
		was, ok := cellsNamed(former, p.Name)
		switch {
		case !ok:
			if likeUnnamed(former, edited) {
				renamed = append(renamed, p.Name)
			}
		case was.scale != now.scale:
			renamed = append(renamed, p.Name)
		case now.level < was.level:
			narrower = append(narrower, fmt.Sprintf("%s %s", p.Name, cellText(edited, i)))
		}
	}
	if len(narrower) > 0 {
		lines = append(lines, "narrower bounds disclose more of the optimum than before: "+strings.Join(narrower, ", "))
	}
	if len(renamed) > 0 {
		lines = append(lines, fmt.Sprintf("%s of another name or scale %s cells of its own: where the same optimum was shared under the former name, both cells together give it to about %.0f %% of the error of one",
			sanitize.Count(len(renamed), "parameter"), map[bool]string{true: "has", false: "have each"}[len(renamed) == 1], 100*twoGrids))
	}
	return lines
}

// twoGrids is the ratio of two median errors. The first is that of the middle of the intersection
// of two cells of independent grids, the second that of the middle of one cell.
// TestTwoGridsNarrowAPlace measures it.
const twoGrids = 0.66

func cellsNamed(space *task.Space, name string) (cells, bool) {
	for i, p := range space.Parameters() {
		if p.Name == name && space.Blocks()[i].Kind != task.Categorical {
			return cellsOf(space, i), true
		}
	}
	return cells{}, false
}

// likeUnnamed reports whether a new numeric parameter of the edited file may be a renamed one: the
// former file has a numeric parameter that the edited file lacks.
func likeUnnamed(former, edited *task.Space) bool {
	for i, p := range former.Parameters() {
		if _, kept := cellsNamed(edited, p.Name); !kept && former.Blocks()[i].Kind != task.Categorical {
			return true
		}
	}
	return false
}
