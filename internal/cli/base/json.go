package base

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// PrintJSON writes a value as one line of JSON that is safe to print.
func PrintJSON(out io.Writer, value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := out.Write(sanitize.JSON(b.Bytes()))
	return err
}

// AddJSON adds the flag of commands that print one result.
func AddJSON(command *cobra.Command, asJSON *bool) {
	command.Flags().BoolVar(asJSON, "json", false, "print one JSON object")
}

// Object is a JSON object with few keys, such as an event.
type Object = map[string]any
