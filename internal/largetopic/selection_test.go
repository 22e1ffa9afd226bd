package largetopic

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSelectAuthors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []Candidate[string]
	for i := range 400 {
		c := Candidate[string]{ID: fmt.Sprintf("%03d", i), Group: "sybils"}
		if i < 40 {
			c.Group = fmt.Sprintf("group %d", i%10)
		}
		if i < 20 {
			c.Use = 0.5 + float64(i)/100
		}
		all = append(all, c)
	}
	suggested := []string{"unknown", "399", "398", "397", "396", "395", "394", "393", "392", "391"}
	chosen := selectAuthors(32, all, suggested, nil, rng)
	if len(chosen) != 32 {
		t.Fatalf("%d authors are chosen, want 32", len(chosen))
	}
	for i := 4; i < 20; i++ {
		if !chosen[all[i].ID] {
			t.Errorf("author %d of use %g is not among the 16 of most use", i, all[i].Use)
		}
	}
	friends := 0
	for _, id := range suggested {
		if chosen[id] {
			friends++
		}
	}
	if friends != 8 {
		t.Errorf("%d suggested authors are chosen, want 8: a keeper fills a quarter of the places", friends)
	}
	// Of the 8 random places the group of 360 identities gets one in 11 on average: more than 40 of 1,600
	// places over 200 choices in excess of the expected 145 has a probability below 0.001.
	sybils := 0
	for range 200 {
		for id := range selectAuthors(32, all, nil, nil, rng) {
			if id >= "040" {
				sybils++
			}
		}
	}
	if places := 200 * 16; sybils > places/11+4*17 {
		t.Errorf("a group of 360 identities gets %d of %d random places, the other ten groups have 40", sybils, places)
	}
	if got := selectAuthors(32, all[:10], nil, nil, rng); len(got) != 10 {
		t.Errorf("%d of 10 authors are chosen, want all", len(got))
	}
}

// TestServedAuthorsStay: half of the places that use and suggestions leave stay with authors that were
// served, if they still announce shares and their use is unknown.
func TestServedAuthorsStay(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var all []Candidate[int]
		for i := range 1000 {
			all = append(all, Candidate[int]{ID: i, Group: fmt.Sprint(i)})
		}
		used, suggested, served := rng.IntN(20), rng.IntN(12), rng.IntN(33)
		for i := range used {
			all[i].Use = 0.5
		}
		for i := range 10 { // served, and of little use
			all[300+i].Use = 0.1
		}
		var hints, stay []int
		for i := range suggested {
			hints = append(hints, 100+i)
		}
		for i := range served {
			stay = append(stay, 200+i)
		}
		others := []int{5000, 5001} // which announce nothing any more
		if used >= 16 {
			others = append(others, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309)
		}
		chosen := selectAuthors(32, all, hints, append(others, stay...), rng)
		places := (32 - min(used+10, 16) - min(suggested, 8)) / 2
		got, useless := 0, 0
		for id := range chosen {
			switch {
			case id >= 200 && id < 200+served:
				got++
			case id >= 300 && id < 310 && used >= 16:
				useless++
			}
		}
		if chosen[5000] || chosen[5001] || len(chosen) != 32 {
			t.Fatalf("seed %d: %d authors, silent ones %v, %v", seed, len(chosen), chosen[5000], chosen[5001])
		}
		if useless > 2 { // more than by chance
			t.Errorf("seed %d: %d authors of little use stay", seed, useless)
		}
		// Up to 16 random places go to a served author with a probability of 4 % each.
		if want := min(places, served); got < want || got > want+4 {
			t.Errorf("seed %d: %d of %d served authors stay, expected %d, and up to 4 more by chance", seed, got, served, want)
		}
	}
}

// TestRemoteAuthorsAreChosenLast: random places go to authors that the agent can connect to, as long as there are any.
func TestRemoteAuthorsAreChosenLast(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var all []Candidate[int]
		near := rng.IntN(60)
		for _, i := range rng.Perm(200) {
			all = append(all, Candidate[int]{ID: i, Group: fmt.Sprint(i % 7), Remote: i >= near})
		}
		got := 0
		for id := range selectAuthors(32, all, nil, nil, rng) {
			if id < near {
				got++
			}
		}
		if want := min(near, 32); got != want {
			t.Errorf("seed %d: %d of %d near authors have one of 32 places, expected %d", seed, got, near, want)
		}
	}
}
