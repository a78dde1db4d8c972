package wire

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// StartReply appends the head of the reply to m: after it belongs exactly one
// document, and then FinishReply.
func StartReply(dst []byte, m Message, id int32) []byte {
	opcode := wiremessage.OpMsg
	if m.Query {
		opcode = wiremessage.OpReply
	}
	dst = wiremessage.AppendHeader(dst, 0, id, m.ID, opcode)
	if !m.Query {
		dst = wiremessage.AppendMsgFlags(dst, 0)
		return wiremessage.AppendMsgSectionType(dst, wiremessage.SingleDocument)
	}
	dst = wiremessage.AppendReplyFlags(dst, wiremessage.AwaitCapable)
	dst = wiremessage.AppendReplyCursorID(dst, 0)
	dst = wiremessage.AppendReplyStartingFrom(dst, 0)
	return wiremessage.AppendReplyNumberReturned(dst, 1)
}

// FinishReply writes the length of a reply that StartReply began at the start
// of b.
func FinishReply(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}
