package peers

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
	r := newRegistry(random())
	for i := range MaxOfTask + 20 {
		if !r.register("task", id(i), "", []byte{1}, now.Add(time.Duration(i))) {
			t.Fatalf("node %d finds no room", i)
		}
	}
	if len(r.tasks["task"]) != MaxOfTask || r.count != MaxOfTask || len(r.nodes) != MaxOfTask {
		t.Errorf("%d are registered on a task, %d in all", len(r.tasks["task"]), r.count)
	}
	if got := r.others("task", "newcomer", 5, now); len(got) != 5 {
		t.Errorf("the newcomer is introduced to %d, want 5", len(got))
	}
	later := now.Add(RegistrationTTL + time.Second)
	if !r.register("task", "newcomer", "", nil, later) || r.count != 1 {
		t.Errorf("after all have expired there are %d registrations", r.count)
	}

	r = newRegistry(random())
	for i := range MaxTasksOfNode + 1 {
		if got := r.register(fmt.Sprint(i), "one", "", nil, now); got != (i < MaxTasksOfNode) {
			t.Errorf("task %d of one node: %v", i, got)
		}
	}
	for i := range MaxRegistrations + 20 {
		r.register(fmt.Sprint("of ", i%64), id(i), fmt.Sprint(i), nil, now) // all groups have one
	}
	if r.count != MaxRegistrations {
		t.Errorf("%d registrations in all", r.count)
	}
	if !r.register("another", "newcomer", "", nil, later) || r.count != 1 {
		t.Errorf("after all have expired there are %d registrations", r.count)
	}
}

// TestMadeUpNodesDisplaceNoOthers checks that hundreds of made-up identities from one address do not
// prevent the introduction of others to each other.
func TestMadeUpNodesDisplaceNoOthers(t *testing.T) {
	now := time.Now()
	r := newRegistry(random())
	madeUp := func(n int) {
		for i := range n {
			now = now.Add(time.Millisecond)
			r.register("task", peer.ID(fmt.Sprint("made up ", i)), "203.0.113.7/32", []byte("made up"), now)
		}
	}
	madeUp(MaxOfTask + 8)
	honest := []string{"a", "b", "c"}
	for _, name := range honest {
		now = now.Add(time.Millisecond)
		if !r.register("task", peer.ID(name), name+"/32", []byte(name), now) {
			t.Fatal("no room")
		}
	}
	madeUp(2 * MaxOfTask)
	for _, name := range honest {
		var known []string
		for _, sealed := range r.others("task", peer.ID(name), 4, now) {
			known = append(known, string(sealed))
		}
		slices.Sort(known)
		want := append(slices.DeleteFunc(slices.Clone(honest), func(other string) bool { return other == name }), "made up", "made up")
		if !slices.Equal(known, want) {
			t.Errorf("%s is introduced to %v, want %v", name, known, want)
		}
	}
	// Of equal groups a newcomer takes no place of another.
	if !r.register("task", "one more", "a/32", []byte("one more"), now) || !r.together("one more", "a") || !r.together("a", "b") {
		t.Error("a second node from an address is not introduced while there are hundreds from another")
	}
	if len(r.tasks["task"]) != MaxOfTask || r.count != MaxOfTask {
		t.Errorf("%d are registered", r.count)
	}
}

// TestAllGroupsAreIntroducedInTurn checks that repeated requests of a node return members of each
// group in turn, however a party spreads over groups. Groups that arrive later are included.
func TestAllGroupsAreIntroducedInTurn(t *testing.T) {
	const groups, atOnce = 100, 32
	now := time.Now()
	r := newRegistry(random())
	add := func(name string) { r.register("task", peer.ID(name), name, []byte(name), now) }
	for i := range groups - 1 {
		add(fmt.Sprint("first ", i))
	}
	add("asking")
	sentTo := map[string]bool{}
	ask := func(times int) {
		for range times {
			for _, sealed := range r.others("task", "asking", atOnce, now) {
				sentTo[string(sealed)] = true
			}
			add("asking") // each request registers again
		}
	}
	ask(4)
	if len(sentTo) != groups-1 {
		t.Errorf("four responses of %d records contain %d groups, want %d", atOnce, len(sentTo), groups-1)
	}
	add("newcomer")
	ask(4)
	if !sentTo["newcomer"] {
		t.Error("not of one that has come later")
	}
}

// TestRegistryAgreesWithAList compares the registry with a list of all events.
func TestRegistryAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			task    string
			id      peer.ID
			expires time.Time
		}
		r, now := newRegistry(random()), time.Unix(0, 0)
		var list []entry
		tasks, ids := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]peer.ID{"1", "2", "3", "4"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			task, id := tasks.Draw(t, "task"), ids.Draw(t, "node")
			switch rapid.SampledFrom([]string{"register", "forget", "wait"}).Draw(t, "step") {
			case "register":
				list = slices.DeleteFunc(list, func(e entry) bool { return e.task == task && e.id == id })
				list = append(list, entry{task, id, now.Add(RegistrationTTL)})
				r.register(task, id, string(id), []byte(id), now)
			case "forget":
				list = slices.DeleteFunc(list, func(e entry) bool { return e.id == id })
				r.forget(id)
			case "wait":
				now = now.Add(RegistrationTTL / 3)
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

// TestReservationsAreSharedByRanges checks that the first range has all reservations until another asks,
// which gets as many, and that nodes keep theirs when they ask again.
func TestReservationsAreSharedByRanges(t *testing.T) {
	const all = 8
	p := newReservations(random(), all)
	ask := func(group string, times int) (given, taken int) {
		for i := range times {
			loses, ok := p.take(peer.ID(fmt.Sprint(group, i)), group)
			if ok {
				given++
			}
			if loses != "" {
				taken++
			}
		}
		return given, taken
	}
	for _, step := range []struct {
		group               string
		times, given, taken int
	}{
		{"first", all + 3, all, 0},
		{"first", all, all, 0}, // again
		{"second", all, all / 2, all / 2},
		{"third", 1, 1, 1},
	} {
		if given, taken := ask(step.group, step.times); given != step.given || taken != step.taken {
			t.Errorf("%s: %d of %d get a place, %d of others lose one, want %d and %d", step.group, given, step.times, taken, step.given, step.taken)
		}
	}
	p.forget("third0")
	if given, taken := ask("fourth", 1); given != 1 || taken != 0 {
		t.Errorf("where one has left, %d get a place and %d lose one", given, taken)
	}
}
