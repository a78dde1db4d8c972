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

// PlanSave returns the update that stores doc, a pointer to the newest type, in the place of raw. upgrade says that doc
// is raw after the steps, and nothing else: schema.Versions.Upgrade. Otherwise it is schema.Versions.Save.
func (x *Versions) PlanSave(raw bson.Raw, doc any, upgrade bool) model.Write {
	w, err := x.makeSave(raw, doc, upgrade)
	switch {
	case err != nil:
		return model.Refused(x.Name(), err)
	case upgrade:
		return w
	}
	// The update is made by a Collection, because a model's database checks these: it refuses an update of fields in
	// which another technique must take part. An upgrade leaves the paths of techniques alone: all versions store them
	// alike.
	plain := model.NewCollection[bson.Raw, any](x.Name()).
		Update(raw.Lookup("_id"), w.Model.(*mongo.UpdateOneModel).Update.(bson.D))
	if plain.Err == nil {
		plain.Model = w.Model
	}
	return plain
}

// makeSave makes the update of PlanSave, and of the job. An upgrade is idempotent: every client's upgrade of a document
// is the same, so it is done when the stored version is the newest.
func (x *Versions) makeSave(raw bson.Raw, doc any, upgrade bool) (w model.Write, err error) {
	raw = bytes.Clone(raw)
	refuse := func(field string, v any, reason string) (model.Write, error) {
		return w, x.Refuse(field, v, reason)
	}
	if err := raw.Validate(); err != nil {
		return refuse("document", nil, err.Error())
	}
	n, err := x.readVersion(raw)
	if err != nil {
		return w, err
	}
	id := raw.Lookup("_id")
	if id.Type == 0 {
		return refuse("_id", nil, "is missing: the document needs an _id")
	}
	next, err := x.encodeDocument(doc, x.newest)
	if err != nil {
		return w, x.failDocument(raw, err)
	}
	if now := next.Lookup("_id"); now.Type != 0 && !now.Equal(id) {
		return refuse("_id", now, "isn't the _id of the stored document")
	}
	if path, err := core.CheckNames(next, ""); err != nil {
		return refuse(path, nil, err.Error())
	}
	c, err := x.compareStored(raw, n, next, doc)
	if err != nil {
		return w, x.failDocument(raw, err)
	}
	old := x.forms[n-x.first]
	update := bson.D{{Key: "$set", Value: append(c.set, bson.E{Key: x.field, Value: int32(x.newest)})}}
	if len(c.unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: c.unset})
	}
	w = model.Write{
		Collection: x.Name(), Index: model.IDIndex, Expect: model.One, Idempotent: upgrade,
		Model: &mongo.UpdateOneModel{Filter: x.matchAsRead(raw, old), Update: update},
	}
	if upgrade {
		// Another client may have upgraded the document, and changed it since: that is done too.
		w.Done = bson.D{
			{Key: "_id", Value: mql.Eq(id)},
			{Key: x.field, Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}},
		}
	}
	return w, nil
}

// compareStored returns the change that turns a stored document of the version n into next, the encoded doc.
func (x *Versions) compareStored(raw bson.Raw, n int, next bson.Raw, doc any) (*change, error) {
	was, err := x.reencode(raw, n, doc)
	if err != nil {
		return nil, err
	}
	c := &change{skip: x.field}
	if err := c.compareDocuments("", raw, was, next, x.forms[n-x.first], x.forms[len(x.forms)-1]); err != nil {
		return nil, err
	}
	return c, x.fillAbsent(c, raw, next, doc)
}

// upgradeDocument returns a stored document in the newest form, for a store. doc is a pointer to the newest type, for
// decoding.
func (x *Versions) upgradeDocument(raw bson.Raw, doc any) (bson.Raw, error) {
	n, err := x.readVersion(raw)
	if err != nil || n == x.newest {
		return raw, err
	}
	if err := x.Decode(raw, doc); err != nil {
		return nil, err
	}
	next, err := x.encodeDocument(doc, x.newest)
	if err != nil {
		return nil, x.failDocument(raw, err)
	}
	c, err := x.compareStored(raw, n, next, doc)
	if err != nil {
		return nil, x.failDocument(raw, err)
	}
	return c.apply(raw, x.newest)
}

// fillAbsent adds fields to a change that aren't stored, and that was and next encode with the same empty value. Most
// types read a missing field as this value, so it needn't be stored. But the newest type may read it as another value.
// So the changed document is decoded and compared with next. If it differs, the fields that differ are stored, and then
// all absent fields.
func (x *Versions) fillAbsent(c *change, raw, next bson.Raw, doc any) error {
	if len(c.absent) == 0 {
		return nil
	}
	set, add := c.set[:len(c.set):len(c.set)], bson.D(nil)
	got, err := x.readBack(c, raw, doc)
	if err == nil && x.areAlike(got, next) {
		return nil
	}
	if err == nil {
		add = listDiffering(c.absent, got, next)
		c.set = append(set, add...)
		got, err = x.readBack(c, raw, doc)
	}
	if err != nil || !x.areAlike(got, next) {
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

// readBack returns the document after the change as the newest type decodes and encodes it.
func (x *Versions) readBack(c *change, raw bson.Raw, doc any) (bson.Raw, error) {
	after, err := c.apply(raw, x.newest)
	if err != nil {
		return nil, err
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.Docs.Decode(after, own); err != nil {
		return nil, err
	}
	return x.encodeDocument(own, x.newest)
}

// areAlike compares encoded documents without the version, because the Go types may contain any version.
func (x *Versions) areAlike(a, b bson.Raw) bool {
	a, errA := rawdoc.RemoveFields(a, x.field)
	b, errB := rawdoc.RemoveFields(b, x.field)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// reencode decodes a stored document of the version n by its own type, and encodes it again: was, on the package page.
func (x *Versions) reencode(raw bson.Raw, n int, doc any) (bson.Raw, error) {
	if n < x.newest {
		// Decoded again, because a step may have changed the value that Decode gave it.
		own, err := x.steps[n-x.first].Down(func(into any) error { return x.Docs.Decode(raw, into) })
		if err != nil {
			return nil, err
		}
		return x.encodeDocument(own, n)
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.Docs.Decode(raw, own); err != nil {
		return nil, err
	}
	return x.encodeDocument(own, n)
}

// encodeDocument encodes a document of the version n. Equal documents give equal bytes.
func (x *Versions) encodeDocument(doc any, n int) (bson.Raw, error) {
	raw, err := x.Document(doc)
	if err != nil || !x.maps {
		return raw, err
	}
	if raw == nil {
		return nil, errors.New("it is empty")
	}
	v, err := x.forms[n-x.first].sortMaps(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
	return bson.Raw(v.Value), err
}

// matchAsRead returns the filter for the document as it was read: its _id, its version, and each field that its type
// knows. A known field that was missing must still be missing. Unknown fields aren't compared, because the update
// doesn't touch them.
func (x *Versions) matchAsRead(raw bson.Raw, old *form) bson.D {
	var names []string
	elements, _ := raw.Elements() // raw is known to be valid
	for _, e := range elements {
		if name := e.Key(); name != "_id" && (name == x.field || old.knows(name)) {
			names = append(names, name)
		}
	}
	for _, name := range old.listNames() {
		if name != x.field && raw.Lookup(name).Type == 0 {
			names = append(names, name)
		}
	}
	if raw.Lookup(x.field).Type == 0 {
		names = append(names, x.field)
	}
	return core.FieldsAsRead(raw, names...)
}
