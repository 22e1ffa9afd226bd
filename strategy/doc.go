// Package strategy defines the interfaces between an agent and the methods of federated Bayesian
// optimisation. An agent runs one task of one node. A new method implements these interfaces and
// needs no change of the agent.
//
// A method consists of these parts:
//
//   - A [Strategy] chooses the next design. It reads the agent's state from a [View]: own trials,
//     posteriors, peers' shares and results of exchanges.
//   - An [Exchange] is a protocol between the agents of a task. It publishes shares, receives those
//     of peers and may combine them to a result for the strategy.
//   - A [Disclosure] is one way in which a method shares information. It lists the exchanges that
//     run, and describes what peers receive and can learn. The key share of a task file selects it.
//     A method whose agents share nothing has no disclosures.
//   - A [Registration] gives a method its name in task files (key strategy.type). It lists the
//     method's settings and disclosures, and makes the Strategy of a task.
//
// A program collects the registrations that it supports in a [Set].
//
// Strategies and exchanges are pure: they use no clock, goroutine, file, socket or global random
// source. The agent calls them and carries out their outputs. It writes records to disk before their
// effects are visible to others.
package strategy
