package update

import (
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Describe returns the updateDescription of a change event for an update by a pipeline: which fields of old have to be set,
// removed and cut off to make next.
//
// Embedded documents and arrays are compared in turn, unless it takes less to say their new value. So $set of a whole embedded
// document names what has changed in it. Setting and removing the fields, after arrays were cut off at their new size, gives
// next, but for the order of fields. A document within the document whose names have dots or dollars, or whose fields have
// changed places, is set as a whole.
func Describe(old, next bson.D) bson.D {
	d := delta{cost: emptyDocument}
	d.document("", old, next)
	return d.description()
}

func (d *delta) description() bson.D {
	return bson.D{
		{Key: "updatedFields", Value: append(bson.D{}, d.updated...)},
		{Key: "removedFields", Value: append(bson.A{}, d.removed...)},
		{Key: "truncatedArrays", Value: append(bson.A{}, d.truncated...)},
	}
}

// delta collects the differences of two documents. Its cost is the size of the document by which MongoDB writes them
// into the oplog: a difference is told in parts only if that is less than the new value.
type delta struct {
	updated   bson.D
	removed   bson.A
	truncated bson.A

	cost     int
	sections [3]bool // which of inserts, updates and deletes have an entry
}

const (
	emptyDocument = 5 // its size
	inserts       = 0
	updates       = 1
	deletes       = 2
)

// entry adds the cost of a field in a document. A section is a document of its own, whose name is one letter.
func (d *delta) entry(section int, name string, size int) {
	if !d.sections[section] {
		d.sections[section] = true
		d.cost += 3 + emptyDocument
	}
	d.cost += 2 + len(name) + size
}

func sizeOf(v any) int { return bsonval.SizeOf(v, math.MaxInt) }

func (d *delta) add(more delta) {
	d.updated = append(d.updated, more.updated...)
	d.removed = append(d.removed, more.removed...)
	d.truncated = append(d.truncated, more.truncated...)
}

// document compares documents at a path that ends with a dot, or is empty.
func (d *delta) document(path string, old, next bson.D) {
	for _, e := range old {
		if bsonval.Index(next, e.Key) < 0 {
			d.removed = append(d.removed, path+e.Key)
			d.entry(deletes, e.Key, 1)
		}
	}
	moved := false
	at := 0
	for _, e := range next {
		was, ok := bsonval.Get(old, e.Key)
		if ok && !moved {
			for at < len(old) && bsonval.Index(next, old[at].Key) < 0 {
				at++
			}
			moved = at < len(old) && old[at].Key != e.Key
			at++
		}
		if !ok || moved {
			d.updated = append(d.updated, bson.E{Key: path + e.Key, Value: e.Value})
			d.entry(inserts, e.Key, sizeOf(e.Value))
			continue
		}
		if cost, whole := d.field(path+e.Key, was, e.Value); whole {
			d.entry(updates, e.Key, cost)
		} else if cost > 0 {
			d.cost += 3 + len(e.Key) + cost
		}
	}
}

// field compares the values of a field that both have, and returns what it costs to say the difference, or the whole new value.
func (d *delta) field(path string, old, next any) (cost int, whole bool) {
	if bsonval.Equal(old, next) {
		return 0, false
	}
	size := sizeOf(next)
	inner := delta{cost: emptyDocument}
	switch was := old.(type) {
	case bson.D:
		if now, ok := next.(bson.D); ok && nameable(was) && nameable(now) && sameOrder(was, now) {
			inner.document(path+".", was, now)
		} else {
			inner.cost = size
		}
	case bson.A:
		if now, ok := next.(bson.A); ok {
			inner.array(path, was, now)
		} else {
			inner.cost = size
		}
	default:
		inner.cost = size
	}
	if inner.cost >= size {
		d.updated = append(d.updated, bson.E{Key: path, Value: next})
		return size, true
	}
	d.add(inner)
	return inner.cost, false
}

const (
	arrayMark = 4 // {a: true}
	newLength = 7 // {l: int32}
)

func (d *delta) array(path string, old, next bson.A) {
	d.cost += arrayMark
	if len(next) < len(old) {
		d.truncated = append(d.truncated, bson.D{{Key: "field", Value: path}, {Key: "newSize", Value: int32(len(next))}})
		d.cost += newLength
	}
	for i, v := range next {
		name := strconv.Itoa(i)
		var cost int
		if i < len(old) {
			cost, _ = d.field(path+"."+name, old[i], v)
		} else {
			d.updated = append(d.updated, bson.E{Key: path + "." + name, Value: v})
			cost = sizeOf(v)
		}
		if i >= len(old) || cost > 0 || !bsonval.Equal(old[i], v) {
			d.cost += 3 + len(name) + cost
		}
	}
}

// nameable reports whether dotted paths can name the fields.
func nameable(d bson.D) bool {
	for _, e := range d {
		if e.Key == "" || strings.ContainsAny(e.Key, ".$") {
			return false
		}
	}
	return true
}

// sameOrder reports whether setting and removing fields turns the order of
// old's into that of next's: what both have stands in the same order, before
// what is new.
func sameOrder(old, next bson.D) bool {
	at, fresh := 0, false
	for _, e := range next {
		i := bsonval.Index(old, e.Key)
		if i < 0 {
			fresh = true
			continue
		}
		if fresh || i < at {
			return false
		}
		at = i
	}
	return true
}
