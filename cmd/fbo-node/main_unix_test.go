//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli"
)

// The test binary plays all the processes of these tests: fbo-node itself when
// this variable is set, and the commands that it evaluates when the first
// argument is playArgument.
const (
	playVariable = "FBO_NODE_TEST_PLAY"
	playArgument = "play-objective"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == playArgument {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	if os.Getenv(playVariable) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	_ = flag.Set("test.parallel", "5") // most tests wait for processes
	os.Exit(m.Run())
}

// objective is the command line of a mode of play.
func objective(mode string, args ...string) []string {
	return append([]string{"--", os.Args[0], playArgument, mode}, args...)
}

// play is a user's command. It returns its exit code.
func play(mode string, args []string) int {
	if mode == "worker" {
		return playWorker(args[0], args[1:])
	}
	trial, err := strconv.Atoi(os.Getenv("FBO_TRIAL"))
	if err != nil {
		panic(err)
	}
	switch mode {
	case "bowl":
		fmt.Println(bowlValue())
	case "shifted": // a bowl in x with its minimum at the argument; from trial 4 on it waits for the file, if one is named
		for gate := append(args, "")[1]; gate != "" && trial > 3; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(gate); err == nil {
				break
			}
		}
		var x, optimum float64
		if _, err := fmt.Sscan(os.Getenv("FBO_PARAM_X")+" "+args[0], &x, &optimum); err != nil {
			panic(err)
		}
		fmt.Println((x - optimum) * (x - optimum))
	case "steady": // leaves the machine to others
		time.Sleep(50 * time.Millisecond)
		fmt.Println(bowlValue())
	case "limits": // two constraints beside the value; every fifth trial leaves one out
		time.Sleep(50 * time.Millisecond)
		x, y := os.Getenv("FBO_PARAM_X"), os.Getenv("FBO_PARAM_Y")
		if trial%5 == 0 {
			fmt.Printf(`{"value": %g, "constraints": {"right": %s}}`+"\n", bowlValue(), x)
			return 0
		}
		fmt.Printf(`{"value": %g, "constraints": {"right": %s, "up": %s}}`+"\n", bowlValue(), x, y)
	case "trade": // two objectives; every fifth trial leaves one out
		time.Sleep(50 * time.Millisecond)
		if trial%5 == 0 {
			fmt.Println(bowlValue())
			return 0
		}
		fmt.Printf(`{"value": %g, "speed": %s}`+"\n", bowlValue(), os.Getenv("FBO_PARAM_X"))
	case "truths": // fails where y is negative; sound where x is; every fifth trial says a number
		x, y := os.Getenv("FBO_PARAM_X"), os.Getenv("FBO_PARAM_Y")
		if strings.HasPrefix(y, "-") {
			fmt.Fprintln(os.Stderr, "diverged")
			return 3
		}
		sound := strconv.FormatBool(strings.HasPrefix(x, "-"))
		if trial%5 == 0 {
			sound = "0.5"
		}
		fmt.Printf(`{"value": %g, "constraints": {"sound": %s}}`+"\n", bowlValue(), sound)
	case "curve":
		return playCurve(trial, args[0], args[1], args[2:])
	case "wild": // values by step that are not accepted, and too many
		out := bufio.NewWriter(os.Stdout)
		fmt.Fprintln(out, `{"step": 1, "value": NaN}`)
		for step := 2; step <= 1_000_000; step++ {
			fmt.Fprintf(out, "{\"step\": %d, \"value\": 0.5}\n", step)
			if step == 5 {
				fmt.Fprintln(out, `{"step": 3, "value": 0.7}`)
			}
		}
		fmt.Fprintln(out, bowlValue())
		out.Flush()
	case "nothing":
	case "text":
		fmt.Println("all went well")
	case "nan":
		fmt.Println("NaN")
	case "exit":
		fmt.Fprintln(os.Stderr, "out of luck")
		return 3
	case "sometimes": // even trials fail
		if trial%2 == 0 {
			fmt.Fprintln(os.Stderr, "an even number")
			return 3
		}
		fmt.Println(bowlValue())
	case "sleep":
		time.Sleep(time.Minute)
	case "count": // FILE: a line per call
		file, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(file, trial)
		file.Close()
		fmt.Println(bowlValue())
	case "gate": // ADDRESS [FROM]: from trial FROM on, wait for leave
		if len(args) < 2 || trial >= atoi(args[1]) {
			if !waitAtGate(args[0], trial) {
				return 1
			}
		}
		fmt.Println(bowlValue())
	case "chatty": // a text on each stream, and a further number
		fmt.Println("epoch 1 of trial", trial)
		fmt.Fprintln(os.Stderr, "a warning")
		fmt.Printf("{\"value\": %g, \"acc\": 0.5, \"note\": \"no number\"}\n", bowlValue())
	case "generations": // ADDRESS: three processes that never end by themselves
		child := exec.Command(os.Args[0], playArgument, "family", args[0])
		if err := child.Start(); err != nil {
			panic(err)
		}
		waitAtGate(args[0], trial)
		time.Sleep(time.Minute)
	case "family": // ADDRESS: two processes that never end by themselves
		child := exec.Command(os.Args[0], playArgument, "gate", args[0])
		if err := child.Start(); err != nil {
			panic(err)
		}
		waitAtGate(args[0], trial)
		time.Sleep(time.Minute)
	default:
		panic(mode)
	}
	return 0
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// bowlValue is smallest, 0, where all numbers among the parameters are 0.3.
func bowlValue() float64 {
	var parameters map[string]any
	if err := json.Unmarshal([]byte(os.Getenv("FBO_PARAMS")), &parameters); err != nil {
		panic(err)
	}
	return bowlAt(parameters)
}

func bowlAt(parameters map[string]any) float64 {
	sum := 0.0
	for _, value := range parameters {
		if x, ok := value.(float64); ok {
			sum += (x - 0.3) * (x - 0.3)
		}
	}
	return sum
}

// waitAtGate tells whether it was let through.
func waitAtGate(address string, trial int) bool {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(connection, trial)
	line, _ := bufio.NewReader(connection).ReadString('\n')
	return strings.TrimSpace(line) == "go"
}

// gate holds evaluators until the test lets them go on, and sees them die.
type gate struct {
	address string
	waiting chan *held
}

// held is one evaluator at the gate.
type held struct {
	trial      int
	connection net.Conn
	gone       chan struct{} // closed when the process has ended
}

func newGate(t *testing.T) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{address: listener.Addr().String(), waiting: make(chan *held, 100)}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { connection.Close() })
			go g.hold(connection)
		}
	}()
	t.Cleanup(func() { listener.Close() })
	return g
}

func (g *gate) hold(connection net.Conn) {
	reader := bufio.NewReader(connection)
	line, err := reader.ReadString('\n')
	if err != nil {
		return
	}
	h := &held{trial: atoi(strings.TrimSpace(line)), connection: connection, gone: make(chan struct{})}
	g.waiting <- h
	_, _ = reader.ReadByte() // returns when the process ends
	close(h.gone)
}

func (g *gate) next(t *testing.T) *held {
	t.Helper()
	select {
	case h := <-g.waiting:
		return h
	case <-time.After(patienceOfTests):
		t.Fatal("no evaluator came to the gate")
		return nil
	}
}

func (h *held) release() { fmt.Fprintln(h.connection, "go") }

func (h *held) waitGone(t *testing.T) {
	t.Helper()
	select {
	case <-h.gone:
	case <-time.After(patienceOfTests):
		t.Fatalf("the evaluator of trial %d is still there", h.trial)
	}
}
