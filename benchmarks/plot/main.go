// Plot draws the regret curves of a simulation:
//
//	fbo-node simulate … --json > result.json
//	go run ./plot result.json curves.svg
//
// A curve is the mean simple regret after each evaluation, on a logarithmic axis;
// its band is one standard error over federations to either side. The file is SVG
// or PNG, by its name. In place of a file with the result, - is standard input.
// Built under the name fbo-plot and on the PATH, it is what simulate --plot runs.
//
// It is a program of its own because what draws would make the node a quarter
// larger.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fbo-node/fbo/lab/experiment"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "plot: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments given, expected two: RESULT.json (or -) and FILE.svg or FILE.png", len(args))
	}
	if args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	var report experiment.Report
	if err := json.NewDecoder(in).Decode(&report); err != nil {
		return fmt.Errorf("%s: not a result of simulate --json: %w", args[0], err)
	}
	if len(report.Strategies) == 0 || report.Evaluations < 1 {
		return errors.New(args[0] + ": a result without strategies or evaluations")
	}
	return save(report, args[1])
}
