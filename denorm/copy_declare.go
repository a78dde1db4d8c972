package denorm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// copying is what of a [Copy] doesn't depend on its types. Sources come to it encoded.
type copying struct {
	stored        // the sources
	to     stored // the documents that hold copies
	spec   CopySpec

	arrays  []string // on the way to a copy, each below the one before; none for fields of the document
	base    string   // the last of them whole, with a dot; "" for none
	key     string   // the source's _id below the base; "" if the source lists its documents
	fields  []Field  // To is below the base
	version string   // below the base; "" for none
	counts  bool     // the version can be a number, which is counted up
	times   bool     // the version can be a time
}

func (c *copying) declare(from, to func(string) model.Field, checkArray func(string)) {
	c.spec.Fields, c.spec.Lists = slices.Clone(c.spec.Fields), slices.Clone(c.spec.Lists)
	switch {
	case (c.spec.KeyPath == "") == (c.spec.Listed == ""):
		c.fail("KeyPath and Listed", "give KeyPath, where copies are stored beside the source's _id, or Listed, where the source lists them")
	case (c.spec.Version == "") != (c.spec.VersionTo == ""):
		c.fail("Version and VersionTo come together", "give both or none")
	case len(c.spec.Fields) == 0:
		c.fail("no Fields", "name at least one field to copy")
	}
	if c.spec.Listed != "" {
		c.declareList(from(c.spec.Listed), to("_id"))
	} else {
		c.declareKey(from("_id"), to)
	}
	if len(c.arrays) == 1 && !to(c.arrays[0]).Open {
		checkArray(c.arrays[0])
	}
	for _, f := range c.spec.Fields {
		c.fields = append(c.fields, Field{f.From, c.declareField(f, from, to)})
	}
	if c.spec.Version != "" {
		c.version = c.declareField(Field{c.spec.Version, c.spec.VersionTo}, from, to)
		c.declareVersion(from(c.spec.Version))
	}
	c.checkOverlap()
	if c.spec.CountUp != "" {
		c.declareCountUp(to(c.spec.CountUp))
	}
}

// declareCountUp checks the number that every write to a document counts up.
func (c *copying) declareCountUp(f model.Field) {
	place := fmt.Sprintf("CountUp %q", f.Path)
	switch {
	case f.Arrays > 0:
		c.fail(place+" lies inside an array, or is one", "name the version of the document itself")
	case !f.Open && (f.Type == reflect.TypeFor[bson.DateTime]() || !reflect.Zero(f.Type).CanInt()):
		c.fail(place+" is "+kindOf(f), "name the version that a model.Versioned counts up: an int64 or int")
	case f.StoresNull():
		c.fail(place+" can be stored as null, which can't be counted up", "declare it as a plain int64")
	case model.Overlap(f.Path, "_id"):
		c.fail(place+" is within _id, which can't change", "name another field")
	}
	for _, path := range append(c.places(), "") {
		if at := strings.TrimSuffix(c.base+path, "."); at != "" && model.Overlap(f.Path, at) {
			c.fail(fmt.Sprintf("the paths %q and %q overlap", at, f.Path), "count up a field of its own")
		}
	}
}

func (c *copying) fail(problem, remedy string) {
	panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewCopy of %s to %s", c.docs, c.to.docs), Remedy: remedy})
}

// declareList checks that the source's path lists _ids of the documents.
func (c *copying) declareList(list, id model.Field) {
	if list.Array != "" && list.Array != list.Path || list.Arrays > 1 {
		c.fail(fmt.Sprintf("Listed %q lies inside an array", list.Path), "name a list of ids, or one id")
	}
	if !list.Open && !id.Open && list.Type != id.Type {
		c.fail(fmt.Sprintf("Listed %q holds %s, and the _ids of %s are %s", list.Path, list.Type, c.to.docs, id.Type), "name a path that holds ids of those documents")
	}
	if len(c.spec.Lists) > 0 {
		c.fail("Lists without KeyPath", "Lists says where KeyPath crosses arrays: leave it out")
	}
}

// declareKey takes KeyPath apart at its arrays.
func (c *copying) declareKey(id model.Field, to func(string) model.Field) {
	path := c.spec.KeyPath
	key := to(path)
	if !id.Open && !key.Open && key.Type != id.Type {
		c.fail(fmt.Sprintf("KeyPath %q holds %s, and the _ids of %s are %s", path, key.Type, c.docs, id.Type), "name the path of those ids")
	}
	if model.Overlap(path, "_id") {
		c.fail("KeyPath is within _id", "an _id can't be written anew: keep the copied key in a field of its own")
	}
	c.key = path
	for _, list := range slices.Sorted(slices.Values(c.spec.Lists)) {
		if list != path && !strings.HasPrefix(path, list+".") || !to(list).Open {
			c.fail(fmt.Sprintf("Lists names %q", list), "name paths above KeyPath whose type is not known, and no others")
		}
	}
	parts := strings.Split(path, ".")
	crossed := 0
	for i := range parts {
		at := strings.Join(parts[:i+1], ".")
		f := to(at)
		switch {
		case !f.IsArray() && !slices.Contains(c.spec.Lists, at):
			continue
		case i == len(parts)-1:
			c.fail(fmt.Sprintf("KeyPath %q is an array of ids", path), "an element needs room for the copy: store documents that hold the id and the copied fields")
		case !f.Open && f.Arrays > crossed+1:
			c.fail(fmt.Sprintf("%q is an array of arrays", at), "store documents in it")
		}
		crossed++
		c.arrays = append(c.arrays, strings.TrimPrefix(at, c.base))
		c.base = at + "."
		c.key = strings.TrimPrefix(path, c.base)
	}
}

