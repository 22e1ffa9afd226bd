package sanitize

import "fmt"

// Count returns a number with a noun, as in "1 peer" and "3 peers".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Every returns the interval of repeated events for a text, as in "every share" and "every 3
// shares".
func Every(n int, noun string) string {
	if n == 1 {
		return "every " + noun
	}
	return "every " + Count(n, noun)
}
