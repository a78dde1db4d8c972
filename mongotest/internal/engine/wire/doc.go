// Package wire reads and writes the part of MongoDB's wire protocol that a
// driver of today speaks: OP_MSG with document sequences, and the OP_QUERY
// handshake that opens a connection.
//
// Nothing that a peer sends makes it panic, and it never allocates more than
// a small multiple of the bytes that have arrived, whatever length a message
// claims. Anything malformed is an error, after which the connection must be
// closed: there is no way to find the next message.
package wire
