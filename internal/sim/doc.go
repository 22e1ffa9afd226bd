// Package sim runs many agents of one task on a virtual network with a virtual clock. The agents are
// those that a node runs, but without real hosts, disks or time. A [Scenario] defines the members and
// how the network delays and loses messages; [Run] simulates it to the end.
//
// The result depends only on the scenario, not on the number of processor cores or their speed.
// Computation takes no virtual time: choosing a design is instantaneous, and an evaluation takes the
// time that its member defines.
//
// The virtual network behaves toward agents like a real one with gossip, sync requests and
// reconnecting. A share reaches each member that receives from its author after a delay. A share that
// was lost or blocked arrives later, unless a newer one has replaced it. A direct message that fails is
// repeated after 1, 2, 4 … 16 s, with jitter, for a minute, as nodes do, and is then lost. Direct
// messages may arrive in a different order. The package does not simulate bandwidth, hop-by-hop
// forwarding, the limits of nodes' queues, duplicate direct messages, or attacks below the level of
// shares.
package sim
