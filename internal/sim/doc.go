// Package sim runs many agents of one task on a virtual network and clock: the
// same agents that a node runs, with nothing real around them. A [Scenario] says
// who takes part and what the network does to shares; [Run] plays it to the end.
//
// The result depends on the scenario alone, not on the number of cores or their
// speed. What takes time in the world takes none here: choosing a design is
// instantaneous, an evaluation lasts as long as its member says.
//
// The virtual network is what gossip, catching up and reconnecting make of a
// real one, seen from the agents: a share reaches each member that hears its
// author after a delay; one that was lost, or could not pass, arrives later
// unless a newer one has replaced it. A direct message that fails is tried again
// after 1, 2, 4 … 16 s, with jitter, for a minute, as nodes do, and then lost for
// good; any two can arrive in another order. It does not model bandwidth, relaying
// hop by hop, the limits of nodes' queues, direct messages that come twice, or
// attacks below the level of shares.
package sim
