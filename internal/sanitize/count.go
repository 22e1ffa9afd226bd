package sanitize

import "fmt"

// Count returns a number with a noun, such as "1 peer" or "3 peers".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Every returns the interval of a repeated event, such as "every share" or "every 3 shares".
func Every(n int, noun string) string {
	if n == 1 {
		return "every " + noun
	}
	return "every " + Count(n, noun)
}
