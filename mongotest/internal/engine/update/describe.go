package update

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Describe returns the updateDescription of a change event for an update by a pipeline: which fields of old have to be
// set, removed and cut off to make next.
//
//	{a: {b: 1, c: 2}, list: [1, 2, 3]}   →   {a: {b: 5}, list: [1]}
//	updatedFields: {"a.b": 5}, removedFields: ["a.c"], truncatedArrays: [{field: "list", newSize: 1}]
//
// Embedded documents and arrays are compared in turn, unless it takes less to say their new value. So $set of a whole
// embedded document names what has changed in it. Setting and removing the fields, after arrays were cut off at their
// new size, gives next, but for the order of fields. A document within the document whose fields have changed places is
// set as a whole.
//
// A dotted name alone may have several meanings, as {"a.b": 1} and {a: {b: 1}} have. disambiguatedPaths has the parts
// of those, such as {"a.b": ["a.b"]}.
func Describe(old, next bson.D) bson.D {
	d := delta{cost: emptyDocument}
	d.compareDocuments(nil, old, next)
	return d.makeDescription()
}

// oplogMetadata is the size that MongoDB adds to a difference for the other fields of its oplog entry.
const oplogMetadata = 15

// IsLoggedWhole reports whether MongoDB logs an update by a pipeline as the whole new document, because its difference
// is not smaller. Its change event then is a replacement.
func IsLoggedWhole(old, next bson.D) bool {
	d := delta{cost: emptyDocument + oplogMetadata}
	d.compareDocuments(nil, old, next)
	return d.cost >= bsonval.Size(next)
}

// Disambiguated is the field of the description that only streams of expanded events show.
const Disambiguated = "disambiguatedPaths"

// makeDescription returns the updateDescription of what was noted. All four fields are there, even if they are empty.
func (d *delta) makeDescription() bson.D {
	return bson.D{
		{Key: "updatedFields", Value: append(bson.D{}, d.updated...)},
		{Key: "removedFields", Value: append(bson.A{}, d.removed...)},
		{Key: "truncatedArrays", Value: append(bson.A{}, d.truncated...)},
		{Key: Disambiguated, Value: append(bson.D{}, d.parts...)},
	}
}

// delta collects the differences of two documents. Its cost is the size of the document by which MongoDB writes them
// into the oplog: a difference is told in parts only if that is less than the new value.
//
// This document has the sections i (new fields), u (fields with a new value) and d (removed fields), and for a field a
// with a difference in parts an entry sa. The difference of an array has the mark a, and the new size l if it is cut
// off:
//
//	{u: {n: 5}, d: {gone: false}, sa: {u: {b: 5}}, slist: {a: true, l: 1}}
type delta struct {
	updated   bson.D
	removed   bson.A
	truncated bson.A
	parts     bson.D // of the ambiguous paths among them

	cost     int
	sections [3]bool // which of inserts, updates and deletes have an entry
}

const (
	emptyDocument = 5 // bytes: the length, and a zero at the end

	// The sections of the oplog's document, as indexes of delta.sections.
	inserts = 0
	updates = 1
	deletes = 2
)

// addCost adds the size of a field in one of the three sections of the oplog's document. A section is a document of its
// own, whose name is one letter. size is the value's.
func (d *delta) addCost(section int, name string, size int) {
	if !d.sections[section] {
		d.sections[section] = true
		d.cost += 3 + emptyDocument
	}
	d.cost += 2 + len(name) + size
}

// measure returns the size in bytes of a value.
func measure(v any) int { return bsonval.SizeOf(v, math.MaxInt) }

// addAll adds what was noted in an embedded document or an array. Its cost is added by the caller.
func (d *delta) addAll(more delta) {
	d.updated = append(d.updated, more.updated...)
	d.removed = append(d.removed, more.removed...)
	d.truncated = append(d.truncated, more.truncated...)
	d.parts = append(d.parts, more.parts...)
}

// noteSet notes that a field or an element has a new value.
func (d *delta) noteSet(t *trail, v any) {
	d.updated = append(d.updated, bson.E{Key: t.String(), Value: v})
	d.noteParts(t)
}

