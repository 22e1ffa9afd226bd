//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// load is clients that evaluate trials of many tasks while the daemon is killed.
type load struct {
	t       *testing.T
	dir     string
	client  *http.Client
	clients int
	tasks   int
	trials  int // of each task
	kills   int

	mu        sync.Mutex
	daemon    *process
	starts    int
	up        chan struct{}        // closed while the daemon listens
	holder    map[string]string    // who was given a trial
	disclosed []map[uint64]float64 // of each task, what was acknowledged
	asked     []int                // of each task, how many trials clients have taken on
	ended     atomic.Int64         // acknowledged outcomes
	goals     chan struct{}        // one for each outcome
}

// run returns when all trials are told and everything has been checked.
func (l *load) run() {
	l.client, l.up, l.holder = socketClient(l.dir), make(chan struct{}), map[string]string{}
	l.goals = make(chan struct{}, l.tasks*l.trials)
	l.disclosed, l.asked = make([]map[uint64]float64, l.tasks), make([]int, l.tasks)
	l.begin()
	for i := range l.tasks {
		l.disclosed[i] = map[uint64]float64{}
		mustRequest(l.t, http.StatusCreated, l.client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, l.name(i))})
	}
	var working sync.WaitGroup
	for i := range l.clients {
		working.Go(func() { l.work(i) })
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		working.Wait()
	}()
	total := l.tasks * l.trials
	for kill := range l.kills {
		for range total / (l.kills + 1) {
			select {
			case <-l.goals:
			case <-over: // by an error
				return
			}
		}
		l.kill(kill)
	}
	<-over
	if !l.t.Failed() {
		l.check()
	}
}

func (l *load) name(task int) string { return fmt.Sprintf("task-%d", task) }

// begin starts the daemon and lets clients in.
func (l *load) begin() {
	p, _ := startServe(l.t, l.dir, "--rate-limit", "1e6")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.daemon = p
	l.starts++
	close(l.up)
}

// kill says so before it does, so that clients know why their requests fail.
func (l *load) kill(n int) {
	l.mu.Lock()
	daemon := l.daemon
	l.up = make(chan struct{})
	l.starts++
	l.mu.Unlock()
	daemon.signal(l.t, syscall.SIGKILL)
	daemon.wait(l.t)
	l.t.Logf("kill %d after %d outcomes", n+1, l.ended.Load())
	l.begin()
}

// do repeats a request until it is answered. Only a kill is an excuse for none.
func (l *load) do(path string, body any, key string) (answer []byte, ok bool) {
	for {
		l.mu.Lock()
		up, starts := l.up, l.starts
		l.mu.Unlock()
		<-up
		status, answer, err := request(l.client, "POST", "http://node"+path, body, "Idempotency-Key", key)
		if err == nil && status == http.StatusOK {
			return answer, true
		}
		l.mu.Lock()
		killed := l.starts != starts
		l.mu.Unlock()
		if !killed {
			l.t.Errorf("%s: %d %s, %v", path, status, answer, err)
			return nil, false
		}
	}
}

// claim takes on one more trial of a task, the next one after the given that is not
// complete; false when all are.
func (l *load) claim(from int) (task int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.tasks {
		if task = (from + i) % l.tasks; l.asked[task] < l.trials {
			l.asked[task]++
			return task, true
		}
	}
	return 0, false
}

func (l *load) work(number int) {
	client := fmt.Sprintf("client %d", number)
	for n := 0; ; n++ {
		task, ok := l.claim(number + n)
		if !ok {
			return
		}
		path, key := "/v1/tasks/"+l.name(task), fmt.Sprintf("%d/%d", number, n)
		id, ok := l.ask(path, client, key)
		if ok && n%5 == 1 { // the client dies, and another process of its name goes on
			again, asked := l.ask(path, client, key+"/again")
			if ok = asked && again == id; asked && !ok {
				l.t.Errorf("%s of %s holds trial %d and is given %d", client, path, id, again)
			}
		}
		if !ok || !l.note(path, client, id) {
			return
		}
		value := float64(number) + float64(n)/1000
		for range 1 + n%2 { // an answer may get lost
			if _, ok := l.do(fmt.Sprintf("%s/trials/%d/tell", path, id), object{"value": value}, key+"/tell"); !ok {
				return
			}
		}
		l.mu.Lock()
		l.disclosed[task][id] = value
		l.mu.Unlock()
		l.ended.Add(1)
		l.goals <- struct{}{}
	}
}

// ask gets one trial.
func (l *load) ask(path, client, key string) (id uint64, ok bool) {
	answer, ok := l.do(path+"/ask", object{"client": client}, key)
	if !ok {
		return 0, false
	}
	var asked struct {
		Trials []struct {
			ID uint64 `json:"id"`
		} `json:"trials"`
	}
	if err := json.Unmarshal(answer, &asked); err != nil || len(asked.Trials) != 1 {
		l.t.Errorf("%s is given %s, %v", client, answer, err)
		return 0, false
	}
	return asked.Trials[0].ID, true
}

// note tells whether nobody else has got the trial.
func (l *load) note(path, client string, id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	trial := fmt.Sprintf("%s/%d", path, id)
	if other, taken := l.holder[trial]; taken {
		l.t.Errorf("trial %d of %s is given to %s and to %s", id, path, other, client)
		return false
	}
	l.holder[trial] = client
	return true
}

// check compares what was acknowledged with what the journal has after the end.
func (l *load) check() {
	l.daemon.signal(l.t, syscall.SIGTERM)
	if code := l.daemon.wait(l.t); code != base.ExitDone {
		l.t.Errorf("exit code %d, %s", code, l.daemon.stderr.String())
	}
	for i, disclosed := range l.disclosed {
		file := writeFile(l.t, "task.yaml", fmt.Sprintf(servedBowl, l.name(i)))
		var trials []trialJSON
		decode(l.t, must(l.t, "history", "--json", "--data-dir", l.dir, file), &trials)
		if len(trials) != l.trials || len(disclosed) != l.trials {
			l.t.Errorf("%s has %d trials, of which %d outcomes were acknowledged, want %d", l.name(i), len(trials), len(disclosed), l.trials)
		}
		for _, trial := range trials {
			if value, ok := disclosed[trial.ID]; !ok || trial.State != "done" || trial.Attempts != 1 || trial.Outcome.Value != value {
				l.t.Errorf("trial %d of %s: told %g, acknowledged %t, in the journal %+v", trial.ID, l.name(i), value, ok, trial)
			}
		}
	}
}

// Whatever is acknowledged is there after a kill, and no trial is given to two.
func TestManyClientsAndKills(t *testing.T) {
	t.Parallel()
	(&load{t: t, dir: shortTempDir(t), clients: 100, tasks: 6, trials: 60, kills: 2}).run()
}
