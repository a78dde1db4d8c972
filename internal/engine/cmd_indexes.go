package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

func init() {
	register(
		&command{name: "createIndexes", txn: true, writes: true, run: createIndexes, fields: []string{"indexes", "commitQuorum", "ignoreUnknownIndexOptions"}},
		&command{name: "listIndexes", run: listIndexes, fields: []string{"cursor"}},
		&command{name: "dropIndexes", aliases: []string{"deleteIndexes"}, run: dropIndexes, fields: []string{"index"}},
		&command{name: "collMod", run: collMod, fields: []string{
			"index", "validator", "validationLevel", "validationAction", "viewOn", "pipeline", "cappedSize",
			"cappedMax", "expireAfterSeconds", "timeseries", "changeStreamPreAndPostImages", "dryRun",
		}},
	)
}

func createIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.required("indexes")
	a.refuse("ignoreUnknownIndexOptions", false)
	list := a.documents("indexes")
	if a.err != nil {
		return nil, a.err
	}
	if len(list) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Must specify at least one index to create")
	}
	var specs []*store.IndexSpec
	for _, d := range list {
		s, err := readIndex(&args{place: "createIndexes.indexes", doc: d})
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	var before, after int
	created := false
	err = r.write(func(w *store.Writer) error {
		created = w.Collection(ns) == nil
		if created {
			if err := w.Create(ns, nil); err != nil {
				return err
			}
		}
		before = len(w.Collection(ns).Indexes)
		for _, s := range specs {
			if err := addIndex(w, ns, s); err != nil {
				return err
			}
		}
		after = len(w.Collection(ns).Indexes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rep := reply{
		{Key: "numIndexesBefore", Value: int32(before)},
		{Key: "numIndexesAfter", Value: int32(after)},
		{Key: "createdCollectionAutomatically", Value: created},
	}
	if before == after {
		rep = append(rep, bson.E{Key: "note", Value: "all indexes already exist"})
	}
	return rep, nil
}

// addIndex builds an index unless the same is there. One of the same name or
// the same key, but different otherwise, is an error.
func addIndex(w *store.Writer, ns store.Namespace, s *store.IndexSpec) error {
	for _, x := range w.Collection(ns).Indexes {
		old := x.Spec
		sameKey := bsonval.Equal(old.Key, s.Key) || equalKeys(old.Key, s.Key)
		switch same := sameOptions(old, s); {
		case sameKey && old.Name == store.IDIndex:
			return nil
		case old.Name == s.Name && sameKey && same:
			return nil
		case old.Name == s.Name && sameKey:
			return mongoerr.New(mongoerr.IndexKeySpecsConflict, "An existing index has the same name as the requested index. "+
				"When index names are not specified, they are auto generated and can cause conflicts. Please refer to our "+
				"documentation. Requested index: %s, existing index: %s", store.Show(describeIndex(s)), store.Show(describeIndex(old)))
		case old.Name == s.Name:
			return mongoerr.New(mongoerr.IndexKeySpecsConflict, "An existing index has the same name as the requested index. "+
				"Requested index: %s, existing index: %s", store.Show(describeIndex(s)), store.Show(describeIndex(old)))
		case sameKey && bsonval.Equal(old.Partial, s.Partial):
			return mongoerr.New(mongoerr.IndexOptionsConflict, "Index already exists with a different name: %s", old.Name)
		}
	}
	return w.AddIndex(ns, s)
}

// equalKeys compares keys by what they mean: 1 and 1.0 are the same direction.
func equalKeys(a, b bson.D) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Key != b[i].Key || bsonval.Compare(a[i].Value, b[i].Value) != 0 {
			return false
		}
	}
	return true
}

func sameOptions(a, b *store.IndexSpec) bool {
	return a.Unique == b.Unique && a.Sparse == b.Sparse && bsonval.Equal(a.Partial, b.Partial) &&
		a.Expires == b.Expires && a.ExpireAfter == b.ExpireAfter
}

func listIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	limit := batchOf(a)
	if a.err != nil {
		return nil, a.err
	}
	c := r.state().Collection(ns)
	if c == nil {
		return nil, missing(ns)
	}
	var list []bson.D
	for _, x := range c.Indexes {
		list = append(list, describeIndex(x.Spec))
	}
	return r.first(ns, &documents{list}, limit, false)
}

