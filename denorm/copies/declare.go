// Inside package copies: documents contain copies of
// a source's fields. The public type encodes documents and _ids, and passes the methods to
// model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// With KeyPath, a document stores the source's _id beside each copy. Here the source is a
// publisher, and an order has a copy in each element of its array:
//
//	publishers {_id: "oreilly", name: "O'Reilly", v: 3}
//	orders     {_id: 1, items: [{publisher: {id: "oreilly", name: "O'Reilly", v: 3}, n: 2}]}
//
// KeyPath is items.publisher.id. untypedCopy.base is "items.": the paths of a copy, listed by
// listCopyPaths, are relative to it. With Listed, the source lists the _ids of the
// documents:
//
//	publishers {_id: "oreilly", name: "O'Reilly", v: 3, books: [7, 8]}
//	books      {_id: 7, publisher: {name: "O'Reilly", v: 3}}
//
// The version v is optional. It grows with each change of a copied field, and an update
// changes only copies whose version is older.
//
// # Protocol of a store's writes
//
// Write of a document with copies:
//
//  1. compareCopies finds the sources of which the stored document has no copy yet.
//  2. fetchSources reads and holds them, so that a transaction that changes a source conflicts.
//  3. fillCopies sets the copies' fields in the document before it is written. A copy that was
//     there keeps its values.
//  4. Outside transactions, the store reads the sources again after the write. correctNewCopies
//     updates a copy whose source has changed meanwhile.
//
// Write of a source:
//
//  1. incrementVersion sets the next version if a copied field changes.
//  2. The store writes the source.
//  3. updateCopies updates all copies by one updateMany command with array filters. With
//     Listed, updateListedCopies also gives new documents their copy (assignCopy), and takes it
//     from documents that aren't listed any more (clearCopy).
//
// # What a crash leaves
//
// In a transaction, nothing. Otherwise a crash after the write of a source leaves older
// copies, and the source's unfinished action in the store's field. A retry, or the next
// client that needs the source, finishes it. All updates of copies are repeatable. A plan
// or job of the public type that is cut is run again: refreshCopies for one source,
// makeRebuildJob for all. makePropagateJob and foldSources go on with the documents that
// still match.

package copies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedCopy is the Copy without its Go types.
type untypedCopy struct {
	docs  *core.Docs // the sources
	to    *core.Docs // the documents that hold copies
	place core.Place
	spec  Spec

	// Arrays on the way to a copy, each relative to the one before. Empty if copies are
	// fields of the document itself.
	arrays []string
	// Path of the innermost array, with a dot at the end; "" for none.
	base string
	// Path of the source's _id, relative to base; "" if the source lists its documents.
	key string
	// To is relative to base.
	fields []Field
	// Path of a copy's version, relative to base; "" for none.
	version string
	// Paths of the fields and then of the version, as an update finds them:
	// items.$[e].name.
	paths []string
	// The version can be a number, which incrementVersion increases.
	counts bool
	// The version can be a time, which the caller sets.
	times bool
	// Name of the index that finds copies.
	index string
}

// declareCopy panics with a model.DeclarationError if documents can't contain such
// copies. The steps depend on each other: declareKey sets base, declareField needs it,
// and the paths of updates need both.
func declareCopy(sources, holders *core.Docs, spec Spec) *untypedCopy {
	c := &untypedCopy{docs: sources, to: holders, spec: spec}
	from, to := c.docs.MustField, c.to.MustField
	c.place = core.Place(fmt.Sprintf("copies.New of %s to %s", c.docs.Name(), c.to.Name()))
	c.spec.Lists = slices.Clone(spec.Lists)
	switch {
	case (c.spec.KeyPath == "") == (c.spec.Listed == ""):
		c.place.Fail("exactly one of KeyPath and Listed is needed",
			"give KeyPath if copies are stored next to the source's _id, or Listed if the source lists the ids of "+
				"the documents with copies")
	case (c.spec.Version == "") != (c.spec.VersionTo == ""):
		c.place.Fail("Version and VersionTo belong together", "give both, or leave both out")
	case len(c.spec.Fields) == 0:
		c.place.Fail("Fields is empty", "name at least one field to copy")
	}
	if c.spec.Listed != "" {
		c.declareList(from(c.spec.Listed), to("_id"))
	} else {
		c.declareKey(from("_id"))
	}
	if len(c.arrays) == 1 && !to(c.arrays[0]).Untyped {
		c.to.CheckArray(c.arrays[0])
	}
	for _, f := range c.spec.Fields {
		c.fields = append(c.fields, Field{f.From, c.declareField(f)})
	}
	if c.spec.Version != "" {
		c.version = c.declareField(Field{c.spec.Version, c.spec.VersionTo})
		c.declareVersion(from(c.spec.Version))
	}
	c.checkOverlap()
	if c.spec.CountUp != "" {
		c.declareCountUp(to(c.spec.CountUp))
	}
	for _, f := range c.fields {
		c.paths = append(c.paths, c.updatePath(f.To))
	}
	c.paths = append(c.paths, c.updatePath(c.version))
	c.index = c.listIndexes()[0].Name
	return c
}

