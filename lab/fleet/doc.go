// Package fleet simulates how shares reach the agents of a large topic, with thousands of agents. An agent is a state machine without
// models: it knows at most 1,024 authors, announces that it has a newer share, chooses authors and fetches their shares. Choices, pauses, fetches and
// evictions are those of packages largetopic and presence, sizes those of real messages. docs/experiments/fleet.md has the results.
//
// A message goes along the connections of a random graph: to all peers of its author, then along the mesh
// of every agent that accepts it, then by gossip's message IDs to some of the other peers. An agent that has no place
// for an author forwards nothing of it, as in package wire. These parts are simplified:
//
//   - A message arrives everywhere at the time at which it is sent. It takes less than a few seconds in a network, and pauses between messages of an
//     author are 10 to 512 s.
//   - An agent can dial a random sample of the others, as large as its table of members. In a network this
//     sample changes.
//   - The end of an agent ends its connections at once; agents that a partition separates connect again when it ends.
//   - The strategy weighs no peers and there are no keepers, so that authors are random.
//   - An agent that floods sends one message for all until its next one, and each receiver checks a
//     random part of these within its limits.
package fleet
