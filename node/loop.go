package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/ratelimitlog"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
)

// waiter is a condition with the channel on which a caller waits for it.
type waiter struct {
	ready func() bool // the loop calls it
	done  chan struct{}
}

type call struct {
	run  func(now time.Time)
	done chan struct{}
}

type result struct {
	work  uint64
	value any
}

// loop runs the session until it is closed or fails. Only this goroutine uses the agent.
func (s *Session) loop() {
	defer close(s.ended)
	defer s.works.cancel()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		var waiting chan struct{}
		select {
		case c := <-s.calls:
			c.run(time.Now())
			waiting = c.done
		case r := <-s.results:
			s.agent.Done(time.Now(), r.work, r.value)
		case <-wake.C:
			s.agent.Tick(time.Now())
		case <-s.memory.Due():
			s.memory.Begin(s.cachedShares(time.Now()))
		case written := <-s.memory.Written():
			if err := s.memory.Ended(written); err != nil {
				s.warnNotCached(err)
			}
		case <-s.closing:
			s.agent.Stop(time.Now())
			s.failure = s.carryOut(s.agent.Ready(), wake)
			s.cacheShares()
			if s.failure == nil {
				s.failure = ErrClosed
			}
			return
		}
		if err := s.carryOut(s.agent.Ready(), wake); err != nil {
			s.failure = err
			if s.options.OnFailure != nil {
				s.options.OnFailure(err)
			} else {
				s.node.warn(err.Error())
			}
			s.cacheShares()
			return
		}
		if waiting != nil {
			close(waiting)
		}
		s.settle()
	}
}

// settle closes the channels of the waiters whose condition is true, and removes these waiters.
func (s *Session) settle() {
	s.awaited = slices.DeleteFunc(s.awaited, func(a waiter) bool {
		if !a.ready() {
			return false
		}
		close(a.done)
		return true
	})
}

// await returns when ready returns true. The loop calls ready after every event.
func (s *Session) await(ctx context.Context, ready func() bool) error {
	done := make(chan struct{})
	if err := s.do(ctx, func(time.Time) { s.awaited = append(s.awaited, waiter{ready, done}) }); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-s.ended:
		return s.failure
	case <-ctx.Done():
		return ctx.Err()
	}
}

// carryOut carries out the outputs of the agent in the safe order: records before messages. After an
// error the agent's state is ahead of the disk, and the session must end.
func (s *Session) carryOut(ready agent.Ready, wake *time.Timer) error {
	if err := s.write(ready.Records); err != nil {
		return fmt.Errorf("task %q stops, because its journal cannot be written: %w; nothing acknowledged is lost, start again when the disk is well", s.task.Name, err)
	}
	for _, share := range ready.Publish {
		s.metrics.shareSent(share.Kind)
		s.topic.Publish(share)
	}
	for _, message := range ready.Send {
		s.topic.Send(message)
	}
	if len(ready.Fetch) > 0 {
		s.topic.FetchAuthors(ready.Fetch)
	}
	for _, answer := range ready.Answers {
		s.waiting[answer.Request] <- answer // the channel has a buffer of one
		delete(s.waiting, answer.Request)
	}
	for _, work := range ready.Work {
		s.works.start(work.Name, func(ctx context.Context) { s.finish(result{work.ID, work.Run(ctx)}) })
	}
	for _, event := range ready.Events {
		s.metrics.event(event, time.Now())
		if event.Type == agent.Warning {
			s.warn(event.Message)
			if event.Stack != "" {
				s.logger.Error("panic", "warning", event.Message, "stack", event.Stack)
			}
		} else if s.options.OnEvent != nil {
			s.options.OnEvent(event)
		}
	}
	s.memory.Note(ready.PeerShares)
	if ready.Wake.IsZero() {
		wake.Stop()
	} else {
		wake.Reset(time.Until(ready.Wake))
	}
	return nil
}

// warn passes warnings of the agent to the user at a limited rate, since peers can cause any number
// of them.
func (s *Session) warn(message string) {
	left, ok := s.warned.Allow(ratelimitlog.Shape(message), "")
	if !ok {
		return
	}
	if left > 0 {
		message += fmt.Sprintf(" (and %s more like it)", sanitize.Count(left, "warning"))
	}
	s.node.warn(message)
}

// logPanic logs the stack if err wraps a panic.
func (s *Session) logPanic(err error) {
	var p *recoverpanic.Panic
	if errors.As(err, &p) {
		s.logger.Error("panic", "error", err, "stack", string(p.Stack))
	}
}

func (s *Session) write(records []agent.Record) error {
	if len(records) == 0 {
		return nil
	}
	entries, err := store.EntriesOf(records)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := s.log.Append(entries...); err != nil {
		return err
	}
	s.metrics.appended(time.Since(begun))
	s.node.store.BackUpAfter(records, s.node.warn)
	return nil
}

func (s *Session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *Session) finish(r result) {
	select {
	case s.results <- r:
	case <-s.ended:
	}
}

// do runs a function in the loop. It returns once all resulting records are on disk.
func (s *Session) do(ctx context.Context, run func(now time.Time)) error {
	if ctx == nil {
		return needsContext("a method of Session")
	}
	c := call{run, make(chan struct{})}
	select {
	case s.calls <- c:
	case <-s.ended:
		return s.failure
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-c.done:
		return nil
	case <-s.ended:
		return s.failure
	}
}