// declareField checks a field and returns where it is, below the base.
func (c *copying) declareField(f Field, from, to func(string) model.Field) string {
	src, dst := from(f.From), to(f.To)
	rel, inside := strings.CutPrefix(f.To, c.base)
	listed := 0
	if dst.IsArray() {
		listed = 1
	}
	switch {
	case src.Array != "" && src.Array != src.Path:
		c.fail(fmt.Sprintf("From %q lies inside an array", f.From), "copy the array whole")
	case model.Overlap(f.From, "_id"):
		c.fail("From is the _id", "the key is copied as KeyPath")
	case model.Overlap(f.To, "_id"):
		c.fail("To is within _id", "an _id can't be changed: copy to another field")
	case !inside:
		c.fail(fmt.Sprintf("To %q is not in the element that KeyPath %q is in", f.To, c.spec.KeyPath), "copy to a path that begins with "+c.base)
	case !dst.Open && dst.Arrays != len(c.arrays)+listed:
		c.fail(fmt.Sprintf("To %q lies inside a further array", f.To), "copy to a field of the element itself, or to an array whole")
	case !src.Open && !dst.Open && (src.Type != dst.Type || src.IsArray() != dst.IsArray()):
		c.fail(fmt.Sprintf("From %q is %s, and To %q is %s", f.From, kindOf(src), f.To, kindOf(dst)), "declare both with one type")
	}
	return rel
}

func kindOf(f model.Field) string {
	if f.IsArray() {
		return "a list of " + f.Type.String()
	}
	return f.Type.String()
}

func (c *copying) declareVersion(f model.Field) {
	if f.Open {
		c.counts, c.times = true, true
		return
	}
	switch f.Type {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[bson.DateTime](), reflect.TypeFor[bson.Timestamp]():
		c.times = true
	default:
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
			c.counts = true
		}
	}
	if f.IsArray() || !c.counts && !c.times {
		c.fail(fmt.Sprintf("Version %q is %s", f.Path, kindOf(f)), "use an integer, which Set counts up, or a time")
	}
}

// checkOverlap refuses paths of which one is above or the same as another, on either side.
func (c *copying) checkOverlap() {
	var from, to []string
	for _, f := range c.fields {
		from, to = append(from, f.From), append(to, f.To)
	}
	if c.version != "" {
		from, to = append(from, c.spec.Version), append(to, c.version)
	}
	if c.key != "" {
		to = append(to, c.key)
	} else {
		from = append(from, c.spec.Listed)
	}
	for _, paths := range [][]string{from, to} {
		for i, p := range paths {
			for _, other := range paths[:i] {
				if model.Overlap(p, other) {
					c.fail(fmt.Sprintf("the paths %q and %q overlap", other, p), "copy each field once, to a place of its own")
				}
			}
		}
	}
	for _, f := range c.fields {
		for _, place := range c.places() {
			if c.docs == c.to.docs && model.Overlap(f.From, c.base+place) {
				c.fail(fmt.Sprintf("From %q is itself within a copy, %q", f.From, c.base+place), "copy from the document that holds the value first")
			}
		}
	}
}

func (c *copying) indexes() []model.Index {
	keys := bson.D{{Key: c.spec.KeyPath, Value: 1}, {Key: "_id", Value: 1}}
	x := model.NewIndex(c.to.docs, keys)
	if c.spec.Listed != "" {
		x = model.NewIndex(c.docs, bson.D{{Key: c.spec.Listed, Value: 1}})
	}
	x.Why = fmt.Sprintf("the copies of %s in %s", c.docs, c.to.docs)
	return []model.Index{x}
}

func (c *copying) relations() []model.Relation {
	r := model.Relation{
		From: c.to.docs, FromPath: c.spec.KeyPath, To: c.docs, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "copy",
	}
	if len(c.arrays) > 0 {
		r.ToEnd = model.Many
	}
	if c.spec.Listed != "" {
		r = model.Relation{
			From: c.docs, FromPath: c.spec.Listed, To: c.to.docs, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.Many, Label: "copy",
		}
	}
	return []model.Relation{r}
}

func (c *copying) projection() bson.D {
	var d bson.D
	for _, f := range c.spec.Fields {
		d = append(d, bson.E{Key: f.From, Value: 1})
	}
	for _, path := range []string{c.spec.Version, c.spec.Listed} {
		if path != "" {
			d = append(d, bson.E{Key: path, Value: 1})
		}
	}
	return d
}
