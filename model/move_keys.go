package model

import (
	"context"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MoveKeys returns the job that gives a tenant's documents of an older version _ids that
// carry the tenant: see [Write].Keyed. Run it once per tenant, on the tenant's database
// ([Scope.On]), after all programs have the new version. Programs of the new version can
// write meanwhile. The views of an eventlog.Projection aren't moved: rebuild them. References
// to the documents stay valid, because they have the _id without the tenant.
//
// Give all techniques that use the documents. For example, a history.History stores
// revisions under _ids that contain the documents' _ids.
//
// The job stores a document under both _ids before it deletes the old one. If a unique
// index refuses this, the job gives the server's duplicate key error. Then run the job on
// a database of [WithTransactions], where it moves each batch in a transaction.
//
// The job also moves documents that [Scope].Delete marked. They stay marked. A scope with
// a Filter gives a [*ValueError], because it hides documents from the job.
//
// If the tenant has a document with an old _id and one with the new _id, the job joins
// the two. If they can't be joined, or if only one of them is marked as deleted, the job
// leaves the old one and reports a [Finding]. After a crash, run the job again.
//
// Cost: two commands per batch of 500 documents, and three for each batch with old _ids.
// Two scans of each collection.
func MoveKeys(techniques ...Technique) Job {
	techniques = slices.DeleteFunc(slices.Clone(techniques), func(t Technique) bool {
		_, ok := t.(interface{ keyed() []KeyedDocs })
		v := reflect.ValueOf(t)
		return !ok || v.Kind() == reflect.Pointer && v.IsNil()
	})
	keyed := (&Model{techniques: techniques}).keyedCollections()
	var all []KeyedDocs
	for _, t := range techniques {
		for _, docs := range t.(interface{ keyed() []KeyedDocs }).keyed() {
			if docs.isKeyed(keyed) &&
				!slices.ContainsFunc(all, func(k KeyedDocs) bool { return k.Collection == docs.Collection }) {
				all = append(all, docs)
			}
		}
	}
	j := Job{Name: "move keys"}
	if len(all) == 0 {
		j.Err = &ValueError{
			Field:  "techniques",
			Reason: "have no keyed documents: give the techniques of the collections to move",
		}
		return j
	}
	j.Stages = []Stage{{Name: "check the scopes", Do: func(_ context.Context, b *Batch) (err error) {
		for _, k := range all {
			if err == nil {
				_, err = k.checkScopes(b.DB)
			}
		}
		b.Done = true
		return err
	}}}
	moved := bson.D{{Key: movedField, Value: bson.D{{Key: "$exists", Value: true}}}}
	for _, k := range all {
		j.Stages = append(j.Stages,
			Stage{Name: "move the keys of " + k.Collection, Collection: k.Collection, Work: k.move, stored: true},
			Stage{Name: "end the move of " + k.Collection, Collection: k.Collection, Filter: moved, Work: k.end, stored: true})
	}
	return j
}

// movedField marks a document with a new _id until the one with the old _id is deleted. A
// rerun after a crash doesn't join the two again.
const movedField = "docmodelMoved"

// move plans the new _ids of a batch.
func (k KeyedDocs) move(ctx context.Context, b *Batch) (Plan, error) {
	tenant, err := k.checkScopes(b.DB)
	if err != nil {
		return Plan{}, err
	}
	var old []bson.Raw
	var ids bson.A
	for _, doc := range b.Docs {
		if _, moved := core.SplitKeyID(doc.Lookup("_id"), tenant); !moved {
			old, ids = append(old, slices.Clone(doc)), append(ids, core.NewKeyID(doc.Lookup("_id"), tenant))
		}
	}
	if len(old) == 0 {
		return Plan{}, nil
	}
	stored, err := (&Find[bson.Raw]{Query{
		Collection: k.Collection, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, Index: IDIndex,
		Deleted: true, stored: true,
	}}).All(ctx, b.DB)
	if err != nil {
		return Plan{}, err
	}
	now := map[string]bson.Raw{}
	for _, doc := range stored {
		id, _ := core.SplitKeyID(doc.Lookup("_id"), tenant)
		now[bsonval.Key(id)] = doc
	}
	var first, deletes, last, inTx []Step
	for i, doc := range old {
		id := doc.Lookup("_id")
		stored := now[bsonval.Key(id)]
		begin, problem, err := k.begin(doc, stored, ids[i].(core.KeyID), true)
		joins := stored != nil && stored.Lookup(movedField).Type == 0
		if joins && isMarked(b.DB, k.Collection, doc) != isMarked(b.DB, k.Collection, stored) {
			problem =
				"has the same key as a document with the new _id, and only one of the two is marked as deleted: restore or remove it"
		}
		switch {
		case err != nil:
			return Plan{}, err
		case problem != "":
			b.Leave(Finding{Collection: k.Collection, ID: bsonval.Clone(id), Problem: problem, Detail: doc})
			continue
		}
		first = append(first, begin...)
		deletes = append(deletes, Write{
			Collection: k.Collection, Index: IDIndex, Final: true, Idempotent: true, Deleted: true, stored: true,
			Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: mql.Eq(id)}}},
		})
		last = append(last, k.unmark(ids[i], doc.Lookup(k.Token)))
		if begin, _, err = k.begin(doc, stored, ids[i].(core.KeyID), false); err != nil {
			return Plan{}, err
		}
		inTx = append(inTx, begin...)
		if stored != nil && !joins {
			inTx = append(inTx, last[len(last)-1])
		}
	}
	p := NewPlan(slices.Concat(first, deletes, last)...)
	p.InTx = slices.Concat(deletes, inTx) // so a unique index has no two documents at any time
	p.Leaves = "documents with both _ids, which the next run of the job recognizes"
	return p, nil
}

