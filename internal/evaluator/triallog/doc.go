// Package triallog keeps the output of trials, within limits.
//
// The central types are [Store], the directory of one task, [Writer], which stores a trial's
// output, and [Reader], which reads it, also while it is written.
//
// If a trial prints more than [PerTrial], the beginning and the end are kept. Its output lies in
// files of [Segment] bytes: trial-7.log, trial-7.log.1, …; the first and the last few stay. The
// outputs of all trials take at most [Total]; those of the trials with the smallest numbers go
// first.
//
// If less than [Reserve] of the disk is free, the outputs of the oldest trials are removed to make
// room. If that does not suffice, new output is dropped.
//
// Output is a help for people: what cannot be kept, since the disk is full, is
// lost without an error, so that no evaluation fails because of it.
package triallog
