// Judge summarises simulations of several federations with the same strategies, control
// and checkpoints:
//
//	fbo-node simulate … --control best-alone --json > digits.json
//	go run ./judge --svg judge.svg digits=digits.json food=food.json
//
// It prints two tables in Markdown. The first has each strategy's simple regret divided by
// the control's, as the geometric mean over the reports, at each checkpoint. The second has
// every report's own ratios at one checkpoint. The report is the unit: a bound is Student's
// over the reports' mean logarithms and applies to a further federation like these. Bounds
// of a single report are over its draws.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, errFlags):
		os.Exit(2) // the flag set has printed the error
	case err != nil:
		fmt.Fprintf(os.Stderr, "judge: %v\n", err)
		os.Exit(1)
	}
}

var errFlags = errors.New("flags")

func run(arguments []string, stdout, stderr io.Writer) error {
	set := flag.NewFlagSet("judge", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "judge [--svg FILE] [--at N] NAME=REPORT.json…")
		set.PrintDefaults()
	}
	svg := set.String("svg", "", "draw the means into this file")
	at := set.Int("at", 0, "the checkpoint of the table with a row per report; the last but one unless given")
	if err := set.Parse(arguments); err != nil {
		return errFlags
	}
	reports, err := load(set.Args())
	if err != nil {
		return err
	}
	checkpoints := reports[0].Checkpoints
	row := max(len(checkpoints)-2, 0)
	if *at != 0 {
		if row = slices.Index(checkpoints, *at); row < 0 {
			return fmt.Errorf("--at %d: expected one of the checkpoints of %s: %s", *at, reports[0].path, list(checkpoints))
		}
	}
	all := summarize(reports)
	if *svg != "" {
		if err := save(all, *svg); err != nil {
			return err
		}
	}
	var text strings.Builder
	all.print(&text, row)
	_, err = io.WriteString(stdout, text.String())
	return err
}

func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, ", ")
}
