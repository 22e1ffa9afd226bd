package main

import (
	"context"
	"slices"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// inDirectory returns what a task file means for the node, keeper or hub of a data
// directory. A file that does not say what nodes share means guarded shares since there are
// any; where the directory has begun with exact ones and not with these, it goes on as it
// began.
func inDirectory(ctx context.Context, dir string, t *task.Task) *task.Task {
	former := peerprior.Former(t)
	if former == nil {
		return t
	}
	return asBegun(t, former, dir, knownTasks(ctx, dir))
}

// asBegun returns what the file has meant before, where a directory that knows these tasks
// has begun so.
func asBegun(t, former *task.Task, dir string, tasks []string) *task.Task {
	known := func(t *task.Task) bool {
		id := t.ID().String()
		return slices.Contains(tasks, id) || node.HeardOf(dir, id)
	}
	if known(former) && !known(t) {
		return former
	}
	return t
}

// knownTasks lists the IDs of the tasks in a data directory, as far as they can be read.
func knownTasks(ctx context.Context, dir string) []string {
	if served, ok, err := servedTasks(ctx, dir); err == nil && ok {
		var ids []string
		for _, t := range served {
			ids = append(ids, t.ID)
		}
		return ids
	}
	archive, err := node.OpenArchive(dir)
	if err != nil {
		return nil
	}
	defer archive.Close()
	tasks, err := archive.Tasks()
	if err != nil {
		return nil
	}
	return tasks
}

// asBefore is what run says where inDirectory has found a task begun before.
const asBefore = "this file does not say what nodes share (strategy: share). New nodes share guardedly; this data directory has begun the task with exact shares, from which all results can be computed, and goes on so. Write share: exact or share: guarded to the file on all machines"
