// Package spread is the core of keys.Spread: a key that many documents share, divided into parts by a suffix.
package spread

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxParts is how many parts three digits number.
const maxParts = 1000

// A Keys is a keys.Spread without its types.
type Keys struct {
	docs *core.Docs
	path string
	spec Spec
	all  []int                     // the numbers of parts that documents may be under: Parts first
	hash func(bson.RawValue) int64 // never changes
}

// A Spec is a keys.SpreadSpec.
type Spec struct {
	Parts int
	Was   []int
	By    string
	Order bson.D
}

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(docs *core.Docs, path string, spec Spec, hash func(bson.RawValue) int64) *Keys {
	k := &Keys{docs: docs, path: path, spec: spec, hash: hash}
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
	k.all = []int{spec.Parts}
	for _, n := range spec.Was {
		if n < 0 || n > maxParts {
			place.Fail(fmt.Sprintf("Was names %d parts", n), "give 1 to 1000, or 0 for values without a part")
		}
		if slices.Contains(k.all, n) {
			place.Fail(fmt.Sprintf("Was names %d twice, or also in Parts", n), "name each earlier number once")
		}
		k.all = append(k.all, n)
	}
	if spec.By != "" {
		by := docs.MustField(spec.By)
		switch {
		case by.Arrays > 0:
			place.Fail(fmt.Sprintf("By %q is in an array", spec.By), "name a field that isn't in an array")
		case core.Overlap(spec.By, path):
			place.Fail("By is the key itself", "name a field that is known to reads of one document, such as the _id")
		}
	}
	k.spec.Order = nil
	for i, e := range spec.Order {
		by := docs.MustField(e.Key)
		switch {
		case direction.Parse(e.Value) == 0:
			place.Fail(fmt.Sprintf("Order sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case by.Arrays > 0 || core.Overlap(e.Key, path):
			place.Fail(fmt.Sprintf("Order sorts by %q", e.Key), "sort by fields other than the key that aren't in arrays")
		case slices.ContainsFunc(spec.Order[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("Order names %q twice", e.Key), "name each field once")
		}
		k.spec.Order = append(k.spec.Order, bson.E{Key: e.Key, Value: int32(direction.Parse(e.Value))})
	}
	if n := len(k.spec.Order); n == 0 || k.spec.Order[n-1].Key != "_id" {
		dir := any(int32(1))
		if n > 0 {
			dir = k.spec.Order[n-1].Value
		}
		k.spec.Order = append(k.spec.Order, bson.E{Key: "_id", Value: dir})
	}
	return k
}

// Order is the order of Find.
func (k *Keys) Order() bson.D { return slices.Clone(k.spec.Order) }

// index finds the documents of each part in order.
func (k *Keys) index() model.Index {
	return commands.MakeLookupIndex(k.docs.Name(), "the documents of a part of a spread key, in order",
		append(bson.D{mql.E(k.path, 1)}, k.Order()...)...)
}

// Indexes are that of Find, and that of Point where it isn't by _id.
func (k *Keys) Indexes() []model.Index {
	if k.spec.By == "" || k.spec.By == "_id" {
		return []model.Index{k.index()}
	}
	return []model.Index{k.index(), k.pointIndex()}
}

func (k *Keys) pointIndex() model.Index {
	return commands.MakeIndex(k.docs.Name(), "a document by its spread key and the By field",
		mql.E(k.path, 1), mql.E(k.spec.By, 1))
}

// Footprints are the paths that are used.
func (k *Keys) Footprints() []model.Footprint {
	name := k.docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole), model.Owns.In(name, k.path), model.Reads.In(name, k.spec.By))
}

const separator = "#"

// checked is a value that can be spread.
func (k *Keys) checked(value string) error {
	switch {
	case value == "":
		return k.docs.Refuse(k.path, value, "is empty")
	case strings.Contains(value, separator):
		return k.docs.Refuse(k.path, value, "holds "+separator+", which separates the value from its part")
	}
	return nil
}

// key is a value with a part: 2014-03-28#007. The number has as many digits whatever Parts is, so that a part keeps its
// key when Parts changes.
func key(value string, part int) string { return fmt.Sprintf("%s%s%03d", value, separator, part) }

// split reads a key. The part is -1 where there is none.
func split(text string) (value string, part int) {
	value, digits, ok := strings.Cut(text, separator)
	if !ok {
		return text, -1
	}
	if len(digits) != 3 || strings.Trim(digits, "0123456789") != "" || value == "" {
		return "", -1
	}
	_, err := fmt.Sscanf(digits, "%03d", &part)
	if err != nil {
		return "", -1
	}
	return value, part
}

// part is where a document belongs by what it is spread by, or by a number, under a number of parts.
func part(number uint64, parts int) int { return int(number % uint64(parts)) }
