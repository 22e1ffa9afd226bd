package agent

import (
	"fmt"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// Annotate changes the annotations of a trial in any state. Strategies and exchanges do not get
// annotations, so no share has them. Errors: ErrUnknownTrial, strategy.ErrBadAnnotation.
func (a *Agent) Annotate(now time.Time, id uint64, change strategy.AnnotationChange) error {
	changed, err := a.trials.annotated(now, id, change, a.record)
	if changed {
		annotated := a.trials.list[id-1]
		a.event(Event{Type: TrialAnnotated, Trial: &annotated})
	}
	return err
}

// addBefore adds a cost and annotations to a trial that is about to end. The event of the end has
// them. If the trial has ended, the report is a repetition, whose notes are not added again. After an
// error nothing has changed.
func (a *Agent) addBefore(now time.Time, id uint64, cost *float64, added strategy.Annotations, ended bool) error {
	if err := checkCost(id, cost); err != nil {
		return err
	}
	if err := a.annotateBefore(now, id, added, ended); err != nil {
		return err
	}
	return a.ReportCost(id, cost)
}

func (a *Agent) annotateBefore(now time.Time, id uint64, added strategy.Annotations, ended bool) error {
	if !strategy.HasAnnotations(added) {
		return nil
	}
	if ended {
		added.Notes = nil
		return a.Annotate(now, id, strategy.Adding(added))
	}
	_, err := a.trials.annotated(now, id, strategy.Adding(added), a.record)
	return err
}

// annotated makes and records a change of a trial's annotations, unless nothing would change.
func (t *trials) annotated(now time.Time, id uint64, change strategy.AnnotationChange, record func(Record)) (changed bool, err error) {
	trial, err := t.get(id)
	if err != nil {
		return false, err
	}
	annotations, err := change.Apply(trial.Annotations, now)
	if err != nil {
		return false, fmt.Errorf("trial %d: %w", id, err)
	}
	if strategy.SameAnnotations(annotations, trial.Annotations) {
		return false, nil
	}
	record(Record{Annotate: &AnnotateRecord{ID: id, Annotations: annotations}})
	return true, nil
}

func (t *trials) annotate(r AnnotateRecord) error {
	trial, err := t.get(r.ID)
	if err != nil {
		return err
	}
	if err := strategy.CheckAnnotations(r.Annotations); err != nil {
		return fmt.Errorf("trial %d: %w", r.ID, err)
	}
	trial.Annotations = r.Annotations
	return nil
}

// withoutAnnotations removes the annotations from trials, in place.
func withoutAnnotations(trials []strategy.Trial) []strategy.Trial {
	for i := range trials {
		trials[i].Annotations = strategy.Annotations{}
	}
	return trials
}
