//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/mcpserver"
)

// mcpAgent is a client of `fbo-node mcp` in a process of its own.
type mcpAgent struct {
	*mcp.ClientSession
	t *testing.T
}

func startAgent(t *testing.T, dir string, flags ...string) mcpAgent {
	t.Helper()
	command := nodeCommand(append([]string{"mcp", "--data-dir", dir}, flags...)...)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return mcpAgent{session, t}
}

// call returns the text of a tool's result.
func (a mcpAgent) call(tool string, arguments object) (text string, failed bool) {
	a.t.Helper()
	result, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || len(result.Content) != 1 {
		a.t.Fatalf("%s: %v, %+v", tool, err, result)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

// must is call for what has to work.
func (a mcpAgent) must(tool string, arguments object, into any) {
	a.t.Helper()
	text, failed := a.call(tool, arguments)
	if failed {
		a.t.Fatalf("%s: %s", tool, text)
	}
	decode(a.t, text, into)
}

// askOne returns the only trial that the agent then holds.
func (a mcpAgent) askOne(arguments object) mcpserver.Trial {
	a.t.Helper()
	for {
		var asked mcpserver.Asked
		if a.must("ask", arguments, &asked); len(asked.Trials) == 1 {
			return asked.Trials[0]
		} else if len(asked.Trials) > 1 || asked.WaitsFor == "" {
			a.t.Fatalf("ask: %+v", asked)
		}
	}
}

// TestAgentTunes lets an agent create a task and evaluate trials of it. The node is killed in between.
func TestAgentTunes(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, _ := startServe(t, dir)
	a := startAgent(t, dir)
	var checked, created mcpserver.Checked
	a.must("check_task", object{"text": bowlTask}, &checked)
	a.must("create_task", object{"text": bowlTask}, &created)
	if checked.ID != created.ID || checked.ID == "" || !strings.HasPrefix(created.Sharing, "exact: ") || created.Reveals == "" {
		t.Errorf("checked %+v, created %+v", checked, created)
	}
	value := func(trial mcpserver.Trial) float64 {
		var x, y float64
		decode(t, string(trial.Parameters["x"]), &x)
		decode(t, string(trial.Parameters["y"]), &y)
		return x*x + y*y
	}
	for range 3 {
		trial := a.askOne(nil)
		var stored mcpserver.Trial
		a.must("tell", object{"trial": trial.ID, "value": value(trial), "metrics": object{"seconds": 1}, "cost": 2}, &stored)
		if stored.State != "done" || stored.Outcome == nil || stored.Outcome.Value != value(trial) || stored.Cost == nil || *stored.Cost != 2 || !stored.Yours {
			t.Errorf("stored: %+v", stored)
		}
	}
	held := a.askOne(object{"key": "one"})

	p.signal(t, syscall.SIGKILL)
	<-p.ended
	if text, failed := a.call("tell", object{"trial": held.ID, "value": 0.5}); !failed || text != "no node runs on data directory "+dir+"; `fbo-node serve --data-dir "+dir+"` starts one" {
		t.Errorf("without a node: %s", text)
	}
	startServe(t, dir)
	if again := a.askOne(object{"key": "one"}); again.ID != held.ID {
		t.Errorf("after the restart trial %d, before trial %d", again.ID, held.ID)
	}
	for range 2 {
		var stored mcpserver.Trial
		if a.must("tell", object{"trial": held.ID, "value": 0.5}, &stored); stored.Outcome.Value != 0.5 {
			t.Errorf("stored %+v", stored)
		}
	}
	if text, failed := a.call("tell", object{"trial": held.ID, "value": 0.6}); !failed || !strings.Contains(text, "trial 4") {
		t.Errorf("another result: %s", text)
	}
	var queued mcpserver.Queued
	a.must("enqueue", object{"parameters": object{"x": 0.25, "y": -0.5}, "key": "mine"}, &queued)
	own := a.askOne(nil)
	if own.Source != "enqueued" || string(own.Parameters["x"]) != "0.25" {
		t.Errorf("after enqueue: %+v", own)
	}
	var reported mcpserver.Reported
	a.must("report_steps", object{"trial": own.ID, "steps": []object{{"step": 1, "value": 3}}}, &reported)
	var stopped mcpserver.Trial
	if a.must("stop_trial", object{"trial": own.ID, "reason": "no\nprogress"}, &stopped); stopped.State != "stopped" || stopped.Stop.Reason != "no progress" {
		t.Errorf("stopped: %+v", stopped)
	}
	returned, failedOne := a.askOne(nil), mcpserver.Trial{}
	a.must("return_trial", object{"trial": returned.ID}, &returned)
	if again := a.askOne(nil); again.ID != returned.ID || again.State != "running" {
		t.Errorf("returned %+v, then got %+v", returned, again)
	}
	if a.must("fail", object{"trial": returned.ID, "reason": "broken"}, &failedOne); failedOne.State != "failed" {
		t.Errorf("failed: %+v", failedOne)
	}
	var history mcpserver.History
	a.must("history", nil, &history)
	var best mcpserver.Best
	a.must("best", nil, &best)
	var importance mcpserver.Importance
	a.must("importance", nil, &importance)
	var status mcpserver.Status
	a.must("status", nil, &status)
	if len(history.Trials) != 6 || best.Trial == nil || status.Best == nil || status.Best.ID != best.Trial.ID || status.Trials["done"] != 4 || len(importance.Importance) != 2 {
		t.Errorf("history %+v\nbest %+v\nstatus %+v\nimportance %+v", history, best, status, importance)
	}
	var done mcpserver.Done
	if a.must("leave_task", object{"task": "bowl"}, &done); !done.Done {
		t.Error("the task is not left")
	}
	if text, failed := a.call("status", nil); !failed || text != "the node has no task yet; create_task joins one" {
		t.Errorf("after leave_task: %s", text)
	}
}

// TestHostileAgent sends what no honest client sends. Each message gets one answer, and the task of another
// agent stays as it is.
func TestHostileAgent(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	startServe(t, dir)
	owner := startAgent(t, dir, "--client", "owner")
	var mine, other mcpserver.Checked
	owner.must("create_task", object{"text": bowlTask}, &mine)
	owner.must("create_task", object{"text": strings.Replace(bowlTask, "name: bowl", "name: other", 1)}, &other)
	held := owner.askOne(object{"task": mine.ID})
	owner.askOne(object{"task": other.ID})

	command := nodeCommand("mcp", "--data-dir", dir, "--task", mine.ID)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problems progress
	command.Stderr = &problems
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // an error means that it has ended
	id := 0
	request := func(method string, params any) string {
		id++
		data, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	tool := func(name string, arguments any) string {
		return request("tools/call", object{"name": name, "arguments": arguments})
	}
	many := object{} // unknown parameters, each of which the node lists
	for i := range 20 {
		many[fmt.Sprint(strings.Repeat("x", 60), i)] = 1
	}
	wrong := []string{
		`{"jsonrpc":`, `[]`, `null`, "\x00\xff", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, strings.Repeat("[", 100_000), strings.Repeat("x", 3<<20),
		request("no/such/method", nil), request("tools/call", 7), request("tools/call", object{"name": 7}), request("resources/read", object{"uri": "file:///etc/passwd"}),
		request("prompts/get", object{"name": "x"}),
		tool("shell", object{"command": "id"}), tool("create_task", object{"text": bowlTask}), tool("leave_task", object{"task": mine.ID}),
		tool("ask", 7), tool("ask", object{"count": "many"}), tool("ask", object{"count": -1}), tool("ask", object{"count": 1e9}), tool("ask", object{"client": "owner"}),
		tool("ask", object{"key": strings.Repeat("k", 1000)}), tool("ask", object{"key": "a\r\nX-Other: b"}),
		tool("tell", object{"trial": 1}), tool("tell", object{"trial": -1, "value": 1}), tool("tell", object{"trial": 1.5, "value": 1}), tool("tell", object{"trial": 1, "value": "1"}),
		tool("tell", object{"trial": held.ID, "value": 1}), tool("fail", object{"trial": held.ID, "reason": "x"}), tool("return_trial", object{"trial": held.ID}),
		tool("stop_trial", object{"trial": held.ID}), tool("report_steps", object{"trial": held.ID, "steps": []object{{"step": 1, "value": 1}}}), tool("report_steps", object{"trial": held.ID, "steps": nil}),
		tool("fail", object{"trial": held.ID, "reason": strings.Repeat("x", 100_000)}),
		tool("enqueue", object{"parameters": object{"x": 1e300, "y": 0}}), tool("enqueue", object{"parameters": object{"../x": 1}}), tool("enqueue", object{"parameters": many}),
		tool("check_task", object{"text": strings.Repeat("a: ", 30_000)}), tool("check_task", object{"text": "name: x\ngoal: minimize\ndesigns: {file: /etc/passwd}\n"}),
		tool("history", object{"limit": 1e6}), tool("history", object{"state": "done&client=owner"}), tool("history", object{"after": -5}),
	}
	for _, name := range []string{other.ID, other.ID[:18], "other", "..", "../tasks", "../../node", mine.ID + "/../" + other.ID, ""} {
		if name != "" {
			wrong = append(wrong, tool("status", object{"task": name}), tool("ask", object{"task": name}), tool("tell", object{"task": name, "trial": 1, "value": 1}))
		}
	}
	const flood = 300
	messages := []string{
		request("initialize", object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "hostile", "version": "1"}}),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, // without an answer
	}
	messages = append(messages, wrong...)
	for range flood {
		messages = append(messages, tool("status", nil))
	}
	answers := 1 + len(wrong) + flood

	ended := make(chan error, 1)
	go func() {
		_, err := io.WriteString(in, strings.Join(messages, "\n")+"\n")
		ended <- err
	}()
	lines := bufio.NewReader(out)
	read := func() (answer struct {
		ID     json.RawMessage
		Error  *struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}) {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v; %s", err, problems.String())
		}
		decode(t, line, &answer)
		return answer
	}
	byID, errors, fine := map[string]int{}, 0, 0
	for range answers {
		answer := read()
		byID[string(answer.ID)]++
		switch {
		case answer.Error != nil:
			errors++
		case answer.Result.IsError:
			errors++
			if text := answer.Result.Content[0].Text; strings.HasPrefix(text, "{") || strings.Contains(text, "\n") || strings.Contains(text, "root:x:") || len(text) > 20_000 {
				t.Errorf("an error of a tool: %.300q", text)
			}
		default:
			fine++
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for one, count := range byID {
		if count != 1 && one != "null" && one != "" {
			t.Errorf("%d answers to request %s", count, one)
		}
	}
	if errors < len(wrong) || fine < 2 {
		t.Errorf("%d errors and %d other answers; expected at least %d and 2", errors, fine, len(wrong))
	}
	// The session goes on.
	if _, err := io.WriteString(in, tool("status", nil)+"\n"); err != nil {
		t.Fatal(err)
	}
	if answer := read(); answer.Error != nil || answer.Result.IsError {
		t.Errorf("after all that: %+v", answer)
	}
	in.Close()
	if err := command.Wait(); err != nil || problems.String() != "" {
		t.Errorf("at the end of its input: %v, %s", err, problems.String())
	}
	for _, task := range []string{mine.ID, other.ID} {
		var history mcpserver.History
		owner.must("history", object{"task": task}, &history)
		if len(history.Trials) != 1 || history.Trials[0].State != "running" || !history.Trials[0].Yours || history.Trials[0].Steps != nil {
			t.Errorf("task %s: %+v", task, history)
		}
		var queue mcpserver.Queue
		if owner.must("list_queue", object{"task": task}, &queue); len(queue.Queued) != 0 {
			t.Errorf("task %s: queued %+v", task, queue)
		}
	}
}

func TestMistakesInMCPFlags(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	for _, c := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--lease", "1ms"}, base.ExitUsage, "--lease 1ms: expected times from 1s to 720h"},
		{[]string{"--client", ""}, base.ExitUsage, "--client: client \"\": expected 1 to 64 bytes"},
		{[]string{"--task", ""}, base.ExitUsage, `--task "": expected the name of a task file`},
		{[]string{"--task", "-"}, base.ExitUsage, `--task "-": expected the name of a task file`},
		{[]string{"--task", "bowl"}, base.ExitFailed, "no node runs on data directory " + dir},
		{[]string{"bowl"}, base.ExitUsage, "bowl"},
	} {
		if e := call(t, append([]string{"mcp", "--data-dir", dir}, c.flags...)...); e.code != c.code || e.stdout != "" || !strings.Contains(e.stderr, c.want) {
			t.Errorf("%q: %d, %s%s; expected %s", c.flags, e.code, e.stdout, e.stderr, c.want)
		}
	}
	// A file needs no node.
	a := startAgent(t, dir, "--task", writeFile(t, "task.yaml", bowlTask))
	if text, failed := a.call("ask", nil); !failed || !strings.HasPrefix(text, "no node runs on data directory "+dir) {
		t.Errorf("ask: %s", text)
	}
}

// TestPythonAgent uses the tools by the protocol's Python package.
func TestPythonAgent(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "mcp")
	dir := shortTempDir(t)
	startServe(t, dir)
	const script = `
import asyncio, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--data-dir", sys.argv[2]], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        async def call(tool, **arguments):
            return json.loads((await session.call_tool(tool, arguments)).content[0].text)
        await call("create_task", text=sys.argv[3])
        for _ in range(4):
            for trial in (await call("ask"))["trials"]:
                p = trial["parameters"]
                await call("tell", trial=trial["id"], value=p["x"] ** 2 + p["y"] ** 2)
        print(len((await call("history"))["trials"]), (await call("best"))["trial"]["state"])

asyncio.run(main())
`
	node := nodeCommand()
	command := exec.Command(python, "-c", script, node.Path, dir, bowlTask)
	command.Env = node.Env
	e := finish(t, command)
	if want := fmt.Sprintln(4, "done"); e.code != 0 || e.stdout != want {
		t.Errorf("%d: %s%s; expected %s", e.code, e.stdout, e.stderr, want)
	}
}
