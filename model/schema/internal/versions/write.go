package versions

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Saved is the write that stores a document in the place of what was read.
func (x *Versions) Saved(raw bson.Raw, doc any, upgrade bool) model.Write {
	w, err := x.save(raw, doc, upgrade)
	switch {
	case err != nil:
		return model.Refused(x.Name(), err)
	case upgrade:
		return w
	}
	// A model's database refuses an update of a Collection in which another technique must take part.
	plain := model.NewCollection[bson.Raw, any](x.Name()).
		Update(raw.Lookup("_id"), w.Model.(*mongo.UpdateOneModel).Update.(bson.D))
	if plain.Err == nil {
		plain.Model = w.Model
	}
	return plain
}

// save returns the write that makes a stored document the newest form of it, at which doc points. An upgrade is
// idempotent, because everybody's upgrade of a document is the same.
func (x *Versions) save(raw bson.Raw, doc any, upgrade bool) (w model.Write, err error) {
	raw = bytes.Clone(raw)
	refuse := func(field string, v any, reason string) (model.Write, error) {
		return w, x.Refuse(field, v, reason)
	}
	if err := raw.Validate(); err != nil {
		return refuse("document", nil, err.Error())
	}
	n, err := x.versionOf(raw)
	if err != nil {
		return w, err
	}
	id := raw.Lookup("_id")
	if id.Type == 0 {
		return refuse("_id", nil, "is missing: the document needs an _id")
	}
	next, err := x.encoded(doc, x.newest)
	if err != nil {
		return w, x.fail(raw, err)
	}
	if now := next.Lookup("_id"); now.Type != 0 && !now.Equal(id) {
		return refuse("_id", now, "isn't the _id of the stored document")
	}
	if path, err := core.CheckNames(next, ""); err != nil {
		return refuse(path, nil, err.Error())
	}
	c, err := x.compare(raw, n, next, doc)
	if err != nil {
		return w, x.fail(raw, err)
	}
	old := x.forms[n-x.first]
	update := bson.D{{Key: "$set", Value: append(c.set, bson.E{Key: x.field, Value: int32(x.newest)})}}
	if len(c.unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: c.unset})
	}
	w = model.Write{
		Collection: x.Name(), Index: model.IDIndex, Expect: model.One, Idempotent: upgrade,
		Model: &mongo.UpdateOneModel{Filter: x.guard(raw, old), Update: update},
	}
	if upgrade {
		w.Done = bson.D{
			{Key: "_id", Value: mql.Eq(id)},
			{Key: x.field, Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}},
		}
	}
	return w, nil
}

// compare returns the change of a stored document of version n that makes it next, the encoded doc.
func (x *Versions) compare(raw bson.Raw, n int, next bson.Raw, doc any) (*change, error) {
	was, err := x.reencoded(raw, n, doc)
	if err != nil {
		return nil, err
	}
	c := &change{skip: x.field}
	if err := c.document("", raw, was, next, x.forms[n-x.first], x.forms[len(x.forms)-1]); err != nil {
		return nil, err
	}
	return c, x.fill(c, raw, next, doc)
}

// upgraded returns a stored document in the newest form. It decodes it into doc.
func (x *Versions) upgraded(raw bson.Raw, doc any) (bson.Raw, error) {
	n, err := x.versionOf(raw)
	if err != nil || n == x.newest {
		return raw, err
	}
	if err := x.Decode(raw, doc); err != nil {
		return nil, err
	}
	next, err := x.encoded(doc, x.newest)
	if err != nil {
		return nil, x.fail(raw, err)
	}
	c, err := x.compare(raw, n, next, doc)
	if err != nil {
		return nil, x.fail(raw, err)
	}
	return c.applied(raw, x.newest)
}

// fill adds to a change those of the absent fields without which the document wouldn't be read as next: most types read
// what isn't stored as what it is encoded as when it is empty, but the newest may do so otherwise than the one before.
func (x *Versions) fill(c *change, raw, next bson.Raw, doc any) error {
	if len(c.absent) == 0 {
		return nil
	}
	set, add := c.set[:len(c.set):len(c.set)], bson.D(nil)
	got, err := x.readAfter(c, raw, doc)
	if err == nil && x.alike(got, next) {
		return nil
	}
	if err == nil {
		add = differing(c.absent, got, next)
		c.set = append(set, add...)
		got, err = x.readAfter(c, raw, doc)
	}
	if err != nil || !x.alike(got, next) {
		add = c.absent
		c.set = append(set, add...)
	}
	for _, e := range add {
		if err := core.CheckPath(e.Key); err != nil {
			return err
		}
	}
	return nil
}

// readAfter is what the newest type makes of the document after the change.
func (x *Versions) readAfter(c *change, raw bson.Raw, doc any) (bson.Raw, error) {
	after, err := c.applied(raw, x.newest)
	if err != nil {
		return nil, err
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.Docs.Decode(after, own); err != nil {
		return nil, err
	}
	return x.encoded(own, x.newest)
}

// alike compares encoded documents but for the version, of which they may say anything.
func (x *Versions) alike(a, b bson.Raw) bool {
	a, errA := rawdoc.RemoveFields(a, x.field)
	b, errB := rawdoc.RemoveFields(b, x.field)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// reencoded is what the document's own type makes of it.
func (x *Versions) reencoded(raw bson.Raw, n int, doc any) (bson.Raw, error) {
	if n < x.newest {
		own, err := x.steps[n-x.first].Down(func(into any) error { return x.Docs.Decode(raw, into) })
		if err != nil {
			return nil, err
		}
		return x.encoded(own, n)
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.Docs.Decode(raw, own); err != nil {
		return nil, err
	}
	return x.encoded(own, n)
}

// encoded encodes a document of the n-th version, the same one to the same bytes.
func (x *Versions) encoded(doc any, n int) (bson.Raw, error) {
	raw, err := x.Document(doc)
	if err != nil || !x.maps {
		return raw, err
	}
	if raw == nil {
		return nil, errors.New("it is empty")
	}
	v, err := x.forms[n-x.first].ordered(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
	return bson.Raw(v.Value), err
}

// guard is the filter for the document as it was read: its _id, its version, and each field that its type could read.
func (x *Versions) guard(raw bson.Raw, old *form) bson.D {
	var names []string
	elements, _ := raw.Elements() // raw is known to be valid
	for _, e := range elements {
		if name := e.Key(); name != "_id" && (name == x.field || old.has(name)) {
			names = append(names, name)
		}
	}
	for _, name := range old.names() {
		if name != x.field && raw.Lookup(name).Type == 0 {
			names = append(names, name)
		}
	}
	if raw.Lookup(x.field).Type == 0 {
		names = append(names, x.field)
	}
	return core.FieldsAsRead(raw, names...)
}
