// Package export writes the trials of a task in forms that other programs read.
//
// CSV writes a table with one line for each trial. JSON writes one document with the task and the
// trials. OptunaJournal writes a study as a journal of Optuna 5.0.0, the file of its
// JournalFileBackend. `fbo-node run --import` reads all three. Steps writes a table with one line for
// each value by step.
//
// The package opens no files and reads no journal of fbo: it gets trials and a writer.
package export
