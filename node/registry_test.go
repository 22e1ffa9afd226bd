package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"
)

func TestRegistryIsBounded(t *testing.T) {
	now := time.Now()
	id := func(i int) peer.ID { return peer.ID(fmt.Sprint("node ", i)) }
	r := newRegistry()
	for i := range mostOfTask {
		if !r.register("task", id(i), []byte{1}, now) {
			t.Fatalf("node %d finds no room", i)
		}
	}
	if r.register("task", "newcomer", nil, now) {
		t.Error("room for more than may be of one task")
	}
	if !r.register("task", id(0), []byte{2}, now) {
		t.Error("no room to renew")
	}
	if got := r.others("task", "newcomer", 5, now); len(got) != 5 {
		t.Errorf("the newcomer gets to know %d, want 5", len(got))
	}
	if !r.register("task", "newcomer", nil, now.Add(registrationTTL)) || r.count != 1 {
		t.Errorf("after all have expired there are %d registrations", r.count)
	}

	r = newRegistry()
	for i := range mostTasksOfNode + 1 {
		if got := r.register(fmt.Sprint(i), "one", nil, now); got != (i < mostTasksOfNode) {
			t.Errorf("task %d of one node: %v", i, got)
		}
	}
	for i := 0; r.count < mostRegistrations; i++ {
		r.register(fmt.Sprint("of ", i%64), id(i), nil, now)
	}
	if r.register("another", "newcomer", nil, now) {
		t.Error("room for more than may be")
	}
	if !r.register("another", "newcomer", nil, now.Add(registrationTTL)) || r.count != 1 {
		t.Errorf("after all have expired there are %d registrations", r.count)
	}
}

// The registry says what a plain list of what happened says.
func TestRegistryAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			task    string
			id      peer.ID
			expires time.Time
		}
		r, now := newRegistry(), time.Unix(0, 0)
		var list []entry
		tasks, ids := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]peer.ID{"1", "2", "3", "4"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			task, id := tasks.Draw(t, "task"), ids.Draw(t, "node")
			switch rapid.SampledFrom([]string{"register", "forget", "wait"}).Draw(t, "step") {
			case "register":
				list = slices.DeleteFunc(list, func(e entry) bool { return e.task == task && e.id == id })
				list = append(list, entry{task, id, now.Add(registrationTTL)})
				r.register(task, id, []byte(id), now)
			case "forget":
				list = slices.DeleteFunc(list, func(e entry) bool { return e.id == id })
				r.forget(id)
			case "wait":
				now = now.Add(registrationTTL / 3)
			}
			r.expireAll(now)
			list = slices.DeleteFunc(list, func(e entry) bool { return !now.Before(e.expires) })
			if r.count != len(list) {
				t.Fatalf("%d registrations, want %d", r.count, len(list))
			}
			var want []string
			together := false
			for _, e := range list {
				if e.task == task && e.id != id {
					want = append(want, string(e.id))
				}
				if e.id == "1" {
					together = together || slices.ContainsFunc(list, func(o entry) bool { return o.id == "2" && o.task == e.task })
				}
			}
			var got []string
			for _, sealed := range r.others(task, id, 10, now) {
				got = append(got, string(sealed))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || r.together("1", "2") != together {
				t.Fatalf("others %v, want %v; together %v", got, want, !together)
			}
		}
	})
}
