package doctorcmd

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/fbo-node/fbo/internal/store"
)

// Sufficient memory for a node beside the user's own command.
const scarceMemory = 128 << 20

// earliestYear is before any version of this program.
const earliestYear = 2024

// clockTolerance is the tolerated difference between a clock and an earlier one that made a
// certificate: libp2p dates its certificates back by this time.
const clockTolerance = time.Hour

func checkClock(dir string) finding {
	return judgeClock(time.Now(), built(), lastWrite(dir))
}

// judgeClock compares the clock with times in the past. Messages of fbo itself contain counted
// epochs, not times; the certificates of QUIC and TLS, which each start makes anew, do contain one.
func judgeClock(now, built, written time.Time) finding {
	const what = "clock"
	const advice = "set the clock (NTP): peers refuse QUIC and TLS connections while it is more than an hour ahead of theirs, and this node theirs while it is more than an hour behind; shares and results do not depend on it"
	at := now.UTC().Format(time.RFC3339)
	switch {
	case now.UTC().Year() < earliestYear:
		return warn(what, advice, "%s is before %d", at, earliestYear)
	case now.Before(built.Add(-clockTolerance)):
		return warn(what, advice, "%s is before this program was made (%s)", at, built.UTC().Format(time.RFC3339))
	case now.Before(written.Add(-clockTolerance)):
		return warn(what, advice, "%s is before the journal was last written (%s)", at, written.UTC().Format(time.RFC3339))
	}
	return ok(what, "%s, after all that must be past; whether it is right is not known", at)
}

// built is the time of the commit; zero when the build does not know it.
func built() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			at, _ := time.Parse(time.RFC3339, setting.Value) // zero when it cannot be read
			return at
		}
	}
	return time.Time{}
}

func lastWrite(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, store.JournalFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func checkMemory() finding {
	const what = "memory"
	available, err := availableMemory()
	switch {
	case err != nil:
		return skip(what, "%v", err)
	case available < scarceMemory:
		return warn(what, "stop something, or choose the surrogate rff, which needs the least", "%d MiB are available", available>>20)
	}
	return ok(what, "%d MiB are available", available>>20)
}
