//go:build !race

package acquisition

const raceEnabled = false
