package plain

import (
	"fmt"
	"strings"
)

// MostListed is how many entries List shows.
const MostListed = 10

// List returns the entries, separated by commas. Of more than MostListed it returns the first
// ones and the number of the others, as in "a, b and 192 more".
func List(entries []string) string {
	if len(entries) <= MostListed {
		return strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(entries[:MostListed], ", "), len(entries)-MostListed)
}
