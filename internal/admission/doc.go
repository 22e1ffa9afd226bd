// Package admission lets a node join a task with one string, without the task's file.
//
// A [Ticket] is a task's ID, a secret and addresses, written as one line. There are three kinds:
//
//   - to an open task: no secret;
//   - a member string: the secret is that of the task's invitation, so a holder is a member;
//   - a guest string: the secret is a token of its own. Only the node that made it knows the token. It
//     admits the holder, and then sends the invitation.
//
// [Request] and [Serve] are the two sides of a stream of [Protocol], on which the holder receives the
// task. Both sides first prove that they know the secret, as package invitation describes. Before
// that the holder sends only a name that is derived from the secret.
package admission
