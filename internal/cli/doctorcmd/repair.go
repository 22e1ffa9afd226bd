package doctorcmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

func (o options) runRepair(out io.Writer, wanted string) error {
	if wanted != "" || len(o.listen) > 0 || len(o.peers) > 0 || o.invite != "" {
		return base.Usagef("--repair takes no TASK, --listen, --peer or --invite: it checks nothing else")
	}
	dir, err := base.ResolveDataDir(o.dir)
	if err != nil {
		return err
	}
	repaired, err := store.Repair(dir, all.Strategies(), time.Now())
	const what = "journal"
	switch {
	case errors.Is(err, store.ErrSound):
		return showFindings(out, []finding{ok(what, "whole: nothing to repair")}, nil, o.json)
	case errors.Is(err, node.ErrBusy):
		return showFindings(out, []finding{fail(what, "stop that process first", "%v", err)}, nil, o.json)
	case errors.Is(err, store.ErrUnrepairable):
		return showFindings(out, []finding{fail(what, "restore it from a backup, or move it away to begin anew", "%v", err)}, nil, o.json)
	case err != nil:
		return err
	}
	return showFindings(out, append(repairFindings(repaired), checkJournal(dir, nil)), &repaired, o.json)
}

// repairFindings reports the damage found and the repairs.
func repairFindings(r store.Repaired) []finding {
	findings := []finding{warn("damage", "", "%s", r.Damage)}
	if r.KeptAs != "" {
		findings = append(findings, ok("damaged file", "kept as %s", r.KeptAs))
	}
	if r.Copied != nil {
		findings = append(findings, ok("journal's copy", "of %s was used", r.Copied.Format(time.DateTime)))
	} else {
		findings = append(findings, warn("journal's copy", "", "none that is whole: all is from the damaged file"))
	}
	for _, task := range r.Tasks {
		findings = append(findings, taskFinding(task))
	}
	for _, id := range r.Lost {
		findings = append(findings, warn("lost", "keep the damaged file", "%s: too little is readable to restore it", sanitize.Text(id, 200)))
	}
	return findings
}

func taskFinding(t store.RepairedTask) finding {
	text := "of another program"
	if t.Name != "" {
		text = fmt.Sprintf("%q, %s, %d with an outcome", t.Name, sanitize.Count(t.Trials, "trial"), t.Outcomes)
	}
	parts := []string{fmt.Sprintf("%s: %s; %s newer than the copy", t.ID, text, sanitize.Count(t.Newer, "record"))}
	grade := gradeOK
	add := func(format string, args ...any) {
		grade = gradeWarn
		parts = append(parts, fmt.Sprintf(format, args...))
	}
	if t.Imported > 0 {
		add("%s of these with another number, as imported ones", sanitize.Count(t.Imported, "trial"))
	}
	if t.Dropped > 0 {
		add("%s dropped for depending on missing records", sanitize.Count(t.Dropped, "record"))
	}
	if t.Conflict {
		add("the damaged file contradicts the copy, so the copy alone was used")
	}
	if t.Private {
		add("it releases nothing more, since releases may be missing")
	}
	return found(grade, "task", "", "%s", strings.Join(parts, "; "))
}
