// Package sums adds up a statistic of the observations of a roster, so that every node sees only
// sums over nodes, without noise.
package sums
