// Package spread is the core of keys.Spread (model/keys/spread.go), without type parameters. Many documents share a
// value, such as events of one day. Their key field would send all writes to one shard, or to one place of an index. So
// the key field stores the value and the number of a part.
//
// # Stored form
//
// Events of a day under the key field "day", with Parts 4, By "_id" and Order {at: -1}:
//
//	{_id: "e1", day: "2014-03-28#000", at: 1}
//	{_id: "e2", day: "2014-03-28#001", at: 2}
//
// The value is "2014-03-28". The part is the hash of the field By modulo Parts: see [Keys.Key]. A number always has
// three digits. Both documents have the same keys with Parts 8, because both hashes modulo 8 are below 4.
//
// # How a document gets its key
//
//  1. A caller gives a store a document whose key field contains the value alone.
//  2. MakeReactions (react.go) replaces the value by the key. It also makes a new key if an update changes the value or
//     the field By.
//  3. Without By, the _id chooses the part of a value. A caller may choose another part: then the key field contains
//     the key that [Keys.KeyAt] returned, and the store keeps it.
//
// # How documents are read
//
// Point reads the document with a value and a value of By. It asks for one key for each number of parts that was ever
// declared (Parts and Was). Find reads all documents of a value. It asks for all parts up to the greatest number.
//
// # How the number of parts changes
//
// The new number is declared as Parts, the old one in Was. ListChecks returns a check that finds documents whose key
// isn't the key under Parts, and moves them: one update of the key field for each document. Then Was can go. A crash
// leaves some documents in old parts. Reads find them as long as Was is declared, and the next run moves them.
//
// # Files
//
//	declare.go  the declaration, its indexes and footprints
//	key.go      the text of a key, and the choice of a part
//	react.go    what a store writes
//	read.go     the queries
//	check.go    the check of documents in a wrong part, and its repair
//
// # What a change must keep
//
// The hash, the form of a key and the digits never change: stored keys would no longer be found.
package spread

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxParts is how many parts the three digits of a key can number: 0 to 999.
const maxParts = 1000

// Keys is the non-generic core of a keys.Spread. It never changes after Declare.
type Keys struct {
	docs *core.Docs
	path string // of the key field
	spec Spec

	// counts has Parts first, then Was. A document may be stored under any of them. 0 stands for documents whose key
	// field contains a value without a part.
	counts []int
}

// A Spec is a keys.SpreadSpec. The fields have the same order, because the shell converts one into the other.
type Spec struct {
	Parts int
	Was   []int
	By    string
	Order bson.D
}

// Declare checks a declaration, and panics if it doesn't fit the documents. path is the key field. keys.NewSpread calls
// it.
func Declare(docs *core.Docs, path string, spec Spec) *Keys {
	k := &Keys{docs: docs, path: path, spec: spec}
	place := core.Place(fmt.Sprintf("NewSpread of %s.%s", docs.Name(), path))
	f := docs.MustField(path)
	switch {
	case spec.Parts < 1 || spec.Parts > maxParts:
		place.Fail(fmt.Sprintf("Parts is %d", spec.Parts), "give 1 to 1000")
	case core.Overlap(path, "_id"):
		place.Fail("the key is the _id, which can't change when the number of parts changes",
			"store the key in another field")
	case f.Arrays > 0:
		place.Fail("the key is in an array", "name a field that isn't in an array")
	case !f.Untyped && f.Type.Kind() != reflect.String:
		place.Fail(fmt.Sprintf("the key is of type %s", f.Type), "name a field of a string type")
	}
	k.counts = []int{spec.Parts}
	for _, n := range spec.Was {
		if n < 0 || n > maxParts {
			place.Fail(fmt.Sprintf("Was names %d parts", n), "give 1 to 1000, or 0 for values without a part")
		}
		if slices.Contains(k.counts, n) {
			place.Fail(fmt.Sprintf("Was names %d twice, or also in Parts", n), "name each earlier number once")
		}
		k.counts = append(k.counts, n)
	}
	if spec.By != "" {
		by := docs.MustField(spec.By)
		switch {
		case by.Arrays > 0:
			place.Fail(fmt.Sprintf("By %q is in an array", spec.By), "name a field that isn't in an array")
		case core.Overlap(spec.By, path):
			// The part would be chosen by the key that it is a part of.
			place.Fail("By is the key itself", "name a field that is known to reads of one document, such as the _id")
		}
	}
	k.spec.Order = declareOrder(docs, place, path, spec.Order)
	return k
}

// declareOrder returns the sort of Find: the caller's fields, with directions as int32, and _id at the end. With _id no
// two documents are equal in the order, which pages need.
func declareOrder(docs *core.Docs, place core.Place, path string, order bson.D) (out bson.D) {
	for i, e := range order {
		by := docs.MustField(e.Key)
		switch {
		case direction.Parse(e.Value) == 0:
			place.Fail(fmt.Sprintf("Order sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case by.Arrays > 0 || core.Overlap(e.Key, path):
			place.Fail(fmt.Sprintf("Order sorts by %q", e.Key),
				"sort by fields other than the key that aren't in arrays")
		case slices.ContainsFunc(order[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("Order names %q twice", e.Key), "name each field once")
		}
		out = append(out, bson.E{Key: e.Key, Value: int32(direction.Parse(e.Value))})
	}
	if n := len(out); n == 0 || out[n-1].Key != "_id" {
		dir := any(int32(1))
		if n > 0 {
			dir = out[n-1].Value // a server can then scan the index in one direction for both fields
		}
		out = append(out, bson.E{Key: "_id", Value: dir})
	}
	return out
}

// partIndex is the index of Find: the key field, then the order. So each part is sorted in the index.
func (k *Keys) partIndex() model.Index {
	return commands.MakeLookupIndex(k.docs.Name(), "the documents of a part of a spread key, in order",
		append(bson.D{mql.E(k.path, 1)}, k.spec.Order...)...)
}

// pointIndex is the index of Point if By isn't _id.
func (k *Keys) pointIndex() model.Index {
	return commands.MakeIndex(k.docs.Name(), "a document by its spread key and the By field",
		mql.E(k.path, 1), mql.E(k.spec.By, 1))
}

// ListIndexes returns the index of Find, and the index of Point if it doesn't search by _id. The shell's model.Parts
// call it, as they do ListFootprints.
func (k *Keys) ListIndexes() []model.Index {
	if k.spec.By == "" || k.spec.By == "_id" {
		return []model.Index{k.partIndex()}
	}
	return []model.Index{k.partIndex(), k.pointIndex()}
}

// ListFootprints returns the key field as owned: callers change it only by a store. It returns By as read.
func (k *Keys) ListFootprints() []model.Footprint {
	name := k.docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole), model.Owns.In(name, k.path),
		model.Reads.In(name, k.spec.By))
}
