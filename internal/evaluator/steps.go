package evaluator

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// Report stores values by step of a trial and returns the decision to stop its evaluation, or nil.
type Report func(steps []curves.Step) (*curves.Stop, error)

// Stopped is the error of an evaluation that ended early, with values by step and without an
// outcome.
type Stopped struct {
	Reason string // of the decision, or of the program if it decided itself; may be empty
}

// Error returns the reason.
func (s *Stopped) Error() string {
	if s.Reason == "" {
		return "stopped early, without a reason"
	}
	return "stopped early: " + s.Reason
}

// errNoSteps is the failure of a program that stopped itself before it had reported a value.
var errNoSteps = fmt.Errorf(`reported that it stopped early, without a value by step; expected lines such as {"step": 1, "value": 0.5} before`)

// reportPause is the minimum time between two reports of one trial. It limits how often a program
// that prints many steps makes the node write to its disk.
const reportPause = 20 * time.Millisecond

// steps passes the values by step of one evaluation on, in batches and in another goroutine, so that
// the output of the program never waits for it. The queue has only values that a Report accepts, of
// which a trial has at most curves.MaxSteps.
type steps struct {
	report Report
	again  bool              // an earlier attempt has reported values too
	stop   chan *curves.Stop // receives the first decision
	wake   chan struct{}     // has an element if the queue has values
	last   chan struct{}     // closed by end
	done   chan struct{}     // closed when all values are reported

	mu    sync.Mutex
	curve curves.Curve // accepted values, including those of earlier attempts
	queue []curves.Step
	full  bool     // further values are dropped
	kinds []string // of hints
	hints []string
}

// newSteps starts the goroutine that end ends. With a nil report the values are dropped.
func newSteps(trial Trial, report Report) *steps {
	s := &steps{
		report: report, again: trial.Attempt > 1 || len(trial.Steps) > 0, curve: trial.Steps, full: report == nil,
		stop: make(chan *curves.Stop, 1), wake: make(chan struct{}, 1), last: make(chan struct{}), done: make(chan struct{}),
	}
	go s.send()
	return s
}

// send reports the values in the queue until end is called.
func (s *steps) send() {
	defer close(s.done)
	decided := false
	for last := false; !last; {
		select {
		case <-s.wake:
		case <-s.last:
			last = true
		}
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		stop, err := s.report(batch)
		if err != nil {
			s.failed(err)
		}
		if stop != nil && !decided {
			decided = true
			s.stop <- stop
		}
		select {
		case <-time.After(reportPause):
		case <-s.last:
		}
	}
}

// failed drops further values after a failed report, such as that of a trial that has ended.
func (s *steps) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = true
	s.hint("values by step are not stored", "%v", err)
}

// end waits until all values are reported. It returns the hints about others, and whether the trial
// has values. No add may follow.
func (s *steps) end() (hints []string, some bool) {
	close(s.last)
	<-s.done
	return s.hints, len(s.curve) > 0
}

// dropping reports whether all further values are dropped.
func (s *steps) dropping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// add takes the value by step of a line. Each kind of wrong line gives one hint.
func (s *steps) add(a answer, line string) {
	step, err := readNumber(a.step)
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.costErr != nil && !s.full {
		s.hint(costHint, "%v", a.costErr)
	}
	switch {
	case s.full:
	case err != nil || step != math.Trunc(step) || step < 1 || step > curves.MaxStep:
		s.hint("a value is not stored at such a step", "printed %q; expected whole numbers from 1 to %d", shorten(line), curves.MaxStep)
	case a.valueErr != nil:
		s.hint("a value by step is not stored", "printed %q: %v; expected a finite number", shorten(line), a.valueErr)
	case len(s.curve) == curves.MaxSteps && uint64(step) > s.curve.Last().Step:
		s.full = true
		s.hint(fmt.Sprintf("values by step after the first %d are not stored", curves.MaxSteps), "the last is that of step %d; expected fewer, such as one in ten steps", s.curve.Last().Step)
	default:
		one := curves.Step{Step: uint64(step), Value: a.Value, Cost: a.Cost}
		curve, err := s.curve.Extend([]curves.Step{one}, s.again)
		if err != nil {
			s.hint("a value of an earlier step is not stored", "step %d after step %d; expected increasing steps", one.Step, s.curve.Last().Step)
		}
		if len(curve) > len(s.curve) {
			s.curve, s.queue = curve, append(s.queue, one)
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
}

// misprinted gives a hint about a line that was most likely meant as a value by step.
func (s *steps) misprinted(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hint("a line with a step is not stored", format, args...)
}

// hint adds a hint unless there is one of its kind. The caller holds the lock.
func (s *steps) hint(kind, format string, args ...any) {
	if slices.Contains(s.kinds, kind) {
		return
	}
	s.kinds = append(s.kinds, kind)
	s.hints = append(s.hints, sanitize.Text(kind+": "+fmt.Sprintf(format, args...), maxHint))
}

// printed reads a line of a command. Lines without a value by step are ignored.
func (s *steps) printed(line []byte, long bool) {
	if long || !bytes.Contains(line, []byte("step")) || s.dropping() {
		return
	}
	text := lastPart(string(line))
	if !strings.HasPrefix(text, "{") {
		return
	}
	switch a, err := readAnswer(text); {
	case err == nil && a.isStep():
		s.add(a, text)
	case err != nil && isMeantAsStep(text):
		s.misprinted("printed %q: %v", shorten(text), err)
	}
}

// isMeantAsStep reports whether a line that is not valid JSON seems to be meant as a value by step,
// for example a dictionary that Python has printed.
func isMeantAsStep(line string) bool {
	return strings.Contains(line, `'step':`) || strings.Contains(line, `"step":`)
}

// lastPart returns what follows a progress bar on a line.
func lastPart(line string) string {
	line = strings.TrimSpace(line)
	return strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:])
}

// lines is an io.Writer that splits output into lines of at most maxOutput bytes. Of longer ones it
// keeps the beginning.
type lines struct {
	each func(line []byte, long bool) // must not keep the line
	line []byte                       // the incomplete last line
	long bool
}

func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if len(l.line)+len(part) > maxOutput {
			l.long = true
		} else {
			l.line = append(l.line, part...)
		}
		if ended {
			l.end()
		}
	}
	return len(p), nil
}

// end ends the incomplete last line, if there is one.
func (l *lines) end() {
	line, long := l.line, l.long
	l.line, l.long = l.line[:0], false
	if len(line) > 0 || long {
		l.each(line, long)
	}
}