// dropIndexes drops indexes by name, by key, or all with "*".
func dropIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.required("index")
	if a.err != nil {
		return nil, a.err
	}
	which, _ := a.get("index")
	was := 0
	err = r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		if c == nil {
			return missing(ns)
		}
		was = len(c.Indexes)
		names, err := indexNames(c, which)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := w.DropIndex(ns, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return reply{{Key: "nIndexesWas", Value: int32(was)}}, nil
}

func indexNames(c *store.Collection, which any) (names []string, err error) {
	switch v := which.(type) {
	case bson.A:
		for _, one := range v {
			list, err := indexNames(c, one)
			if err != nil {
				return nil, err
			}
			names = append(names, list...)
		}
		return names, nil
	case string:
		for _, x := range c.Indexes {
			if v == "*" && x.Spec.Name != store.IDIndex || v == x.Spec.Name {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil && v != "*" {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", v)
		}
	case bson.D:
		for _, x := range c.Indexes {
			if equalKeys(x.Spec.Key, v) {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "can't find index with key: %s", store.Show(v))
		}
	default:
		return nil, mongoerr.New(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object, array]'", bsonval.TypeName(which))
	}
	for _, name := range names {
		if name == store.IDIndex {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
	}
	return names, nil
}

// collMod changes the expiry or the visibility of an index, or what a collection is validated by, and nothing else.
func collMod(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	for _, name := range r.command.fields[4:] {
		a.refuse(name)
	}
	v, err := readValidation(a)
	a.fail(err)
	if len(v.given) == 0 {
		a.required("index")
	}
	part := &args{place: "collMod.index", doc: a.document("index")}
	a.fail(part.known([]string{"name", "keyPattern", "expireAfterSeconds", "hidden", "unique", "prepareUnique"}))
	part.refuse("unique")
	part.refuse("prepareUnique")
	a.fail(part.err)
	if a.err != nil {
		return nil, a.err
	}
	var rep reply
	err = r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		if c == nil {
			return missing(ns)
		}
		if len(v.given) > 0 {
			v, err := v.over(c.Options)
			if err == nil {
				err = w.SetOptions(ns, v.options(c.Options), v.check())
			}
			if err != nil || !a.has("index") {
				return err
			}
			c = w.Collection(ns)
		}
		which, ok := part.get("name")
		if !ok {
			which, _ = part.get("keyPattern")
		}
		names, err := indexNames(c, which)
		if err != nil {
			return err
		}
		next := *c.Index(names[0]).Spec
		rep, err = changeIndex(part, &next)
		if err != nil {
			return err
		}
		return w.AlterIndex(ns, &next)
	})
	return rep, err
}

// changeIndex changes a spec as collMod asks, and says what was and what is.
func changeIndex(part *args, s *store.IndexSpec) (rep reply, err error) {
	if v, ok := part.get("expireAfterSeconds"); ok {
		if s.Expires {
			rep = append(rep, bson.E{Key: "expireAfterSeconds_old", Value: int64(s.ExpireAfter.Seconds())})
		}
		if len(s.Fields) > 1 {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
		}
		if s.ExpireAfter, err = expiry(v); err != nil {
			return nil, err
		}
		s.Expires = true
		rep = append(rep, bson.E{Key: "expireAfterSeconds_new", Value: int64(s.ExpireAfter.Seconds())})
	}
	if part.has("hidden") {
		rep = append(rep, bson.E{Key: "hidden_old", Value: s.Hidden})
		s.Hidden = part.boolean("hidden", false)
		rep = append(rep, bson.E{Key: "hidden_new", Value: s.Hidden})
	}
	return rep, part.err
}
