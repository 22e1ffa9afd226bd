package sanitize

import (
	"fmt"
	"strings"
)

// MaxListed is the maximum number of entries that List shows.
const MaxListed = 10

// List returns the entries, separated by commas. Of more than MaxListed entries it returns the
// first ones and the number of the rest, as in "a, b and 192 more".
func List(entries []string) string {
	if len(entries) <= MaxListed {
		return strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(entries[:MaxListed], ", "), len(entries)-MaxListed)
}
