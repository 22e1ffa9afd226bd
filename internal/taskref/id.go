package taskref

import "github.com/ipfs/go-cid"

// maxID is the maximum number of bytes of a task's ID as text.
const maxID = 128

// IsID reports whether a text has the form of a task's ID.
func IsID(text string) bool {
	if len(text) > maxID {
		return false
	}
	id, err := cid.Decode(text)
	return err == nil && id.String() == text
}
