package schema

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Insert returns the write that stores a new document with its version, checked as [model.Collection.Insert] does.
//
// Cost: one command, one document.
func (v *Versions[D, K]) Insert(doc D) model.Write { return v.in.insert(v.base.Insert(doc)) }

func (x *versioning) insert(w model.Write) model.Write {
	m, ok := w.Model.(*mongo.InsertOneModel)
	if w.Err != nil || !ok {
		return w
	}
	raw, err := rawOf(m.Document)
	if err == nil {
		raw, err = model.SetFields(raw, bson.D{{Key: x.field, Value: int32(x.newest)}})
	}
	if err != nil {
		return model.Refused(x.collection, err)
	}
	w.Model = &mongo.InsertOneModel{Document: raw}
	return w
}

// Save returns the write that stores doc, of the newest version, in the place of what was read as raw, of any version: the fields
// that differ, and the version. Fields that the types don't know stay. So do those that aren't stored and still are what they were
// read as, 0 or "": they are written when they change, though the type encodes them. Where nothing differs from a document of the
// newest version, the write sets the version again.
//
// The filter holds every field that the stored version's type knows, as it was read: when one of them changed meanwhile, running
// the write gives [model.ErrStale]; use [Versions.Edit], which reads again. A write that runs a second time is stale too, for
// what it left may as well be somebody else's.
//
// Errors, in the write's Err: a [*VersionError] for what can't be read; one for fields that would be lost, since the steps change
// the length of an array whose elements have fields that their type doesn't know, or make a field that is there already;
// a [*model.ValueError] for another _id. Cost: one command, one document, by its _id; what was read and what differs are sent, so
// that a document of more than 8 MiB may not fit a statement.
func (v *Versions[D, K]) Save(raw bson.Raw, doc D) model.Write { return v.in.saved(raw, &doc, false) }

// Upgrade returns the write that brings a stored document up to the newest version, as [Versions.Save] does; but it knows that it
// was applied before, by anybody, from the version. For a document that is of the newest version already it changes nothing. When the
// document changed since it was read, and is still of an older version, running the write gives [model.ErrStale], and so does one
// that is gone.
//
// Errors are those of Save. Cost: one command, one document, by its _id; one read more when nothing matched. It can be run again.
func (v *Versions[D, K]) Upgrade(raw bson.Raw) model.Write {
	var doc D
	if err := v.in.decode(raw, &doc); err != nil {
		return model.Refused(v.in.collection, err)
	}
	return v.in.saved(raw, &doc, true)
}

// Edit returns the change that reads the document with the id, of any version, as the newest, hands it to edit, and stores what
// that leaves of it as [Versions.Save] does. When somebody else changed it in between it reads again and calls edit again. Where
// nothing differs, nothing is written. An edit of nil brings the document up. An error of edit ends the change. It carries no token:
// when its answer was lost and it is run again, edit is given what the first run left, so let edit say what shall be, not what is
// to be added.
//
// Cost: two commands, one document; one command for a document of the newest version that edit doesn't change. Errors:
// [model.ErrNotFound], and those of Save.
func (v *Versions[D, K]) Edit(id K, edit func(doc *D) error) model.Change[bson.Raw] {
	q := v.base.ByID(id).Query
	q.Options.ReadPreference = readpref.Primary()
	return model.Change[bson.Raw]{
		Err: q.Err,
		Read: func(ctx context.Context, db *mongo.Database) (bson.Raw, error) {
			return model.Find[bson.Raw]{Query: q}.One(ctx, db)
		},
		Decide: func(raw bson.Raw) (model.Plan, error) {
			var doc D
			if err := v.in.decode(raw, &doc); err != nil {
				return model.Plan{}, err
			}
			if edit != nil {
				if err := edit(&doc); err != nil {
					return model.Plan{}, err
				}
			}
			return v.in.plan(raw, &doc, edit == nil)
		},
	}
}

// plan is the write of what differs, or nothing.
func (x *versioning) plan(raw bson.Raw, doc any, upgrade bool) (model.Plan, error) {
	w, differs, err := x.save(raw, doc, upgrade)
	if err != nil || !differs {
		return model.Plan{}, err
	}
	return model.NewPlan(w), nil
}

