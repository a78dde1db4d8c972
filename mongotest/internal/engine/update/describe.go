package update

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Describe returns the updateDescription of a change event for an update by a pipeline: which fields of old have to be
// set, removed and cut off to make next.
//
// Embedded documents and arrays are compared in turn, unless it takes less to say their new value. So $set of a whole
// embedded document names what has changed in it. Setting and removing the fields, after arrays were cut off at their
// new size, gives next, but for the order of fields. A document within the document whose fields have changed places is
// set as a whole.
//
// A dotted name alone may have several meanings, as {"a.b": 1} and {a: {b: 1}} have. disambiguatedPaths has the parts
// of those.
func Describe(old, next bson.D) bson.D {
	d := delta{cost: emptyDocument}
	d.document(nil, old, next)
	return d.description()
}

// oplogMetadata is the size that MongoDB adds to a difference for the other fields of its oplog entry.
const oplogMetadata = 15

// IsLoggedWhole reports whether MongoDB logs an update by a pipeline as the whole new document, because its difference
// is not smaller. Its change event then is a replacement.
func IsLoggedWhole(old, next bson.D) bool {
	d := delta{cost: emptyDocument + oplogMetadata}
	d.document(nil, old, next)
	return d.cost >= bsonval.Size(next)
}

// Disambiguated is the field of the description that only streams of expanded events show.
const Disambiguated = "disambiguatedPaths"

func (d *delta) description() bson.D {
	return bson.D{
		{Key: "updatedFields", Value: append(bson.D{}, d.updated...)},
		{Key: "removedFields", Value: append(bson.A{}, d.removed...)},
		{Key: "truncatedArrays", Value: append(bson.A{}, d.truncated...)},
		{Key: Disambiguated, Value: append(bson.D{}, d.parts...)},
	}
}

// delta collects the differences of two documents. Its cost is the size of the document by which MongoDB writes them
// into the oplog: a difference is told in parts only if that is less than the new value.
type delta struct {
	updated   bson.D
	removed   bson.A
	truncated bson.A
	parts     bson.D // of the ambiguous paths among them

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
	d.parts = append(d.parts, more.parts...)
}

func (d *delta) set(t *trail, v any) {
	d.updated = append(d.updated, bson.E{Key: t.String(), Value: v})
	d.clarify(t)
}

func (d *delta) remove(t *trail) {
	d.removed = append(d.removed, t.String())
	d.clarify(t)
}

func (d *delta) truncate(t *trail, size int) {
	d.truncated = append(d.truncated, bson.D{{Key: "field", Value: t.String()}, {Key: "newSize", Value: int32(size)}})
	d.clarify(t)
}

// clarify notes the parts of a path whose dotted name doesn't tell them.
func (d *delta) clarify(t *trail) {
	if t.ambiguous() {
		d.parts = append(d.parts, bson.E{Key: t.String(), Value: t.parts()})
	}
}

// document compares documents at a path.
func (d *delta) document(path *trail, old, next bson.D) {
	for _, e := range old {
		if bsonval.Index(next, e.Key) < 0 {
			d.remove(path.field(e.Key))
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
			d.set(path.field(e.Key), e.Value)
			d.entry(inserts, e.Key, sizeOf(e.Value))
			continue
		}
		if cost, whole := d.value(path.field(e.Key), was, e.Value); whole {
			d.entry(updates, e.Key, cost)
		} else if cost > 0 {
			d.cost += 3 + len(e.Key) + cost
		}
	}
}

// value compares the values that both have at a path, and returns what it costs to say the difference, or the whole new
// value.
func (d *delta) value(path *trail, old, next any) (cost int, whole bool) {
	if bsonval.Equal(old, next) {
		return 0, false
	}
	size := sizeOf(next)
	inner := delta{cost: emptyDocument}
	switch was := old.(type) {
	case bson.D:
		if now, ok := next.(bson.D); ok && sameOrder(was, now) {
			inner.document(path, was, now)
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
		d.set(path, next)
		return size, true
	}
	d.add(inner)
	return inner.cost, false
}

const (
	arrayMark = 4 // {a: true}
	newLength = 7 // {l: int32}
)

func (d *delta) array(path *trail, old, next bson.A) {
	d.cost += arrayMark
	if len(next) < len(old) {
		d.truncate(path, len(next))
		d.cost += newLength
	}
	for i, v := range next {
		at := path.element(i)
		var cost int
		if i < len(old) {
			cost, _ = d.value(at, old[i], v)
		} else {
			d.set(at, v)
			cost = sizeOf(v)
		}
		if i >= len(old) || cost > 0 || !bsonval.Equal(old[i], v) {
			d.cost += 3 + len(at.name) + cost
		}
	}
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
