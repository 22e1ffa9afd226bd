package democmd

import (
	"fmt"
	"io"
	"sync"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// A screen of 24 lines of 80 characters has room for this number of nodes beside the curves.
const (
	screenRows  = 8
	screenWidth = 79
)

// screen shows the demo's nodes: on a terminal in a table that it overwrites, elsewhere in a line
// for each of the two parts, with the table once at the end.
type screen struct {
	mu    sync.Mutex
	out   io.Writer
	live  bool
	nodes []screenNode
	drawn int // number of lines of the table on the terminal
}

// screenNode is a row of the table.
type screenNode struct {
	together, alone screenCell
	last            string // its last event
}

type screenCell struct {
	evaluations int
	best        string
}

func newScreen(out io.Writer, live bool, nodes int) *screen {
	return &screen{out: out, live: live, nodes: make([]screenNode, nodes)}
}

func (s *screen) begin(together bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.live:
		s.draw()
	case together:
		fmt.Fprintln(s.out, "Together, one node after the other …")
	default:
		fmt.Fprintln(s.out, "The same nodes, each alone …")
	}
}

// trial shows a trial that has ended, and the number of evaluations with an outcome.
func (s *screen) trial(i int, together bool, evaluations int, e nodeEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := &s.nodes[i]
	cell := &node.alone
	if together {
		cell = &node.together
	}
	cell.evaluations = evaluations
	if e.Best != nil {
		cell.best = fmt.Sprintf("%.4f", e.Best.Outcome.Value)
	}
	node.last = e.Trial.Why.String()
	if e.Trial.Outcome == nil {
		node.last = "failed: " + sanitize.Text(e.Trial.Reason, render.MaxReason)
	}
	if s.live {
		s.draw()
	}
}

func (s *screen) warning(i int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "node %d: warning: %s\n", i, sanitize.Lines(message))
	s.drawn = 0
}

// page shows the link of a node's page.
func (s *screen) page(i int, link string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "page of node %d: %s\n", i, link)
	s.drawn = 0
}

// end leaves the table on the screen.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		for _, line := range s.table() {
			fmt.Fprintln(s.out, line)
		}
	}
}

// draw writes the table over the one drawn before.
func (s *screen) draw() {
	if s.drawn > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA", s.drawn)
	}
	lines := s.table()
	for _, line := range lines {
		fmt.Fprintf(s.out, "\x1b[2K%s\n", line)
	}
	s.drawn = len(lines)
}

// table returns a line for each node, as far as there is room, below a heading.
func (s *screen) table() []string {
	lines := []string{"node  together: made, best   alone: made, best   last design"}
	for i, n := range s.nodes {
		if i == screenRows-1 && len(s.nodes) > screenRows {
			lines = append(lines, fmt.Sprintf("… and %d more", len(s.nodes)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%4d  %14d  %8s   %11d  %7s   %s", i,
			n.together.evaluations, n.together.best, n.alone.evaluations, n.alone.best, n.last))
	}
	for i, line := range lines {
		lines[i] = base.Cut(line, screenWidth)
	}
	return lines
}
