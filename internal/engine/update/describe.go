package update

import (
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
	var d delta
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

// delta collects the differences of two documents.
type delta struct {
	updated   bson.D
	removed   bson.A
	truncated bson.A
}

func (d *delta) add(more delta) {
	d.updated = append(d.updated, more.updated...)
	d.removed = append(d.removed, more.removed...)
	d.truncated = append(d.truncated, more.truncated...)
}

// size is about what it takes to say.
func (d *delta) size() int {
	n := bsonval.Size(d.updated)
	for _, name := range d.removed {
		n += 8 + len(name.(string))
	}
	return n + 48*len(d.truncated)
}

// document compares documents at a path that ends with a dot, or is empty.
func (d *delta) document(path string, old, next bson.D) {
	for _, e := range old {
		if bsonval.Index(next, e.Key) < 0 {
			d.removed = append(d.removed, path+e.Key)
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
			continue
		}
		d.field(path+e.Key, was, e.Value)
	}
}

// field compares the values of a field that both have.
func (d *delta) field(path string, old, next any) {
	if bsonval.Equal(old, next) {
		return
	}
	var inner delta
	whole := bson.D{{Key: path, Value: next}}
	switch was := old.(type) {
	case bson.D:
		if now, ok := next.(bson.D); ok && nameable(was) && nameable(now) && sameOrder(was, now) {
			inner.document(path+".", was, now)
			break
		}
		inner.updated = whole
	case bson.A:
		if now, ok := next.(bson.A); ok {
			inner.array(path, was, now)
			break
		}
		inner.updated = whole
	default:
		inner.updated = whole
	}
	if inner.size() >= bsonval.Size(whole) {
		inner = delta{updated: whole}
	}
	d.add(inner)
}

func (d *delta) array(path string, old, next bson.A) {
	if len(next) < len(old) {
		d.truncated = append(d.truncated, bson.D{{Key: "field", Value: path}, {Key: "newSize", Value: int32(len(next))}})
	}
	for i, v := range next {
		at := path + "." + strconv.Itoa(i)
		if i < len(old) {
			d.field(at, old[i], v)
			continue
		}
		d.updated = append(d.updated, bson.E{Key: at, Value: v})
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
