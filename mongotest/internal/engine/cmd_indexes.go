package engine

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func init() {
	register(
		&command{
			name: "createIndexes", txn: true, writes: true, run: createIndexes,
			fields: []string{"indexes", "commitQuorum", "ignoreUnknownIndexOptions"},
		},
		&command{name: "listIndexes", run: listIndexes, fields: []string{"cursor"}},
		&command{name: "dropIndexes", aliases: []string{"deleteIndexes"}, run: dropIndexes, fields: []string{"index"}},
	)
}

func createIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("indexes")
	a.Refuse("ignoreUnknownIndexOptions", false)
	list := a.Documents("indexes")
	if a.Err != nil {
		return nil, a.Err
	}
	if len(list) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Must specify at least one index to create")
	}
	var specs []*store.IndexSpec
	coll := r.state().Collection(ns)
	for _, d := range list {
		s, err := readIndex(&args.Reader{Place: "createIndexes.indexes", Doc: d}, coll)
		if err != nil {
			return nil, err
		}
		if err := r.checkSharded(coll, s); err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	var before, after int
	created := false
	err = r.write(func(w *store.Writer) (err error) {
		created = w.Collection(ns) == nil
		before, after, err = addIndexes(w, ns, specs)
		return err
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

// addIndexes builds indexes, on a new collection if there is none. It returns how many there were and how many there
// are.
func addIndexes(w *store.Writer, ns store.Namespace, specs []*store.IndexSpec) (before, after int, err error) {
	if w.Collection(ns) == nil {
		if err := w.Create(ns, nil); err != nil {
			return 0, 0, err
		}
	}
	c := w.Collection(ns)
	if c.View != nil {
		return 0, 0, store.OnView(ns)
	}
	var added []*store.IndexSpec
	for _, s := range specs {
		if err := checkSeriesIndex(c, s); err != nil {
			return 0, 0, err
		}
		isNew, err := addIndex(w, ns, s)
		if err != nil {
			return 0, 0, err
		}
		if isNew {
			added = append(added, s)
		}
	}
	w.NoteIndexes(ns, added)
	return len(c.Listed()), len(w.Collection(ns).Listed()), nil
}

// addIndex builds an index unless the same is there. One of the same name or
// the same key and collation, but different otherwise, is an error. It reports whether it has built one.
func addIndex(w *store.Writer, ns store.Namespace, s *store.IndexSpec) (bool, error) {
	if err := otherText(w.Collection(ns), s); err != nil {
		return false, err
	}
	for _, x := range w.Collection(ns).Indexes {
		old := x.Spec
		equal := bsonval.Equal(old.Key, s.Key) || equalKeys(old.Key, s.Key)
		sameKey := equal && collation.Same(old.Collation, s.Collation)
		switch same := sameOptions(old, s); {
		case sameKey && (old.Name == store.IDIndex || old.Clustered):
			return false, nil
		case equal && (old.Name == store.IDIndex || old.Clustered):
			return false, mongoerr.New(mongoerr.BadValue,
				"The _id index must have the same collation as the collection. Index collation: %s, "+
					"collection collation: %s", store.Show(s.Collation.Document()), store.Show(old.Collation.Document()))
		case old.Name == s.Name && sameKey && same:
			return false, nil
		case old.Name == s.Name && sameKey:
			return false, mongoerr.New(mongoerr.IndexKeySpecsConflict,
				"An existing index has the same name as the requested index. "+
					"When index names are not specified, they are auto generated and can cause conflicts. Please refer to our "+
					"documentation. Requested index: %s, existing index: %s", store.Show(describeIndex(s)),
				store.Show(describeIndex(old)))
		case old.Name == s.Name:
			return false, mongoerr.New(mongoerr.IndexKeySpecsConflict,
				"An existing index has the same name as the requested index. "+
					"Requested index: %s, existing index: %s", store.Show(describeIndex(s)), store.Show(describeIndex(old)))
		case sameKey && bsonval.Equal(old.Partial, s.Partial):
			return false, mongoerr.New(mongoerr.IndexOptionsConflict, "Index already exists with a different name: %s", old.Name)
		}
	}
	return true, w.AddIndex(ns, s)
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
	return a.Unique == b.Unique && a.Prepare == b.Prepare && a.Sparse == b.Sparse && bsonval.Equal(a.Partial, b.Partial) &&
		bsonval.Equal(a.Projection, b.Projection) &&
		bsonval.Equal(a.Extra, b.Extra) && a.Expires == b.Expires && a.ExpireAfter == b.ExpireAfter
}

func listIndexes(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	limit := batchOf(a)
	if a.Err != nil {
		return nil, a.Err
	}
	c := r.state().Collection(ns)
	if c == nil {
		return nil, missing(ns)
	}
	if c.View != nil {
		return nil, store.OnView(ns)
	}
	var list []bson.D
	for _, x := range c.Listed() {
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
	a.Require("index")
	if a.Err != nil {
		return nil, a.Err
	}
	which, _ := a.Get("index")
	was := 0
	err = r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		if c == nil {
			return missing(ns)
		}
		if c.View != nil {
			return store.OnView(ns)
		}
		was = len(c.Listed())
		names, err := indexNames(c, which)
		if err == nil {
			err = r.checkKeyIndex(c, names)
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if c.Index(name).Spec.Clustered {
				return mongoerr.New(5979800, "It is illegal to drop the clusteredIndex")
			}
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
		for _, x := range c.Listed() {
			if v == "*" && x.Spec.Name != store.IDIndex && !x.Spec.Clustered || v == x.Spec.Name {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil && v != "*" {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", v)
		}
	case bson.D:
		for _, x := range c.Listed() {
			if equalKeys(x.Spec.Key, v) {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "can't find index with key: %s", store.Show(v))
		}
		if len(names) > 1 {
			return nil, mongoerr.New(mongoerr.AmbiguousIndexKeyPattern,
				"%d indexes found for key: %s, identify by name instead. "+
					"Conflicting indexes: %s", len(names), store.Show(v), strings.Join(names, ", "))
		}
	default:
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object, array]'",
			bsonval.TypeName(which))
	}
	for _, name := range names {
		if name == store.IDIndex && c.Clustered == nil {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
	}
	return names, nil
}