// checkCounted checks a number that $inc increases: it must exist as one number, never as
// null.
func (c *untypedCopy) checkCounted(place string, f core.Field, remedy string) {
	switch {
	case f.Arrays > 0:
		c.place.Fail(place+" is an array, or is in one", "name a field that is neither an array nor in one")
	case !f.Untyped && (f.Type == reflect.TypeFor[bson.DateTime]() || !reflect.Zero(f.Type).CanInt()):
		c.place.Fail(place+" is "+stored.DescribeKind(f), remedy)
	case f.StoresNull():
		c.place.Fail(place+" can be stored as null, which $inc can't increase", "declare it as a plain int64")
	}
}

// declareCountUp checks the number that every write to a document counts up.
func (c *untypedCopy) declareCountUp(f core.Field) {
	place := fmt.Sprintf("CountUp %q", f.Path)
	c.checkCounted(place, f, "name a field of type int64 or int: the version that an embed.Versioned counts up")
	if core.Overlap(f.Path, "_id") {
		c.place.Fail(place+" is within _id, which can't change", "name another field")
	}
	for _, path := range append(c.listCopyPaths(), "") {
		if at := strings.TrimSuffix(c.base+path, "."); at != "" && core.Overlap(f.Path, at) {
			c.place.Fail(fmt.Sprintf("paths %q and %q overlap", at, f.Path), "name a version field that isn't copied")
		}
	}
}

// declareList requires a list of _ids, or one _id, outside other arrays: the query of the
// sources that list a document must be served by one index.
func (c *untypedCopy) declareList(list, id core.Field) {
	if list.Array != "" && list.Array != list.Path || list.Arrays > 1 {
		c.place.Fail(fmt.Sprintf("Listed %q is in an array", list.Path), "name a list of ids, or one id")
	}
	if !list.Untyped && !id.Untyped && list.Type != id.Type {
		c.place.Fail(fmt.Sprintf("Listed %q holds values of type %s, but the _ids of %s are of type %s", list.Path,
			list.Type, c.to.Name(), id.Type), "name a path that holds _ids of that type")
	}
	if len(c.spec.Lists) > 0 {
		c.place.Fail("Lists is given without KeyPath", "leave Lists out: it says where KeyPath crosses arrays")
	}
}

// declareKey divides KeyPath at its arrays, and sets arrays, base and key. Lists names
// the arrays of untyped documents, whose types can't show them.
func (c *untypedCopy) declareKey(id core.Field) {
	path := c.spec.KeyPath
	key := c.to.MustField(path)
	if !id.Untyped && !key.Untyped && key.Type != id.Type {
		c.place.Fail(fmt.Sprintf("KeyPath %q holds values of type %s, but the _ids of %s are of type %s", path,
			key.Type, c.docs.Name(), id.Type), "name a path that holds _ids of that type")
	}
	if core.Overlap(path, "_id") {
		c.place.Fail("KeyPath is within _id", "an _id can't change: store the copied key in another field")
	}
	c.key = path
	for _, list := range slices.Sorted(slices.Values(c.spec.Lists)) {
		if list != path && !strings.HasPrefix(path, list+".") || !c.to.MustField(list).Untyped {
			c.place.Fail(fmt.Sprintf("Lists names %q", list), "name only paths above KeyPath whose type isn't known")
		}
	}
	parts := strings.Split(path, ".")
	crossed := 0
	for i := range parts {
		at := strings.Join(parts[:i+1], ".")
		f := c.to.MustField(at)
		switch {
		case !f.IsArray() && !slices.Contains(c.spec.Lists, at):
			continue
		case i == len(parts)-1:
			c.place.Fail(fmt.Sprintf("KeyPath %q is an array of ids", path),
				"store an array of documents that hold the id and the copied fields")
		case !f.Untyped && f.Arrays > crossed+1:
			c.place.Fail(fmt.Sprintf("%q is an array of arrays", at), "store an array of documents")
		}
		crossed++
		c.arrays = append(c.arrays, strings.TrimPrefix(at, c.base))
		c.base = at + "."
		c.key = strings.TrimPrefix(path, c.base)
	}
}

// declareField returns the path of a copied field, relative to base. A copy must be in
// the same element as the key. Otherwise one array filter couldn't select the copy by its
// source.
func (c *untypedCopy) declareField(f Field) string {
	src, dst := c.docs.MustField(f.From), c.to.MustField(f.To)
	rel, inside := strings.CutPrefix(f.To, c.base)
	listed := 0
	if dst.IsArray() {
		listed = 1
	}
	switch {
	case src.Array != "" && src.Array != src.Path:
		c.place.Fail(fmt.Sprintf("From %q is in an array", f.From), "copy the whole array")
	case core.Overlap(f.From, "_id"):
		c.place.Fail("From is the _id", "leave it out: KeyPath holds the copied _id")
	case core.Overlap(f.To, "_id"):
		c.place.Fail("To is within _id", "an _id can't be changed: copy to another field")
	case !inside:
		c.place.Fail(fmt.Sprintf("To %q isn't in the array element that holds KeyPath %q", f.To, c.spec.KeyPath),
			"copy to a path that begins with "+c.base)
	case !dst.Untyped && dst.Arrays != len(c.arrays)+listed:
		c.place.Fail(fmt.Sprintf("To %q is in another array of the element", f.To),
			"copy to a field of the element itself, or copy the whole array")
	case !src.Untyped && !dst.Untyped && (src.Type != dst.Type || src.IsArray() != dst.IsArray()):
		c.place.Fail(fmt.Sprintf("From %q is of type %s, but To %q is of type %s", f.From,
			stored.DescribeKind(src), f.To,
			stored.DescribeKind(dst)), "declare both with the same type")
	}
	return rel
}

