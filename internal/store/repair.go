package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
)

// ErrSound means that the journal is undamaged, so there is nothing to repair.
var ErrSound = errors.New("the journal is whole")

// Repaired describes a finished repair.
type Repaired struct {
	Damage string         `json:"damage"`            // description of the damage
	KeptAs string         `json:"kept_as,omitempty"` // path under which the damaged file is kept; empty if the journal was missing
	Copied *time.Time     `json:"copied,omitempty"`  // time at which the copy in use was made; nil: there was no readable copy
	Tasks  []RepairedTask `json:"tasks"`
	Lost   []string       `json:"lost,omitempty"` // tasks with too few readable records to restore them, by their names in the journal
}

// RepairedTask describes a task in a repaired journal.
type RepairedTask struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"` // empty if only another program can read the task
	Trials   int    `json:"trials"`
	Outcomes int    `json:"outcomes"`
	Newer    int    `json:"newer"`              // number of records from the damaged file that the copy did not have
	Imported int    `json:"imported,omitempty"` // number of trials that have got another number
	Dropped  int    `json:"dropped,omitempty"`  // number of records that were dropped, because they depend on missing records
	Conflict bool   `json:"conflict,omitempty"` // the damaged file contradicts the copy, so only the copy was used
	Private  bool   `json:"private,omitempty"`  // the task has a privacy budget; the node makes no further DP releases on it
}

// repairMark is the mark that a repair leaves in the journal for later starts.
type repairMark struct {
	Repaired   time.Time `json:"repaired"`
	AfterEpoch uint64    `json:"after_epoch"` // larger than the epoch of any task before the repair
}

// skippedEpochs is the number of epochs that a repair skips. It exceeds the number of starts that
// can have occurred since the copy was made. Peers accept any later epoch.
const skippedEpochs = 1 << 20

func (m *repairMark) unaccounted() string {
	return fmt.Sprintf("its journal was damaged, and repaired on %s, so the earlier releases of the node are unknown; tasks without a privacy guarantee continue", m.Repaired.UTC().Format(time.DateOnly))
}

// repairOf returns the repair mark in a journal; nil if there is none.
func repairOf(j *journal.Journal) (*repairMark, error) {
	data, err := j.Mark()
	if data == nil || err != nil {
		return nil, err
	}
	var m repairMark
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s is %w: the mark of its repair: %w", j.Path(), journal.ErrDamaged, err)
	}
	return &m, nil
}

// Repair replaces a damaged or missing journal by a new one. The new journal has all records of the
// copy that the last start or end made, and the newer records of the damaged file that are
// readable. The damaged file is kept beside the journal, with "damaged" in its name. No node may
// run in the directory.
//
// After a repair, peers treat the node's shares as newer than all earlier ones. The node makes no
// further DP releases on tasks with a privacy budget, because the journal may lack some.
//
// Errors: ErrSound, journal.ErrBusy, ErrUnrepairable. After an error the journal is unchanged.
func Repair(dir string, strategies strategy.Set, now time.Time) (Repaired, error) {
	if err := datadir.Check(dir); err != nil {
		return Repaired{}, err
	}
	path := filepath.Join(dir, JournalFile)
	damage := damageOf(path, strategies)
	switch {
	case damage == nil:
		return Repaired{}, ErrSound
	case errors.Is(damage, fs.ErrNotExist):
		if damage = checkLost(dir); damage == nil {
			return Repaired{}, fmt.Errorf("%s has no journal and no copy of one: %w", dir, fs.ErrNotExist)
		}
	case !errors.Is(damage, journal.ErrDamaged):
		return Repaired{}, describeLockHolder(dir, damage)
	default:
		unlock, err := journal.Lock(path, lockTimeout)
		if err != nil {
			return Repaired{}, describeLockHolder(dir, err)
		}
		defer unlock()
	}
	r := repair{dir: dir, strategies: strategies, report: Repaired{Damage: damage.Error()}}
	if err := r.read(); err != nil {
		return Repaired{}, err
	}
	if err := r.merge(); err != nil {
		return Repaired{}, err
	}
	return r.report, r.write(now)
}

// damageOf returns the error that a node's start would return for a journal.
func damageOf(path string, strategies strategy.Set) error {
	opened, err := journal.OpenReadOnly(path, readTimeout)
	if err != nil {
		return err
	}
	defer opened.Close()
	_, err = repairOf(opened)
	_, unread := checkTasks(opened, strategies)
	return errors.Join(err, unread)
}

// repair holds the state of a repair in progress.
type repair struct {
	dir        string
	strategies strategy.Set

	copied, found journal.Salvaged
	logs          map[string][]journal.Entry
	epoch         uint64 // latest epoch found so far
	report        Repaired
}