func (x *versioning) saved(raw bson.Raw, doc any, upgrade bool) model.Write {
	w, _, err := x.save(raw, doc, upgrade)
	if err != nil {
		return model.Refused(x.collection, err)
	}
	return w
}

// save compares a stored document with the newest, which doc points at. Of an upgrade anybody's is as good.
func (x *versioning) save(raw bson.Raw, doc any, upgrade bool) (w model.Write, differs bool, err error) {
	raw = bytes.Clone(raw)
	refuse := func(field string, v any, reason string) (model.Write, bool, error) {
		return w, false, &model.ValueError{Collection: x.collection, Field: field, Value: v, Reason: reason}
	}
	if err := raw.Validate(); err != nil {
		return refuse("document", nil, err.Error())
	}
	n, err := x.versionOf(raw)
	if err != nil {
		return w, false, err
	}
	id := raw.Lookup("_id")
	if id.Type == 0 {
		return refuse("_id", nil, "the document has none")
	}
	was, err := x.reencoded(raw, n, doc)
	if err != nil {
		return w, false, x.fail(raw, err)
	}
	next, err := x.encoded(doc, x.newest)
	if err != nil {
		return w, false, x.fail(raw, err)
	}
	if now := next.Lookup("_id"); now.Type != 0 && !now.Equal(id) {
		return refuse("_id", now, "is another than the stored one")
	}
	if path, err := model.CheckNames(next, ""); err != nil {
		return refuse(path, nil, err.Error())
	}
	c, old := &change{skip: x.field}, x.forms[n-x.first]
	if err := c.document("", raw, was, next, old, x.forms[len(x.forms)-1]); err != nil {
		return w, false, x.fail(raw, err)
	}
	if err := x.fill(c, raw, next, doc); err != nil {
		return w, false, x.fail(raw, err)
	}
	update := bson.D{{Key: "$set", Value: append(c.set, bson.E{Key: x.field, Value: int32(x.newest)})}}
	if len(c.unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: c.unset})
	}
	w = model.Write{
		Collection: x.collection, Index: model.IDIndex, Expect: model.One, Once: upgrade,
		Model: &mongo.UpdateOneModel{Filter: x.guard(raw, old), Update: update},
	}
	if upgrade {
		w.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: x.field, Value: bson.D{{Key: "$gte", Value: int32(x.newest)}}}}
	}
	return w, len(c.set)+len(c.unset) > 0 || n != x.newest || raw.Lookup(x.field).Type == 0, nil
}

// fill adds to a change those of the absent fields without which the document wouldn't be read as next: most types read what isn't
// stored as what it is encoded as when it is empty, but the newest may do so otherwise than the one before.
func (x *versioning) fill(c *change, raw, next bson.Raw, doc any) error {
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
		if err := model.CheckPath(e.Key); err != nil {
			return err
		}
	}
	return nil
}

// readAfter is what the newest type makes of the document after the change.
func (x *versioning) readAfter(c *change, raw bson.Raw, doc any) (bson.Raw, error) {
	after, err := c.applied(raw, x.newest)
	if err != nil {
		return nil, err
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.decodeAs(after, own); err != nil {
		return nil, err
	}
	return x.encoded(own, x.newest)
}

// alike compares encoded documents but for the version, of which they may say anything.
func (x *versioning) alike(a, b bson.Raw) bool {
	a, errA := without(a, x.field)
	b, errB := without(b, x.field)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// reencoded is what the document's own type makes of it.
func (x *versioning) reencoded(raw bson.Raw, n int, doc any) (bson.Raw, error) {
	if n < x.newest {
		own, err := x.steps[n-x.first].down(func(into any) error { return x.decodeAs(raw, into) })
		if err != nil {
			return nil, err
		}
		return x.encoded(own, n)
	}
	own := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
	if err := x.decodeAs(raw, own); err != nil {
		return nil, err
	}
	return x.encoded(own, n)
}

// encoded encodes a document of the n-th version, the same one to the same bytes.
func (x *versioning) encoded(doc any, n int) (bson.Raw, error) {
	raw, err := x.encode(doc)
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
func (x *versioning) guard(raw bson.Raw, old *form) bson.D {
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
	return model.FieldsAsRead(raw, names...)
}
