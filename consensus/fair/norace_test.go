//go:build !race

package fair

const underRace = false
