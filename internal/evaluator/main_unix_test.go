//go:build unix

package evaluator

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperArgument makes the test binary play the user's command.
const helperArgument = "play-command"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperArgument {
		play(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func play(mode string, args []string) {
	switch mode {
	case "print":
		fmt.Print(strings.Join(args, "\n"))
	case "environment":
		for _, variable := range os.Environ() {
			if strings.HasPrefix(variable, "FBO_") {
				fmt.Fprintln(os.Stderr, variable)
			}
		}
		fmt.Println(1)
	case "fail":
		fmt.Fprint(os.Stderr, "loading\n 10%\r 20%\rout of luck\n\n")
		fmt.Println(1)
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "flood":
		line := strings.Repeat("x", 1023) + "\n"
		for range 3 * maxOutput / len(line) {
			fmt.Print(line)
		}
		fmt.Print(args[0])
	case "long-line":
		fmt.Print(strings.Repeat("1", 3*maxOutput))
	case "sleep":
		if len(args) > 0 && args[0] == "stubborn" {
			signal.Ignore(syscall.SIGTERM)
		}
		fmt.Println(os.Getpid())
		time.Sleep(time.Minute)
	case "supervise":
		if err := Supervise(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	case "name":
		fmt.Println(1)
		fmt.Fprintln(os.Stderr, os.Args[0])
	case "wait-for-stranger": // a child that leaves the group
		child := exec.Command(os.Args[0], helperArgument, "sleep")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
		time.Sleep(time.Minute)
	case "leaves-group":
		if _, err := syscall.Setsid(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "child", os.Getpid())
		time.Sleep(time.Minute)
	case "ends-group": // as scripts do with `kill 0`; a child ignores it
		leaveChild("stubborn")
		signal.Ignore(syscall.SIGTERM)
		_ = syscall.Kill(0, syscall.SIGTERM)
		fmt.Println(4)
	case "worker":
		playWorker(args[0], args[1:])
	case "script":
		playScript(args)
	case "million": // steps
		out := bufio.NewWriter(os.Stdout)
		for step := range 1_000_000 {
			fmt.Fprintf(out, "{\"step\": %d, \"value\": 0.5}\n", step+1)
		}
		fmt.Fprintln(out, 3)
		out.Flush()
	case "leave-child":
		leaveChild()
		fmt.Println(4)
	case "wait-for-child":
		leaveChild("stubborn")
		time.Sleep(time.Minute)
	}
}

// playScript prints lines, except for those that are instructions.
func playScript(lines []string) {
	for _, line := range lines {
		switch line {
		case "/stubborn":
			signal.Ignore(syscall.SIGTERM)
		case "/sleep":
			time.Sleep(time.Minute)
		case "/fail":
			os.Exit(3)
		case "/until-stopped": // as programs that end properly
			stopped := make(chan os.Signal, 1)
			signal.Notify(stopped, syscall.SIGTERM)
			fmt.Println("ready")
			<-stopped
		default:
			fmt.Println(line)
		}
	}
}

// playWorker answers with the parameter batch, in a manner of its own.
func playWorker(manner string, args []string) {
	if manner == "dies-at-once" {
		fmt.Fprintln(os.Stderr, "no such module")
		os.Exit(3)
	}
	fmt.Fprintln(os.Stderr, "started", os.Getpid())
	if manner == "long-line" { // whose output may come first, and push the line above out of the log
		fmt.Println("started", os.Getpid())
	}
	lines := bufio.NewScanner(os.Stdin)
	for answered := 0; lines.Scan(); answered++ {
		var request struct {
			Trial      int
			Parameters *struct{ Batch int }
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			panic(err)
		}
		if request.Parameters == nil { // a stop for a trial that was answered
			answered--
			continue
		}
		answer := fmt.Sprintf(`{"trial": %d, "value": %d}`, request.Trial, request.Parameters.Batch)
		switch manner {
		case "noisy":
			fmt.Print("loading\n", `{"epoch": 1}`, "\n10%\r100%\r", answer, "\n")
			continue
		case "twice":
			fmt.Println(answer)
		case "nameless":
			answer = `{"value": 1}`
		case "reports":
			answer = fmt.Sprintf(`{"trial": %d, "error": "CUDA out of memory"}`, request.Trial)
		case "dies-in":
			if args[0] == strconv.Itoa(request.Trial) {
				fmt.Fprintln(os.Stderr, "out of luck")
				os.Exit(4)
			}
		case "leaves-child":
			leaveChild("stubborn")
			os.Exit(4)
		case "sleeps-in":
			if args[0] == strconv.Itoa(request.Trial) {
				leaveChild("stubborn")
				time.Sleep(time.Minute)
			}
		case "script": // of lines with the trial in place of #
			fmt.Fprintf(os.Stderr, "request %s\n", lines.Bytes())
			for _, line := range args {
				if line == "/await-stop" {
					lines.Scan()
					fmt.Fprintf(os.Stderr, "stop %s\n", lines.Bytes())
					continue
				}
				if line == "/exit" {
					os.Exit(5)
				}
				fmt.Println(strings.ReplaceAll(line, "#", strconv.Itoa(request.Trial)))
			}
			continue
		case "long-line":
			fmt.Println("{" + strings.Repeat(" ", 2*maxOutput))
		}
		fmt.Println(answer)
		if manner == "ends-after" && args[0] == strconv.Itoa(answered+1) {
			return
		}
	}
	if manner == "stays" { // in spite of the end of its input
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
}

// leaveChild starts a process that holds standard output, and writes its number
// to standard error.
func leaveChild(args ...string) {
	child := exec.Command(os.Args[0], append([]string{helperArgument, "sleep"}, args...)...)
	out, err := child.StdoutPipe()
	if err != nil {
		panic(err)
	}
	child.ExtraFiles = []*os.File{os.Stdout} // held as a further descriptor
	if err := child.Start(); err != nil {
		panic(err)
	}
	ready := make([]byte, 1) // it has set up its signals
	if _, err := out.Read(ready); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
}
