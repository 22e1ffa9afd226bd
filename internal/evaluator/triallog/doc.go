// Package triallog keeps what trials print, within bounds.
//
// The central types are [Store], the directory of one task, [Writer], to which a
// trial's output goes, and [Reader], which shows it, also while it is written.
//
// Of a trial that prints more than [PerTrial] the beginning and the end are kept.
// Its output lies in files of [Segment] bytes: trial-7.log, trial-7.log.1, …, of
// which the first and the last few stay. The outputs of all trials take [Total]
// at most; those of the trials with the smallest numbers go first.
//
// Where less than [Reserve] of the disk is free, outputs of the oldest trials make room for what
// is written; where they do not, that is dropped.
//
// Output is a help for people: what cannot be kept, since the disk is full, is
// lost without an error, so that no evaluation fails for that.
package triallog
