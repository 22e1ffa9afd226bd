package sums

import (
	"errors"

	"github.com/fbo-node/fbo/strategy"
)

// Kind is the name of the exchange and the kind of its shares.
const Kind = "sums"

// NewExchange returns the exchange of one member of the roster. env.Entropy must be the Reader of
// crypto/rand.
func NewExchange(env strategy.Env, s Statistic) (strategy.Exchange, error) {
	return nil, errors.New("sums: incomplete")
}
