package mongotest

import (
	"bytes"
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A recording numbers generated ObjectIDs. The number is stored as an ObjectID with one
// of two marks.
var (
	clientMark = [9]byte{0, 0, 0, 0, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d} // made by the client
	serverMark = [9]byte{0, 0, 0, 0, 0x5e, 0x5e, 0x5e, 0x5e, 0x5e} // made by the server
)

func numberedID(mark [9]byte, n int) bson.ObjectID {
	return bson.ObjectID(append(mark[:], byte(n>>16), byte(n>>8), byte(n)))
}

// process is the part of ObjectIDs that identifies this process, after the seconds.
var process = func() [5]byte {
	id := bson.NewObjectID()
	return [5]byte(id[4:9])
}()

// ownID reports whether this process made the ObjectID.
func ownID(id bson.ObjectID) bool { return [5]byte(id[4:9]) == process }

func markedID(id bson.ObjectID) bool {
	return bytes.HasPrefix(id[:], clientMark[:]) || bytes.HasPrefix(id[:], serverMark[:])
}

// mapHexIDs replaces ObjectIDs in hexadecimal anywhere in a string.
func mapHexIDs(s string, f func(bson.ObjectID) bson.ObjectID) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		id, ok := hexID(s[i:])
		if !ok {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(f(id).Hex())
		i += 24
	}
	return out.String()
}

// hexID returns the ObjectID at the beginning of a string, if this process made it or it
// has a mark.
func hexID(s string) (id bson.ObjectID, ok bool) {
	if len(s) < 24 {
		return id, false
	}
	if _, err := hex.Decode(id[:], []byte(s[:24])); err != nil || s[:24] != id.Hex() {
		return id, false
	}
	return id, ownID(id) || markedID(id)
}

// A binding maps generated ObjectIDs and transaction numbers of this run to those of the
// recording.
type binding struct {
	generated func(bson.ObjectID) bool // reports which ObjectIDs of this run may be mapped
	ids, back map[bson.ObjectID]bson.ObjectID
	txns      map[int64]int64
}

func newBinding(generated func(bson.ObjectID) bool) *binding {
	return &binding{generated, map[bson.ObjectID]bson.ObjectID{}, map[bson.ObjectID]bson.ObjectID{}, map[int64]int64{}}
}

func (b *binding) clone() *binding {
	c := newBinding(b.generated)
	for k, v := range b.ids {
		c.ids[k], c.back[v] = v, k
	}
	for k, v := range b.txns {
		c.txns[k] = v
	}
	return c
}

// bind reports whether an ObjectID of this run corresponds to the recorded one, and maps
// it if it is new.
func (b *binding) bind(recorded, live bson.ObjectID) bool {
	bound, ok := b.ids[recorded]
	switch {
	case ok:
		return bound == live
	case live == recorded:
		return true
	case !markedID(recorded) || !b.generated(live):
		return false
	}
	if _, taken := b.back[live]; taken {
		return false
	}
	b.ids[recorded], b.back[live] = live, recorded
	return true
}

// matches reports whether a command of this run is the recorded one. It maps what it can
// in any case.
func (b *binding) matches(recorded, live bson.Raw) bool {
	r, err1 := recorded.Elements()
	l, err2 := live.Elements()
	same := err1 == nil && err2 == nil && len(r) == len(l)
	byKey := map[string]bson.RawValue{}
	for _, e := range l {
		byKey[e.Key()] = e.Value()
	}
	for i, e := range r {
		if i >= len(l) || l[i].Key() != e.Key() {
			same = false
		}
		v, ok := byKey[e.Key()]
		if e.Key() == "txnNumber" && ok {
			ok = b.sameTxn(e.Value(), v)
		} else if ok {
			ok = b.matchesValue(e.Value(), v)
		}
		same = same && ok
	}
	return same
}

func (b *binding) sameTxn(recorded, live bson.RawValue) bool {
	r, ok1 := recorded.AsInt64OK()
	l, ok2 := live.AsInt64OK()
	if bound, ok := b.txns[r]; ok {
		return bound == l
	}
	b.txns[r] = l
	return ok1 && ok2
}

func (b *binding) matchesValue(r, l bson.RawValue) bool {
	switch {
	case r.Type != l.Type:
		return false
	case r.Type == bson.TypeEmbeddedDocument || r.Type == bson.TypeArray:
		return b.matches(bson.Raw(r.Value), bson.Raw(l.Value))
	case r.Type == bson.TypeObjectID:
		return b.bind(r.ObjectID(), l.ObjectID())
	case r.Type == bson.TypeString:
		return b.matchesString(r.StringValue(), l.StringValue())
	}
	return bytes.Equal(r.Value, l.Value)
}

func (b *binding) matchesString(r, l string) bool {
	if len(r) != len(l) {
		return false
	}
	for i := 0; i < len(r); {
		want, ok := hexID(r[i:])
		if !ok || !markedID(want) {
			if r[i] != l[i] {
				return false
			}
			i++
			continue
		}
		got, ok := hexID(l[i:])
		if !ok || !b.bind(want, got) {
			return false
		}
		i += 24
	}
	return true
}

// live returns a recorded reply with the ObjectIDs of this run.
func (b *binding) live(recorded bson.Raw) bson.Raw {
	return b.replace(recorded, b.ids)
}

// recorded returns a command of this run with the ObjectIDs of the recording.
func (b *binding) recorded(live bson.Raw) bson.Raw {
	return b.replace(live, b.back)
}

func (b *binding) replace(d bson.Raw, by map[bson.ObjectID]bson.ObjectID) bson.Raw {
	replaced := func(id bson.ObjectID) bson.ObjectID {
		if to, ok := by[id]; ok {
			return to
		}
		return id
	}
	return rewrite(d, nil, func(_ []string, v bson.RawValue) (bson.RawValue, bool) { return mapIDs(v, replaced), true })
}

// mapIDs replaces an ObjectID value, or the ObjectIDs within a string.
func mapIDs(v bson.RawValue, f func(bson.ObjectID) bson.ObjectID) bson.RawValue {
	switch v.Type {
	case bson.TypeObjectID:
		return rawValue(f(v.ObjectID()))
	case bson.TypeString:
		return rawValue(mapHexIDs(v.StringValue(), f))
	}
	return v
}