// checkScopes returns the tenant of the job's database. The scopes must not hide documents
// of the tenant from the job.
func (k KeyedDocs) checkScopes(db DB) (tenant bson.D, err error) {
	refuse := func(reason string) error {
		return &ValueError{
			Collection: k.Collection, Field: "db",
			Reason: reason + ": run the job on the tenant's database of Scope.On",
		}
	}
	if tenant = keyTenant(db, k.Collection); len(tenant) == 0 {
		return nil, refuse("has no Tenant for this collection")
	}
	for _, s := range scopesOf(db) {
		if s.holds(k.Collection) && !bsondoc.EqualDocuments(s.reaching, s.tenant) {
			return nil, refuse("has a scope with a Filter, which hides documents")
		}
	}
	return tenant, nil
}

// isMarked reports whether a scope of the database marked the document as deleted.
func isMarked(db DB, collection string, doc bson.Raw) bool {
	return slices.ContainsFunc(scopesOf(db), func(s *scope) bool {
		return s.holds(collection) && slices.ContainsFunc(s.mark, func(e bson.E) bool {
			v := doc.Lookup(e.Key)
			return v.Type != 0 && v.Type != bson.TypeNull && v.Type != bson.TypeUndefined
		})
	})
}

// begin returns the write that stores a document under the new _id, or joins it to the
// document that is stored there. It returns no write if an earlier run did so. Outside a
// transaction the write marks the document.
func (k KeyedDocs) begin(old, now bson.Raw, id core.KeyID, marks bool) (steps []Step, problem string, _ error) {
	mark, other := bson.D{{Key: movedField, Value: true}}, k.complement(old)
	if !marks {
		mark, other = nil, nil
	}
	if now == nil {
		doc, err := core.WithKeyID(old, id)
		if err == nil {
			doc, err = core.SetFields(doc, slices.Concat(mark, other))
		}
		return []Step{Write{
			Collection: k.Collection, Index: IDIndex, Final: true, stored: true, Model: &mongo.InsertOneModel{Document: doc},
			Reasons: []Reason{{If: bson.D{{Key: "_id", Value: id}}, Err: ErrStale}},
		}}, "", err
	}
	if now.Lookup(movedField).Type != 0 {
		return nil, "", nil
	}
	update, ok := bson.D(nil), sameButID(old, now)
	if !ok && k.Join != nil {
		update, ok = k.Join(old, now)
	}
	if !ok {
		return nil, "has the same key as a document with the new _id, and can't be joined to it: correct one of the two", nil
	}
	if marks {
		update = append(update, bson.E{Key: "$set", Value: mark})
	}
	m := merger{collection: k.Collection}
	for _, op := range update {
		if err := m.addOperator(op); err != nil {
			return nil, "", err
		}
	}
	if len(m.update) == 0 {
		return nil, "", nil
	}
	return []Step{Write{
		Collection: k.Collection, Index: IDIndex, Expect: One, Idempotent: true, Deleted: true, stored: true,
		Done:  append(bson.D{{Key: "_id", Value: id}}, mark...),
		Model: &mongo.UpdateOneModel{Filter: core.AsRead(now), Update: m.update},
	}}, "", nil
}

// sameButID reports whether two documents have the same fields, except _id.
func sameButID(a, b bson.Raw) bool {
	fields := func(doc bson.Raw) map[string]string {
		out := map[string]string{}
		elems, _ := doc.Elements()
		for _, e := range elems {
			if e.Key() != "_id" {
				out[e.Key()] = bsonval.Key(e.Value())
			}
		}
		return out
	}
	x, y := fields(a), fields(b)
	if len(x) != len(y) {
		return false
	}
	for name, v := range x {
		if w, ok := y[name]; !ok || v != w {
			return false
		}
	}
	return true
}

// unmark ends the move of a document.
func (k KeyedDocs) unmark(id any, token bson.RawValue) Write {
	update := bson.D{{Key: "$unset", Value: bson.D{{Key: movedField, Value: ""}}}}
	if token.Type == bson.TypeObjectID {
		update = append(update, bson.E{Key: "$set", Value: bson.D{{Key: k.Token, Value: token}}})
	}
	filter := bson.D{{Key: "_id", Value: id}, {Key: movedField, Value: bson.D{{Key: "$exists", Value: true}}}}
	return Write{
		Collection: k.Collection, Index: IDIndex, Idempotent: true, Deleted: true, stored: true,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}

// complement returns the field of the token with another value.
func (k KeyedDocs) complement(doc bson.Raw) bson.D {
	token, ok := doc.Lookup(k.Token).ObjectIDOK()
	if !ok {
		return nil
	}
	for i := range token {
		token[i] = ^token[i]
	}
	return bson.D{{Key: k.Token, Value: token}}
}

// end ends moves after a crash.
func (k KeyedDocs) end(_ context.Context, b *Batch) (p Plan, _ error) {
	for _, doc := range b.Docs {
		var token bson.RawValue
		for _, e := range k.complement(doc) {
			token = core.MustRawValue(e.Value)
		}
		p.Steps = append(p.Steps, k.unmark(bsonval.Clone(doc.Lookup("_id")), token))
	}
	return p, nil
}
