package render

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/agent"
)

// Recommended writes the design that is recommended before the best observed one.
func Recommended(r agent.Recommendation) string {
	predicted := ""
	if r.Predicted != nil {
		predicted = ", predicted " + Number(*r.Predicted)
	}
	return fmt.Sprintf("recommended: %s%s. %s:", r.Design, predicted, Upper(r.Reason))
}

// Upper writes a text as the beginning of a sentence.
func Upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
