package mongotest

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A rewriter returns the new value for a path, or false to omit the field. The new
// value's contents are rewritten next.
type rewriter func(path []string, v bson.RawValue) (bson.RawValue, bool)

// rewrite returns a rewritten copy of a document or array.
func rewrite(d bson.Raw, path []string, f rewriter) bson.Raw {
	b := bsoncore.NewDocumentBuilder()
	elements, _ := d.Elements()
	for _, e := range elements {
		at := append(slices.Clip(path), e.Key())
		v, keep := f(at, e.Value())
		if !keep {
			continue
		}
		if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			v.Value = rewrite(bson.Raw(v.Value), at, f)
		}
		b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
	}
	return bson.Raw(b.Build())
}

func rawValue(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(err) // values of this package can be stored
	}
	return bson.RawValue{Type: t, Value: data}
}

// A stripper removes the driver's additions from a command, and numbers transactions.
type stripper struct{ txns map[string]int64 }

func (s *stripper) strip(c Command) bson.Raw {
	_, inTxn := c.Body.Lookup("autocommit").BooleanOK()
	return rewrite(c.Body, nil, func(path []string, v bson.RawValue) (bson.RawValue, bool) {
		if len(path) > 1 {
			return v, true
		}
		switch path[0] {
		case "lsid", "$db", "$clusterTime", "recoveryToken", "maxTimeMS":
			return v, false
		case "txnNumber":
			if !inTxn {
				return v, false
			}
			return rawValue(s.txn(c, v)), true
		case "$readPreference":
			mode, _ := v.Document().Lookup("mode").StringValueOK()
			return v, mode != "primary" && mode != "primaryPreferred"
		case "readConcern":
			d, ok := v.DocumentOK()
			if !ok {
				return v, true
			}
			v.Value = rewrite(d, nil, func(path []string, v bson.RawValue) (bson.RawValue, bool) {
				return v, path[0] != "afterClusterTime"
			})
			return v, len(v.Value) > 5
		}
		return v, true
	})
}

func (s *stripper) txn(c Command, number bson.RawValue) int64 {
	key := string(c.Body.Lookup("lsid").Value) + string(number.Value)
	if s.txns == nil {
		s.txns = map[string]int64{}
	}
	if s.txns[key] == 0 {
		s.txns[key] = int64(len(s.txns) + 1)
	}
	return s.txns[key]
}

// A normalizer numbers values that a server or client generates anew in each run.
type normalizer struct {
	stripper
	ids             map[bson.ObjectID]bson.ObjectID
	clients, others int // ObjectIDs
	given           map[string]bool
	numbers         map[string]bson.RawValue // cursors, timestamps, tokens, UUIDs: by type and value
	counts          map[string]int
	hosts           []string
}

func newNormalizer(hosts []string) *normalizer {
	return &normalizer{
		ids: map[bson.ObjectID]bson.ObjectID{}, given: map[string]bool{}, numbers: map[string]bson.RawValue{},
		counts: map[string]int{}, hosts: hosts,
	}
}

// command returns a command as recorded.
func (n *normalizer) command(c Command) bson.Raw {
	return rewrite(n.strip(c), nil, func(path []string, v bson.RawValue) (bson.RawValue, bool) {
		key := path[len(path)-1]
		switch {
		case c.Name == "getMore" && len(path) == 1 && key == "getMore", c.Name == "killCursors" && path[0] == "cursors":
			return n.known("cursor", v), true
		case key == "_data":
			return n.known("token", v), true
		}
		return n.value(v, false), true
	})
}

// reply returns a reply as recorded.
func (n *normalizer) reply(c Command, reply bson.Raw) bson.Raw {
	_, watches := reply.Lookup("cursor", "postBatchResumeToken").DocumentOK()
	failed := number(reply, "ok") != 1 && reply.Lookup("ok").Type != bson.TypeBoolean
	return rewrite(reply, nil, func(path []string, v bson.RawValue) (bson.RawValue, bool) {
		key := path[len(path)-1]
		switch {
		case len(path) == 1 && unrecorded[key]:
			return v, false
		case c.Name == "hello" && len(path) == 1:
			return v, slices.Contains(helloFacts, key)
		case c.Name == "explain" && key == "serverInfo":
			return v, false
		case c.Name == "explain" && isTime(key) && v.IsNumber():
			return rawValue(int32(0)), true
		case slices.Equal(path, []string{"cursor", "id"}), strings.HasPrefix(path[0], "cursors"):
			return n.numbered("cursor", v), true
		case key == "_data" && v.Type == bson.TypeString:
			return n.numbered("token", v), true
		case watches && key == "wallTime" && len(path) == 4 && v.Type == bson.TypeDateTime:
			return rawValue(bson.DateTime(0)), true
		case v.Type == bson.TypeString && (failed || path[0] == "writeErrors" || path[0] == "writeConcernError"):
			return n.value(n.withoutHosts(v), true), true
		}
		return n.value(v, true), true
	})
}

