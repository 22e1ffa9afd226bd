//go:build race

package fair

// underRace leaves out what playsThrough marks.
const underRace = true
