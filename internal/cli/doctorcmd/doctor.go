// Package doctorcmd contains the command that checks the requirements of a node, and repairs a
// damaged journal.
package doctorcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
)

// grade is the severity of a finding.
type grade string

const (
	gradeOK   grade = "ok"
	gradeWarn grade = "warn" // works, but not as well as it could
	gradeFail grade = "fail" // a node cannot work like this
	gradeSkip grade = "skip" // not checked, and why
)

// finding is the result of one check.
type finding struct {
	Grade   grade  `json:"status"`
	Check   string `json:"check"`
	Finding string `json:"finding"`
	Advice  string `json:"advice,omitempty"`
}

// maxFound is the maximum number of displayed characters of a finding.
const maxFound = 3000

// found returns a finding of one line; line breaks in quoted text are escaped.
func found(g grade, what, advice, format string, args ...any) finding {
	return finding{g, what, sanitize.Text(fmt.Sprintf(format, args...), maxFound), advice}
}

func ok(what, format string, args ...any) finding {
	return found(gradeOK, what, "", format, args...)
}

func skip(what, format string, args ...any) finding {
	return found(gradeSkip, what, "", format, args...)
}

func warn(what, advice, format string, args ...any) finding {
	return found(gradeWarn, what, advice, format, args...)
}

func fail(what, advice, format string, args ...any) finding {
	return found(gradeFail, what, advice, format, args...)
}

type options struct {
	dir    string
	listen []string
	peers  []string
	invite string
	json   bool
	repair bool
}

// New returns the command doctor.
func New() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "doctor [TASK] [flags]",
		Short: "Check what a node on this machine needs, and say what to do",
		Long: `Check what a node on this machine needs: its data directory, disk, identity and
journal, ports, UDP buffers, clock and memory. With --peer, also whether that node
can be reached, and with a TASK (a file, an ID, its first characters or a name) whether it takes part in it.

Every line is ok, warn, fail or skip (not checked), what was checked, what was
found and what to do. The exit code is 1 when something fails. Nothing is changed,
and a node that runs is not disturbed.

With --repair it repairs a damaged journal instead: from the copy that the last start
or end has left, and from what is readable and newer in the damaged file, which is kept. Private
tasks release nothing more then. No node may run on the directory.`,
		Example: `  fbo-node doctor
  fbo-node doctor task.yaml --peer /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo…
  fbo-node doctor --repair`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			wanted := ""
			if len(args) == 1 {
				wanted = args[0]
			}
			if o.repair {
				return o.runRepair(command.OutOrStdout(), wanted)
			}
			return o.run(command.Context(), command.OutOrStdout(), wanted)
		},
	}
	flags := command.Flags()
	base.AddDataDir(command, &o.dir)
	flags.StringArrayVar(&o.listen, "listen", nil, "multiaddress for the node to listen on, repeatable (default: the ports of its last start)")
	flags.StringArrayVar(&o.peers, "peer", nil, "address of another node to reach, as it prints it, repeatable")
	flags.StringVar(&o.invite, "invite", "", "file with the invitation to TASK, by which --peer is looked for (default: the one that the data directory keeps)")
	flags.BoolVar(&o.repair, "repair", false, "repair the journal if it is damaged, and check nothing else")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func (o options) run(ctx context.Context, out io.Writer, wanted string) error {
	if _, err := peeraddr.ParseListen(o.listen); err != nil {
		return base.Usagef("--listen: %w", err)
	}
	dir, err := base.NameDataDir(o.dir)
	if err != nil {
		return err
	}
	var of taskref.Ref
	if wanted != "" {
		if of, err = past.FindRef(ctx, dir, wanted); err != nil {
			return err
		}
	}
	if o.invite != "" && of.ID == "" {
		return base.Usagef("--invite: name the TASK too: " + past.Accepted)
	}
	tag, invited, err := o.checkInvitation(dir, of.ID)
	if err != nil {
		return err
	}
	running, _ := control.Node(ctx, dir)
	findings := checkDisk(dir, running)
	findings = append(findings, checkPorts(dir, o.listen, running)...)
	findings = append(findings, checkBuffers()...)
	findings = append(findings, checkClock(dir), checkMemory())
	findings = append(findings, invited...)
	for _, address := range o.peers {
		findings = append(findings, checkPeer(ctx, address, sought{of.ID, of.Name, tag})...)
	}
	return showFindings(out, findings, nil, o.json)
}

// checkInvitation returns the tag of the given invitation, or of the stored one; empty if there is
// none.
func (o options) checkInvitation(dir, taskID string) (tag string, findings []finding, err error) {
	const what = "invitation"
	if taskID == "" {
		return "", nil, nil
	}
	if o.invite == "" {
		tag, err := base.KeptTag(dir, taskID)
		switch {
		case err != nil:
			return "", []finding{fail(what, "put the invitation there again, with mode 0600", "%v", err)}, nil
		case tag == "":
			return "", nil, nil
		}
		return tag, []finding{ok(what, "kept by the data directory; announced as %s", tag)}, nil
	}
	i, err := base.ReadInvitation("--invite", o.invite)
	if err != nil {
		return "", nil, err
	}
	if err := base.Fits("--invite", o.invite, i, taskID); err != nil {
		return "", nil, err
	}
	tag = i.Keys().Tag().String()
	kept, err := base.KeptTag(dir, taskID)
	if err != nil || kept != "" && kept != tag {
		return tag, []finding{warn(what, "give the node the right one by run --invite", "the data directory keeps another one, or one that cannot be read; this one is announced as %s", tag)}, nil
	}
	return tag, []finding{ok(what, "to this task; announced as %s", tag)}, nil
}

// showFindings prints everything; its error reports that a check failed.
func showFindings(out io.Writer, findings []finding, repaired *store.Repaired, asJSON bool) error {
	failed := 0
	for _, f := range findings {
		if f.Grade == gradeFail {
			failed++
		}
		if asJSON {
			continue
		}
		line := fmt.Sprintf("%-4s  %-14s  %s", f.Grade, f.Check, f.Finding)
		if f.Advice != "" {
			line += "; do: " + f.Advice
		}
		fmt.Fprintln(out, line)
	}
	if asJSON {
		if err := base.PrintJSON(out, struct {
			OK       bool            `json:"ok"`
			Checks   []finding       `json:"checks"`
			Repaired *store.Repaired `json:"repaired,omitempty"`
		}{failed == 0, findings, repaired}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("doctor: %s of %d failed", sanitize.Count(failed, "check"), len(findings))
	}
	return nil
}
