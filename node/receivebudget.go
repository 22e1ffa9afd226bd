package node

import (
	"time"

	"golang.org/x/time/rate"
)

// Work that others can give a node without a reason that it could see beforehand, in
// signatures to check: so much a second for all together and, when that is used up, a little
// for each group, so that one that asks for little is served whatever others do.
const (
	checkRate, checkBurst           = 200, 1000 // messages of gossip
	groupCheckRate, groupCheckBurst = 5, 50     // of what its peers say themselves, and as many of what they pass on

	// Items of answers in which peers tell what they hold. The burst is as many shares as an
	// agent may hold of others.
	itemRate, itemBurst           = 50, 3072
	groupItemRate, groupItemBurst = 5, 128
	itemBytes                     = 4 << 10 // of which a larger item counts as several
)

// budget is shared by groups, as groupOf names them.
type budget struct {
	all    *rate.Limiter
	each   func() *rate.Limiter
	groups map[string]*allowance
}

// allowance is what a group has of a budget in any case.
type allowance struct {
	*rate.Limiter
	last time.Time // use
}

func newBudget(all *rate.Limiter, each func() *rate.Limiter) budget {
	return budget{all: all, each: each, groups: map[string]*allowance{}}
}

func newCheckBudget() budget {
	return newBudget(rate.NewLimiter(checkRate, checkBurst), func() *rate.Limiter { return rate.NewLimiter(groupCheckRate, groupCheckBurst) })
}

func newItemBudget() budget {
	return newBudget(rate.NewLimiter(itemRate, itemBurst), func() *rate.Limiter { return rate.NewLimiter(groupItemRate, groupItemBurst) })
}

// allow tells whether something of that cost is still done for a group, and takes note of it.
func (b *budget) allow(now time.Time, group string, cost int) bool {
	a := b.groups[group]
	if a == nil {
		if len(b.groups) >= maxRanges {
			deleteOldest(b.groups, func(a *allowance) time.Time { return a.last })
		}
		a = &allowance{Limiter: b.each()}
		b.groups[group] = a
	}
	a.last = now
	return a.AllowN(now, cost) || b.all.AllowN(now, cost)
}
