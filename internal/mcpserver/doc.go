// Package mcpserver gives agents, such as language models, tools for the tasks of a running node, by the Model
// Context Protocol (https://modelcontextprotocol.io/specification).
//
// [New] returns the server. It has no state of trials: every tool is one or two requests of the HTTP
// interface, which [Node] sends, so that the node alone owns tasks and trials. The types of outputs list what
// an agent may see: trials that this node measured and its own suggestions. They leave out names and
// addresses of peers, shares, and the annotations of trials, which may have paths of files.
//
// [Serve] connects the server to standard input and output. It limits the size of a message and answers
// each malformed one with an error.
package mcpserver
