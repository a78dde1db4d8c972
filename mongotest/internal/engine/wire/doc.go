// Package wire reads and writes the part of MongoDB's wire protocol
// (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/) that a driver of today speaks: OP_MSG with
// document sequences, and the OP_QUERY handshake that opens a connection.
//
// A message as it arrives, all numbers little-endian:
//
//	int32 length, header included        int32 request id
//	int32 response to                    int32 opcode: 2013 OP_MSG, 2004 OP_QUERY
//	OP_MSG:   uint32 flags, sections…, crc32c of all before it if the flag says so
//	  section 0: one document, the command with its "$db"
//	  section 1: int32 size, field name, documents: the array that the field would hold
//	OP_QUERY: int32 flags, "<database>.$cmd", int32 skip, int32 count, one document
//
// The steps of one request:
//
//  1. [Reader.Next] reads the length, then the rest of the message into its buffer.
//  2. [Parse] checks the form and takes the message apart. It copies nothing.
//  3. The engine runs the command in [Message.Body] and [Message.Sequences].
//  4. [StartReply] begins an answer of the same kind as the request, the engine appends one document, and
//     [FinishReply] writes the length.
//
// Invariants:
//
//   - Nothing that a peer sends makes the package panic.
//   - It never allocates more than a small multiple of the bytes that have arrived, whatever length a message claims.
//   - Anything malformed is an error, after which the connection must be closed: there is no way to find the next
//     message.
//   - A message's documents alias the reader's buffer. They are valid until the next call of Next.
//   - A flag among the lower 16 that the package doesn't know is an error, as the protocol requires. A flag among the
//     upper 16 is ignored.
//
// The engine is the only caller: its connections, and its method Answer for a message without a connection.
package wire
