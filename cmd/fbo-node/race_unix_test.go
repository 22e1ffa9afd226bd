//go:build race && unix

package main_test

// slowness is by how much the race detector lengthens what tests wait for, about.
const slowness = 3
