package base

import (
	"errors"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

func commandWithVariables(t *testing.T) (command *cobra.Command, peers *[]string, evals *int) {
	t.Helper()
	command = &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return nil }}
	peers = command.Flags().StringArray("peer", nil, "address")
	evals = command.Flags().Int("evals", 3, "number")
	command.Flags().Int("evals-more", 0, "number")
	FromEnvironment(command, "peer", "evals")
	return command, peers, evals
}

func TestReadEnvironment(t *testing.T) {
	t.Setenv("FBO_PEER", "a, b\nc,,d ")
	t.Setenv("FBO_EVALS", "7")
	t.Setenv("FBO_EVALS_MORE", "7") // no flag is marked with it
	command, peers, evals := commandWithVariables(t)
	if err := ReadEnvironment(command); err != nil || !slices.Equal(*peers, []string{"a", "b", "c", "d"}) || *evals != 7 || !command.Flags().Changed("evals") {
		t.Errorf("%q, %d, %v", *peers, *evals, err)
	}
	if got := command.Flags().Lookup("peer").Usage; got != "address ($FBO_PEER)" {
		t.Errorf("usage %q", got)
	}
	command, peers, evals = commandWithVariables(t)
	if err := command.ParseFlags([]string{"--peer", "x", "--evals", "0"}); err != nil {
		t.Fatal(err)
	}
	if err := ReadEnvironment(command); err != nil || !slices.Equal(*peers, []string{"x"}) || *evals != 0 {
		t.Errorf("flags do not precede variables: %q, %d, %v", *peers, *evals, err)
	}
	t.Setenv("FBO_EVALS", "")
	command, _, evals = commandWithVariables(t)
	if err := ReadEnvironment(command); err != nil || *evals != 3 {
		t.Errorf("an empty variable: %d, %v", *evals, err)
	}
}

func TestErrorsNameVariables(t *testing.T) {
	t.Setenv("FBO_EVALS", "many")
	t.Setenv("FBO_PEER", "a")
	command, _, _ := commandWithVariables(t)
	err := ExplainEnvironment(command, ReadEnvironment(command))
	if err == nil || err.Error() != "--evals many: expected whole numbers (--evals is from $FBO_EVALS)" || ExitCode(err) != ExitUsage {
		t.Errorf("%v, exit code %d", err, ExitCode(err))
	}
	t.Setenv("FBO_EVALS", "")
	command, _, _ = commandWithVariables(t)
	if err := ReadEnvironment(command); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"--peer: no address":   "--peer: no address (--peer is from $FBO_PEER)",
		"give --peer":          "give --peer (--peer is from $FBO_PEER)",
		"--peer-id is missing": "--peer-id is missing",
		"the peer is missing":  "the peer is missing",
	} {
		if got := ExplainEnvironment(command, errors.New(text)).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