// CheckCopy reads the copy of a directory's journal and returns the time at which the copy was
// made. The error wraps fs.ErrNotExist if there is no copy, and journal.ErrDamaged if Repair cannot
// use it.
func CheckCopy(dir string, strategies strategy.Set) (made time.Time, err error) {
	path := filepath.Join(dir, CopyFile)
	if err := damageOf(path, strategies); err != nil {
		return time.Time{}, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// read reads the copy and the damaged file.
func (r *repair) read() error {
	path := filepath.Join(r.dir, JournalFile)
	made, err := CheckCopy(r.dir, r.strategies)
	if err == nil {
		r.report.Copied = &made
		r.copied, err = journal.Salvage(filepath.Join(r.dir, CopyFile))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, journal.ErrDamaged) {
		return err // after such an error the copy may still be undamaged
	}
	if r.found, err = journal.Salvage(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, data := range [][]byte{r.copied.Mark, r.found.Mark} {
		var m repairMark
		if json.Unmarshal(data, &m) == nil {
			r.epoch = max(r.epoch, m.AfterEpoch)
		}
	}
	return nil
}

// merge creates the new logs of all tasks.
func (r *repair) merge() error {
	r.logs = map[string][]journal.Entry{}
	newer := map[string][]journal.Piece{}
	for name, pieces := range r.found.Logs {
		id, readable := r.taskIn(name, pieces)
		if _, known := r.copied.Logs[id]; newer[id] != nil || !known && !readable {
			r.report.Lost = append(r.report.Lost, name)
			continue
		}
		newer[id] = pieces
	}
	ids := slices.AppendSeq(slices.Collect(maps.Keys(newer)), maps.Keys(r.copied.Logs))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := r.mergeTask(id, r.copied.Logs[id], newer[id]); err != nil {
			return err
		}
	}
	slices.Sort(r.report.Lost)
	if len(r.logs) == 0 {
		return fmt.Errorf("%s: nothing can be restored, neither from it nor from a copy; restore it from a backup, or move it away to begin anew: %w",
			filepath.Join(r.dir, JournalFile), ErrUnrepairable)
	}
	return nil
}

// ErrUnrepairable means that neither the journal nor its copy contains a readable task.
var ErrUnrepairable = errors.New("beyond repair")

// taskIn returns the ID of the task to which entries belong. It takes the ID from their record of
// the task, because the name of their log may be damaged. It returns the name if there is no such
// record.
func (r *repair) taskIn(name string, pieces []journal.Piece) (id string, readable bool) {
	id = name
	for _, piece := range pieces {
		record, err := agent.DecodeRecord(piece.Data)
		if err != nil || record.Task == nil {
			continue
		}
		readable = true // even if only another program can read the task itself
		if t, err := r.strategies.ParseCanonical("journal", record.Task.File); err == nil {
			id = t.ID().String()
		}
	}
	return id, readable
}

// mergeTask creates the new log of a task: the whole log of the copy, followed by the later entries
// of the damaged file.
func (r *repair) mergeTask(id string, copied, found []journal.Piece) error {
	task := RepairedTask{ID: id, Conflict: !agree(copied, found)}
	if task.Conflict {
		found = nil
	}
	pieces, gap := slices.Clone(copied), -1 // gap is the number of pieces before the first gap
	for _, piece := range found {
		if len(copied) > 0 && piece.Index <= copied[len(copied)-1].Index {
			continue
		}
		if piece.Gap && gap < 0 {
			gap = len(pieces)
		}
		pieces = append(pieces, piece)
	}
	task.Newer = len(pieces) - len(copied)
	if gap < 0 {
		gap = len(pieces)
	}
	pieces, complete, base := newestOfKeys(pieces, gap, len(copied))
	records := make([]agent.Record, len(pieces))
	for i, piece := range pieces {
		record, err := agent.DecodeRecord(piece.Data)
		if err != nil {
			return fmt.Errorf("task %s: %w; a newer version of fbo may have written it, and can repair it", id, err)
		}
		records[i] = record
		if record.Epoch != nil {
			r.epoch = max(r.epoch, record.Epoch.Epoch)
		}
	}
	mended, err := agent.Repair(records, complete, r.strategies)
	if err != nil && base < complete {
		mended, err = agent.Repair(records, base, r.strategies) // records are missing although no gap was found
	}
	if _, unknown := errors.AsType[*strategy.UnknownError](err); unknown {
		// Without the task's strategy, this program cannot decide which records after a gap are
		// valid. It keeps only those before the gap.
		mended = agent.Repaired{Keep: make([]bool, len(pieces)), Dropped: len(pieces) - complete}
		for i := range complete {
			mended.Keep[i] = true
		}
	} else if err != nil {
		return r.copyAlone(id, copied, task)
	}
	var entries []journal.Entry
	for i, piece := range pieces {
		if mended.Keep[i] {
			entries = append(entries, piece.Entry)
		}
	}
	for _, record := range mended.Add {
		data, err := record.Encode()
		if err != nil {
			return err
		}
		entries = append(entries, journal.Entry{Key: record.Key(), Data: data})
	}
	task.Imported, task.Dropped = mended.Imported, mended.Dropped
	r.add(task, entries, mended.History)
	return nil
}

// copyAlone creates the new log of a task from the copy alone.
func (r *repair) copyAlone(id string, copied []journal.Piece, task RepairedTask) error {
	if len(copied) == 0 {
		r.report.Lost = append(r.report.Lost, id)
		return nil
	}
	var entries []journal.Entry
	var records []agent.Record
	for _, piece := range copied {
		record, err := agent.DecodeRecord(piece.Data)
		if err != nil {
			return fmt.Errorf("task %s: %w", id, err)
		}
		entries, records = append(entries, piece.Entry), append(records, record)
	}
	history, err := agent.ReadHistory(records, r.strategies)
	if err != nil {
		return fmt.Errorf("task %s in the copy: %w", id, err)
	}
	task.Newer, task.Conflict = 0, true
	r.add(task, entries, history)
	return nil
}

// add adds the new log of a task to the result and the report.
func (r *repair) add(task RepairedTask, entries []journal.Entry, h agent.History) {
	if h.Task != nil {
		task.Name, task.Private, task.Trials = h.Task.Name, h.Task.Privacy != nil, len(h.Trials)
		for _, trial := range h.Trials {
			if trial.Outcome != nil {
				task.Outcomes++
			}
		}
	}
	r.logs[task.ID] = entries
	r.report.Tasks = append(r.report.Tasks, task)
}

// agree reports whether two logs have the same entries at all indices that occur in both.
func agree(copied, found []journal.Piece) bool {
	known := map[uint64]journal.Piece{}
	for _, piece := range copied {
		known[piece.Index] = piece
	}
	for _, piece := range found {
		if other, ok := known[piece.Index]; ok && (other.Key != piece.Key || string(other.Data) != string(piece.Data)) {
			return false
		}
	}
	return true
}

// newestOfKeys keeps only the last entry of each key. It also returns the number of remaining
// entries before the first gap, and the number of those from the copy.
func newestOfKeys(pieces []journal.Piece, gap, copied int) (left []journal.Piece, beforeGap, ofCopy int) {
	last := map[string]int{}
	for i, piece := range pieces {
		last[piece.Key] = i
	}
	for i, piece := range pieces {
		if piece.Key != "" && last[piece.Key] != i {
			continue
		}
		if left = append(left, piece); i < gap {
			beforeGap++
		}
		if i < copied {
			ofCopy++
		}
	}
	return left, beforeGap, ofCopy
}

// write keeps the damaged file under another name and writes the new journal. It replaces the copy
// first, and then the journal. If the process ends in between, the next repair begins with the new
// copy and skips further epochs.
func (r *repair) write(now time.Time) error {
	mark, err := json.Marshal(repairMark{Repaired: now.UTC(), AfterEpoch: r.epoch + skippedEpochs})
	if err != nil {
		return err
	}
	path := filepath.Join(r.dir, JournalFile)
	if _, err := os.Lstat(path); err == nil {
		if r.report.KeptAs, err = setAside(path, now); err != nil {
			return fmt.Errorf("keep the damaged journal: %w", err)
		}
	}
	if err := journal.Write(filepath.Join(r.dir, CopyFile), mark, r.logs); err != nil {
		return err
	}
	return journal.Write(path, mark, r.logs)
}

// setAside gives the damaged file a second, unused name. If the file system does not allow this, it
// copies the file.
func setAside(path string, now time.Time) (aside string, err error) {
	name := "journal-damaged-" + now.UTC().Format("20060102-150405")
	for number := 1; ; number++ {
		aside = filepath.Join(filepath.Dir(path), name+".db")
		if number > 1 { // several repairs within one second
			aside = filepath.Join(filepath.Dir(path), fmt.Sprintf("%s-%d.db", name, number))
		}
		if os.Link(path, aside) == nil {
			return aside, datadir.Sync(filepath.Dir(path))
		}
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	file, err := datadir.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return aside, datadir.Replace(aside, func(w io.Writer) error { _, err := io.Copy(w, file); return err })
}
