package sanitize

import (
	"fmt"
	"strings"
)

// MaxListed is how many entries List shows.
const MaxListed = 10

// List returns the entries, separated by commas. Of more than MaxListed it returns the first
// ones and the number of the others, as in "a, b and 192 more".
func List(entries []string) string {
	if len(entries) <= MaxListed {
		return strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(entries[:MaxListed], ", "), len(entries)-MaxListed)
}
