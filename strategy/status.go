package strategy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// StatusItem is one fact about the state of an exchange. Programs print, serve and export items
// without knowledge of their content.
type StatusItem struct {
	// Key identifies the item among all items of a task. It consists of lower-case words joined by
	// underscores.
	Key string `json:"key"`
	// Label is the item's name for people, at most 9 characters.
	Label string `json:"label"`
	// Value is the item for programs. It must be encodable as JSON. If it is a number or contains
	// numbers, these are also metrics of the node.
	Value any `json:"value"`
	// Text is the item for people, in one line.
	Text string `json:"text,omitempty"`
	// Rows is a table for people. The first row is the header, and all rows have the same length.
	Rows [][]string `json:"rows,omitempty"`
	// Notice is a line for people. A running command prints each distinct Notice once.
	Notice string `json:"notice,omitempty"`
}

// StatusReporter is an optional interface of the value of a [Result]. The agent calls Status from
// the goroutine that calls Step.
type StatusReporter interface{ Status() []StatusItem }

// StatusValue returns the value of the item with this key, converted to T. ok is false if no such
// item exists or its value cannot be converted. The items may come from decoded JSON.
func StatusValue[T any](items []StatusItem, key string) (value T, ok bool) {
	i := slices.IndexFunc(items, func(item StatusItem) bool { return item.Key == key })
	if i < 0 {
		return value, false
	}
	if value, ok = items[i].Value.(T); ok {
		return value, true
	}
	data, err := json.Marshal(items[i].Value)
	return value, err == nil && json.Unmarshal(data, &value) == nil
}

// PrivacyKey is the key of the item that [PrivacyItem] returns.
const PrivacyKey = "privacy"

// PrivacyItem returns the item with the privacy budget that a node has spent on a task.
func PrivacyItem(s PrivacySpent) StatusItem {
	item := StatusItem{
		Key:   PrivacyKey,
		Label: "privacy",
		Value: s,
		Text:  fmt.Sprintf("%d of %s spent", s.Released, sanitize.Count(s.Planned, "release")),
	}
	switch {
	case s.Refused != "":
		item.Text += " at least, and there will be no more: " + s.Refused
	case s.Released >= s.Planned:
		item.Notice = fmt.Sprintf("privacy: all %s spent; this node shares nothing more, and continues with the shares of peers", sanitize.Count(s.Planned, "release"))
	}
	return item
}
