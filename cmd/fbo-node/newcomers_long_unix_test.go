//go:build long && unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

const digitsTask = `name: digits
goal: minimize
parameters:
  - {name: C, type: float, low: 0.001, high: 1000, scale: log}
  - {name: gamma, type: float, low: 0.00001, high: 10, scale: log}
strategy: {share: exact}
`

// digitsSite trains a support vector machine on images of its own.
func digitsSite(t *testing.T, file string, seed uint64, node int) site {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "digits.py"))
	if err != nil {
		t.Fatal(err)
	}
	training := []string{pythonWith(t, "sklearn"), script, strconv.FormatUint(seed, 10), strconv.Itoa(node)}
	return site{file, seed, node, append([]string{"--worker", "--"}, training...)}
}

// betterAtRandom counts, of 100 random designs, those with less loss on the site.
func betterAtRandom(t *testing.T, s site, loss float64) (better int) {
	t.Helper()
	parsed, err := all.Strategies().Parse("digits", []byte(digitsTask))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(s.training[2], s.training[3:]...)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(s.seed).Stream("designs to compare with", uint64(s.node))
	answers := bufio.NewScanner(output)
	for i := range 100 {
		parameters, err := json.Marshal(parsed.Space.Decode(acquisition.Sample(parsed.Space, rng)))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(input, "{\"trial\": %d, \"parameters\": %s}\n", i+1, parameters)
		var answer struct{ Value float64 }
		if !answers.Scan() {
			t.Fatal("the training has ended: ", answers.Err())
		}
		decode(t, answers.Text(), &answer)
		if answer.Value < loss {
			better++
		}
	}
	input.Close()
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	return better
}

// Ten federations of three sites that train on images of their own make 15 evaluations
// each and end. A fourth with other images, which only knows the keeper's address, and a
// fifth, after the keeper was killed, begin with a design among the best tenth of 100
// random ones on their own images: 12 of the 20 at least. What the sites learn depends on
// timing. By chance alone that would happen with a probability of 5e-8; with the 85 % of
// good beginnings that were seen it fails with one of 1e-3.
func TestLongALaterMachineBeginsWell(t *testing.T) {
	const federations, wanted = 10, 12
	const running, killed = "the keeper ran on", "the keeper was killed"
	file := writeFile(t, "task.yaml", digitsTask)
	good := map[string]int{}
	for seed := uint64(201); seed <= 200+federations; seed++ {
		dir := shortTempDir(t)
		keeper, address := startKeeper(t, file, dir)
		var sites []site
		for node := range 5 {
			sites = append(sites, digitsSite(t, file, seed, node))
		}
		tuneAndEnd(t, sites[:3], address, 15)
		onDisk(t, dir, file, 3, 15)
		begin := func(s site, when string) {
			first := firstTrial(t, s, address)
			better := betterAtRandom(t, s, first.Outcome.Value)
			t.Logf("seed %d, %s: loss %.3f, %d of 100 random designs are better (%v)", seed, when, first.Outcome.Value, better, first.Why)
			if better < 10 {
				good[when]++
			}
		}
		begin(sites[3], running)
		keeper.signal(t, syscall.SIGKILL)
		<-keeper.ended
		keeper, address = startKeeper(t, file, dir)
		begin(sites[4], killed)
		keeper.signal(t, syscall.SIGKILL)
		<-keeper.ended
	}
	t.Logf("among the best tenth, of %d federations: %v", federations, good)
	if good[running]+good[killed] < wanted {
		t.Errorf("%d good beginnings of %d, want %d", good[running]+good[killed], 2*federations, wanted)
	}
}

// None of the first three designs of twelve newcomers is a random start, since each
// held what three sites had learned before it asked.
func TestLongNewcomersDoNotStartAtRandom(t *testing.T) {
	file := writeFile(t, "task.yaml", demoTask(t))
	_, address := startKeeper(t, file, shortTempDir(t))
	tuneAndEnd(t, demoSites(file, 200, 3), address, 15)
	random, designs, waiting := 0, 0, 0.0
	for _, s := range demoSites(file, 200, 15)[3:] {
		p := s.run(t, shortTempDir(t), "--peer", address, "--evals", "3")
		if code := p.wait(t); code != base.ExitDone {
			t.Fatalf("newcomer %d: exit code %d: %s", s.node, code, p.stderr.String())
		}
		waited := p.of("wait_ended")
		if len(waited) != 1 || waited[0].Authors < 3 {
			t.Errorf("newcomer %d waited: %+v", s.node, waited)
			continue
		}
		waiting += waited[0].Seconds
		for _, e := range p.of("trial_finished") {
			if designs++; e.Trial.Why.Source == strategy.Initial {
				random++
			}
		}
	}
	t.Logf("%d of %d first designs are random starts; the newcomers waited %.2f s on average", random, designs, waiting/12)
	if random > 0 || designs != 36 {
		t.Errorf("%d of %d first designs are random starts, want 0 of 36", random, designs)
	}
}
