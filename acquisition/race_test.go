//go:build race

package acquisition

// raceEnabled: under the race detector sync.Pool drops what it holds at random.
const raceEnabled = true
