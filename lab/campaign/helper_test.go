package campaign

import (
	"fmt"
	"strings"
)

func writef(to *strings.Builder, format string, args ...any) { fmt.Fprintf(to, format+"\n", args...) }
