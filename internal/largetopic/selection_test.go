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
	chosen := selectAuthors(32, all, suggested, rng)
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
		for id := range selectAuthors(32, all, nil, rng) {
			if id >= "040" {
				sybils++
			}
		}
	}
	if places := 200 * 16; sybils > places/11+4*17 {
		t.Errorf("a group of 360 identities gets %d of %d random places, the other ten groups have 40", sybils, places)
	}
	if got := selectAuthors(32, all[:10], nil, rng); len(got) != 10 {
		t.Errorf("%d of 10 authors are chosen, want all", len(got))
	}
}
