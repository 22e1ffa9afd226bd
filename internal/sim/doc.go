// Package sim runs many agents of one task on a virtual network and clock: the same agents that a
// node runs, without real hosts, disks or time. A [Scenario] sets the members and the effects of
// the network on shares; [Run] simulates it to the end.
//
// The result depends on the scenario alone, not on the number of cores or their speed. Computation
// takes no virtual time: choosing a design is instantaneous, and an evaluation lasts for the
// duration that its member sets.
//
// The virtual network models a real one with gossip, catching up and reconnecting, as agents see
// it. A share reaches each member that receives from its author after a delay; a share that was
// lost, or could not pass, arrives later unless a newer one has replaced it. A direct message that
// fails is tried again after 1, 2, 4 … 16 s, with jitter, for a minute, as nodes do, and is then
// lost permanently; any two can arrive in another order. It does not model bandwidth, relaying hop
// by hop, the limits of nodes' queues, direct messages that come twice, or attacks below the level
// of shares.
package sim