// unrecorded are fields by which servers and drivers synchronize.
var unrecorded = map[string]bool{
	"$clusterTime": true, "operationTime": true, "topologyVersion": true, "electionId": true,
	"opTime": true, "recoveryToken": true, "$gleStats": true, "lastCommittedOpTime": true, "$configServerState": true,
	"$configTime": true, "$topologyTime": true,
}

// helloFacts are the recorded fields of a hello, which the driver depends on.
var helloFacts = []string{
	"isWritablePrimary", "ismaster", "secondary", "msg", "setName", "maxBsonObjectSize", "maxMessageSizeBytes",
	"maxWriteBatchSize", "logicalSessionTimeoutMinutes", "minWireVersion", "maxWireVersion", "readOnly", "ok",
}

// isTime reports whether a field of an explain is a duration.
func isTime(key string) bool {
	return strings.Contains(key, "Time") &&
		(strings.Contains(key, "Millis") || strings.Contains(key, "Micros") || strings.Contains(key, "Nanos"))
}

func (n *normalizer) withoutHosts(v bson.RawValue) bson.RawValue {
	s := v.StringValue()
	for _, host := range n.hosts {
		s = strings.ReplaceAll(s, host, "server")
	}
	return rawValue(s)
}

// value numbers a generated value. Values in a command that this process didn't generate
// are the caller's, and are kept, also in replies.
func (n *normalizer) value(v bson.RawValue, inReply bool) bson.RawValue {
	switch v.Type {
	case bson.TypeObjectID, bson.TypeString:
		return mapIDs(v, func(id bson.ObjectID) bson.ObjectID { return n.id(id, inReply) })
	case bson.TypeTimestamp, bson.TypeBinary:
		if subtype, _, ok := v.BinaryOK(); ok && subtype != bson.TypeBinaryUUID {
			return v
		}
		if !inReply {
			if _, ok := n.numbers[numberKey(v.Type.String(), v)]; !ok {
				n.given[string(v.Value)] = true
			}
			return n.known(v.Type.String(), v)
		}
		if n.given[string(v.Value)] {
			return v
		}
		return n.numbered(v.Type.String(), v)
	}
	return v
}

func (n *normalizer) id(id bson.ObjectID, inReply bool) bson.ObjectID {
	if to, ok := n.ids[id]; ok {
		return to
	}
	switch {
	case ownID(id) && !inReply:
		n.clients++
		n.ids[id] = numberedID(clientMark, n.clients)
	case inReply && !n.given[string(id[:])]:
		n.others++
		n.ids[id] = numberedID(serverMark, n.others)
	default:
		n.given[string(id[:])] = true
		return id
	}
	return n.ids[id]
}

func numberKey(kind string, v bson.RawValue) string { return kind + " " + string(v.Value) }

// known returns the number of a reply's value, or the value.
func (n *normalizer) known(kind string, v bson.RawValue) bson.RawValue {
	if to, ok := n.numbers[numberKey(kind, v)]; ok {
		return to
	}
	return v
}

// numbered returns the number of a value, and assigns one if needed.
func (n *normalizer) numbered(kind string, v bson.RawValue) bson.RawValue {
	key := numberKey(kind, v)
	if to, ok := n.numbers[key]; ok {
		return to
	}
	count := n.counts[kind] + 1
	var to bson.RawValue
	switch {
	case kind == "cursor" && v.Type == bson.TypeInt64 && v.Int64() != 0:
		to = rawValue(int64(count))
	case kind == "token":
		to = rawValue(fmt.Sprintf("token %d", count))
	case v.Type == bson.TypeTimestamp:
		if t, i := v.Timestamp(); t == 0 && i == 0 {
			return v
		}
		to = rawValue(bson.Timestamp{T: uint32(count), I: 1})
	case v.Type == bson.TypeBinary:
		id := [16]byte{6: 0x40, 8: 0x80, 13: byte(count >> 16), 14: byte(count >> 8), 15: byte(count)}
		to = rawValue(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]})
	default:
		return v
	}
	n.counts[kind], n.numbers[key] = count, to
	return to
}