// noteRemoved notes that a field is gone.
func (d *delta) noteRemoved(t *trail) {
	d.removed = append(d.removed, t.String())
	d.noteParts(t)
}

// noteTruncated notes that an array was cut off after size elements.
func (d *delta) noteTruncated(t *trail, size int) {
	d.truncated = append(d.truncated, bson.D{{Key: "field", Value: t.String()}, {Key: "newSize", Value: int32(size)}})
	d.noteParts(t)
}

// noteParts notes the parts of a path whose dotted name doesn't tell them.
func (d *delta) noteParts(t *trail) {
	if t.isAmbiguous() {
		d.parts = append(d.parts, bson.E{Key: t.String(), Value: t.listParts()})
	}
}

// compareDocuments notes the differences of two documents at a path. Once a field has moved, it and all fields after it
// count as new: MongoDB adds new fields at the end, in their order.
func (d *delta) compareDocuments(path *trail, old, next bson.D) {
	for _, e := range old {
		if bsonval.Index(next, e.Key) < 0 {
			d.noteRemoved(path.addField(e.Key))
			d.addCost(deletes, e.Key, 1)
		}
	}
	moved := false // a field was found behind its place in old
	at := 0        // the next field of old that must come, leaving out removed fields
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
			d.noteSet(path.addField(e.Key), e.Value)
			d.addCost(inserts, e.Key, measure(e.Value))
			continue
		}
		if cost, whole := d.compareValues(path.addField(e.Key), was, e.Value); whole {
			d.addCost(updates, e.Key, cost)
		} else if cost > 0 {
			d.cost += 3 + len(e.Key) + cost // an entry sa, whose name is a byte longer than the field's
		}
	}
}

// compareValues notes the difference of the values that both documents have at a path. It returns the size of the
// difference, and whether the whole new value was noted in place of a difference in parts. For {a: {b: 1}} and {a: {b:
// 2}} the whole value is noted, because {u: {b: 2}} is longer than {b: 2}.
func (d *delta) compareValues(path *trail, old, next any) (cost int, whole bool) {
	if bsonval.Equal(old, next) {
		return 0, false
	}
	size := measure(next)
	// Tried in parts first. Documents whose fields changed places, and values of other types, are as dear as the whole.
	inner := delta{cost: emptyDocument}
	switch was := old.(type) {
	case bson.D:
		if now, ok := next.(bson.D); ok && keepsOrder(was, now) {
			inner.compareDocuments(path, was, now)
		} else {
			inner.cost = size
		}
	case bson.A:
		if now, ok := next.(bson.A); ok {
			inner.compareArrays(path, was, now)
		} else {
			inner.cost = size
		}
	default:
		inner.cost = size
	}
	if inner.cost >= size {
		d.noteSet(path, next)
		return size, true
	}
	d.addAll(inner)
	return inner.cost, false
}

// The bytes of fields by which the oplog describes an array.
const (
	arrayMark = 4 // {a: true}: the difference is an array's
	newLength = 7 // {l: int32}: the array is cut off
)

// compareArrays notes the differences of two arrays: those of elements at the same place, new elements at the end, and
// the new size if the array got shorter. An element that was inserted in front changes all places behind it, so that
// the whole array is mostly shorter.
func (d *delta) compareArrays(path *trail, old, next bson.A) {
	d.cost += arrayMark
	if len(next) < len(old) {
		d.noteTruncated(path, len(next))
		d.cost += newLength
	}
	for i, v := range next {
		at := path.addElement(i)
		var cost int
		if i < len(old) {
			cost, _ = d.compareValues(at, old[i], v)
		} else {
			d.noteSet(at, v)
			cost = measure(v)
		}
		if i >= len(old) || cost > 0 || !bsonval.Equal(old[i], v) {
			d.cost += 3 + len(at.name) + cost
		}
	}
}

// keepsOrder reports whether setting and removing fields turns the order of old's fields into that of next's: the
// fields of both are in the same order, and before all new fields.
func keepsOrder(old, next bson.D) bool {
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