// declareVersion finds out whether versions are numbers, times, or (in untyped documents)
// either.
func (c *untypedCopy) declareVersion(f core.Field) {
	if f.Untyped {
		c.counts, c.times = true, true
		return
	}
	switch f.Type {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[bson.DateTime](), reflect.TypeFor[bson.Timestamp]():
		c.times = true
	default:
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8,
			reflect.Uint16, reflect.Uint32:
			c.counts = true
		}
	}
	if f.IsArray() || !c.counts && !c.times {
		c.place.Fail(fmt.Sprintf("Version %q is of type %s", f.Path, stored.DescribeKind(f)),
			"use an integer type, which Set counts up, or a time")
	}
}

// listSourcePaths returns the paths of a source on which copies depend, without its _id.
func (c *untypedCopy) listSourcePaths() (out []string) {
	for _, f := range c.fields {
		out = append(out, f.From)
	}
	for _, path := range []string{c.spec.Version, c.spec.Listed} {
		if path != "" {
			out = append(out, path)
		}
	}
	return out
}

// checkOverlap refuses paths of which one contains another, on either side. Within one
// collection it also refuses a copy of a copy: an update of the first would not reach the
// second.
func (c *untypedCopy) checkOverlap() {
	from := c.listSourcePaths()
	var to []string
	for _, f := range c.fields {
		to = append(to, f.To)
	}
	if c.version != "" {
		to = append(to, c.version)
	}
	if c.key != "" {
		to = append(to, c.key)
	}
	for _, paths := range [][]string{from, to} {
		for i, p := range paths {
			for _, other := range paths[:i] {
				if core.Overlap(p, other) {
					c.place.Fail(fmt.Sprintf("paths %q and %q overlap", other, p),
						"copy each field once, to a path of its own")
				}
			}
		}
	}
	for _, f := range c.fields {
		for _, place := range c.listCopyPaths() {
			if c.docs.Name() == c.to.Name() && core.Overlap(f.From, c.base+place) {
				c.place.Fail(fmt.Sprintf("From %q is itself a copied field, in %q", f.From, c.base+place),
					"copy from the document that owns the value")
			}
		}
	}
}

// listIndexes returns the index that finds the copies of a source, or with Listed, the
// sources of a document.
func (c *untypedCopy) listIndexes() []model.Index {
	why := fmt.Sprintf("the copies of %s in %s", c.docs.Name(), c.to.Name())
	if c.spec.Listed != "" {
		return []model.Index{commands.MakeIndex(c.docs.Name(), why, mql.E(c.spec.Listed, 1))}
	}
	return []model.Index{commands.MakeLookupIndex(c.to.Name(), why, mql.E(c.spec.KeyPath, 1), mql.E("_id", -1))}
}

// listRelations returns the relation for diagrams. Its label says that it is a copy.
func (c *untypedCopy) listRelations() []model.Relation {
	r := model.Relation{
		From: c.to.Name(), FromPath: c.spec.KeyPath, To: c.docs.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ZeroOrOne, Label: "copy",
	}
	if len(c.arrays) > 0 {
		r.ToEnd = model.Many
	}
	if c.spec.Listed != "" {
		r = model.Relation{
			From: c.docs.Name(), FromPath: c.spec.Listed, To: c.to.Name(), ToPath: "_id", FromEnd: model.ZeroOrOne,
			ToEnd: model.Many, Label: "copy",
		}
	}
	return []model.Relation{r}
}

// projectSource returns the projection of a source to the fields that decodeSource reads.
func (c *untypedCopy) projectSource() bson.D {
	var d bson.D
	for _, path := range c.listSourcePaths() {
		d = append(d, bson.E{Key: path, Value: 1})
	}
	return d
}

// listFootprints are the paths that are used.
func (c *untypedCopy) listFootprints() []model.Footprint {
	name := c.to.Name()
	out := slices.Concat(
		model.Mends.In(c.docs.Name(), model.Whole), model.Writes.In(c.docs.Name(), c.spec.Version),
		model.Owns.In(name, c.spec.VersionTo), model.Reads.In(c.docs.Name(), c.spec.Listed),
		model.Writes.In(name, c.spec.KeyPath, c.spec.CountUp), model.Writes.In(name, c.arrays...),
	)
	for _, f := range c.spec.Fields {
		out = slices.Concat(out, model.Writes.In(c.docs.Name(), f.From), model.Owns.In(name, f.To))
	}
	return out
}
