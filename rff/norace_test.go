//go:build !race

package rff

const underRace = false
