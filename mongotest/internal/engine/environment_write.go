package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// ReplaceCollection replaces all documents in one write. The collection's indexes stay.
func (e *environment) ReplaceCollection(db, coll string, docs pipeline.Docs) error {
	ns, err := e.namespace(db, coll)
	if err != nil {
		return err
	}
	if e.request.findSharding(e.state.Collection(ns)) != nil {
		return mongoerr.New(28769, "%s cannot be sharded", ns)
	}
	var list []bson.D
	for doc, err := range docs {
		if err != nil {
			return err
		}
		if doc, err = ensureID(e.Now, doc); err != nil {
			return err
		}
		list = append(list, doc)
	}
	return e.request.write(func(w *store.Writer) error {
		return w.Overwrite(ns, func() error { return e.overwrite(w, ns, list) })
	})
}

// overwrite replaces the documents of a collection.
func (e *environment) overwrite(w *store.Writer, ns store.Namespace, list []bson.D) error {
	c := w.Collection(ns)
	switch {
	case c == nil:
		if err := w.Create(ns, nil); err != nil {
			return err
		}
	case c.View != nil:
		return store.NewOnView(ns)
	case c.Series != nil:
		return forms.RefuseOnSeries(ns, "$out")
	case c.Capped != nil:
		return mongoerr.New(17152, "namespace '%s' is capped so it can't be used for $out", ns)
	default:
		for r := range c.Records.All() {
			if err := e.watch.Step(); err != nil {
				return err
			}
			if err := w.Delete(ns, r); err != nil {
				return err
			}
		}
	}
	for _, doc := range list {
		if err := e.watch.Step(); err != nil {
			return err
		}
		if _, err := w.Insert(ns, doc); err != nil {
			return err
		}
	}
	return nil
}

// IsUnique reports whether $merge can find one document by these fields: a unique index has exactly these fields.
func (e *environment) IsUnique(db, coll string, on []string) (bool, error) {
	ns, err := e.namespace(db, coll)
	if err != nil {
		return false, err
	}
	c := e.state.Collection(ns)
	if c == nil {
		return len(on) == 1 && on[0] == "_id", nil
	}
	if !e.request.canJoin(c, on) {
		return false, nil
	}
	for _, x := range c.Indexes {
		if x.Spec.Unique && x.Spec.Partial == nil && collation.IsSame(x.Spec.Collation, e.collation) &&
			hasExactFields(x.Spec, on) {
			return true, nil
		}
	}
	return false, nil
}

// MergeOne applies $merge's function to the document that has the values of the fields, and stores the result.
func (e *environment) MergeOne(db, coll string, on []string, doc bson.D,
	apply func(old bson.D) (next bson.D, action pipeline.Action, err error)) error {
	ns, err := e.namespace(db, coll)
	if err != nil {
		return err
	}
	if c := e.state.Collection(ns); c != nil && c.Series != nil {
		return forms.RefuseOnSeries(ns, "$merge")
	}
	var filter bson.D
	for _, name := range on {
		v := getField(doc, name)
		filter = append(filter, bson.E{Key: name, Value: bson.D{{Key: "$eq", Value: v}}})
		if name == "_id" && len(on) == 1 {
			filter = bson.D{{Key: name, Value: v}}
		}
	}
	m, err := query.Parse(filter, query.Options{Now: e.now, Watch: e.watch, Collation: e.collation})
	if err != nil {
		return err
	}
	t := target{ns: ns, now: e.now, query: plan.Query{Filter: filter, Matcher: m, Watch: e.watch}}
	return t.changeFirst(e.request, func(w *store.Writer, old *store.Record) error {
		var before bson.D
		if old != nil {
			before = old.Doc
			if err := e.request.checkMerge(w.Collection(ns), before, doc); err != nil {
				return err
			}
		}
		next, action, err := apply(before)
		if err != nil {
			return err
		}
		switch {
		case action == pipeline.Insert:
			return insertDocument(w, ns, next)
		case action != pipeline.Keep && bsonval.Equal(next, before):
		case action == pipeline.Replace:
			_, err = w.Replace(ns, old, next)
		case action == pipeline.Update:
			_, err = w.Update(ns, old, next, nil)
		case action == pipeline.Transform:
			_, err = w.Update(ns, old, next, update.Transformed{})
		case action == pipeline.Keep && w.Collection(ns) == nil:
			return w.Create(ns, nil)
		}
		return err
	})
}

// getField returns the value at a dotted path, without arrays on the way, null if there is no value.
func getField(doc bson.D, path string) any {
	var v any = doc
	for _, f := range bsonval.ParsePath(path) {
		d, _ := v.(bson.D)
		v, _ = bsonval.Get(d, f.Name)
	}
	if bsonval.IsMissing(v) {
		return nil
	}
	return v
}

// hasExactFields reports whether an index's key has exactly these fields.
func hasExactFields(spec *store.IndexSpec, on []string) bool {
	if len(spec.Fields) != len(on) {
		return false
	}
	for _, name := range on {
		if bsonval.Index(spec.Key, name) < 0 {
			return false
		}
	}
	return true
}

// canJoin reports whether $merge can find documents of a sharded collection by these fields: the shard key is among
// them, or they are _id, for which MongoDB adds the shard key.
func (r *request) canJoin(coll *store.Collection, on []string) bool {
	c := r.findSharding(coll)
	return c == nil || c.Key.IsWithin(on) || len(on) == 1 && on[0] == "_id"
}

// checkMerge refuses a document that $merge would put on another shard than the document with its _id.
func (r *request) checkMerge(coll *store.Collection, old, doc bson.D) error {
	c := r.findSharding(coll)
	if c == nil {
		return nil
	}
	was, _ := c.Key.Values(old)
	is, ok := c.Key.Values(doc)
	if ok && bsonval.Compare(bson.A(was), bson.A(is)) == 0 {
		return nil
	}
	return mongoerr.New(mongoerr.NotImplemented,
		"$merge has a document with another shard key than the one that is stored under its _id, %s: "+
			"the simulated cluster can't store both", bsonval.Show(getField(old, "_id")))
}
