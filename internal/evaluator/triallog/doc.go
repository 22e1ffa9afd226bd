// Package triallog stores the output of trials, within limits.
//
// The central types are [Store], the directory of one task, [Writer], which stores the output of a
// trial, and [Reader], which reads it, even while it is being written.
//
// If a trial prints more than [PerTrial], only the beginning and the end are stored. Its output is in
// files of [Segment] bytes: trial-7.log, trial-7.log.1, and so on. The first file and the last few
// remain. The outputs of all trials take at most [Total]; those of the trials with the smallest
// numbers are removed first.
//
// If less than [Reserve] of the disk is free, the outputs of the oldest trials are removed to make
// room. If that does not suffice, new output is dropped.
//
// Output is only for the user's information. So output that cannot be stored, for example because the
// disk is full, is lost without an error, and no evaluation fails because of it.
package triallog
