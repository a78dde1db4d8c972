package compose

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// storeFields are the fields of stores in the documents of the fixtures' collections. All others have _m.
var storeFields = map[string]string{"users": "_u", "comments": "_c"}

func storeFieldOf(collection string) string {
	if f, ok := storeFields[collection]; ok {
		return f
	}
	return "_m"
}

// looseDocs declares one of the fixtures' collections without a Go type.
func looseDocs(name string) *model.Collection[bson.D, any] {
	return model.NewCollectionWith[bson.D, any](name, model.CollectionOptions{StoreField: storeFieldOf(name)})
}

// wantOwnStoreFields wants that no document has another collection's field of stores.
func wantOwnStoreFields(t *testing.T, db *mongo.Database, operation string) {
	t.Helper()
	for _, name := range []string{"users", "comments", "posts"} {
		others := bson.A{}
		for _, field := range []string{"_m", "_u", "_c"} {
			if field != storeFieldOf(name) {
				others = append(others, bson.D{e(field, bson.D{e("$exists", true)})})
			}
		}
		wrong, err := db.Collection(name).FindOne(t.Context(), bson.D{e("$or", others)}).Raw()
		if err == nil {
			t.Errorf("%s: the stores' field of a document in %s must be %s: %s", operation, name,
				storeFieldOf(name), model.Shell(wrong))
		} else if !errors.Is(err, mongo.ErrNoDocuments) {
			t.Fatal(err)
		}
	}
}

// The pipelines of checks read, in each collection, its own field of stores. A check that reads another one takes an
// unfinished action for a fault, which only a race would show.
func TestChecksReadTheirStoreField(t *testing.T) {
	read := map[string]bool{}
	for _, f := range fixtures {
		technique, _ := f.declare()
		for _, c := range technique.Checks() {
			for _, pipeline := range []mongo.Pipeline{c.Pipeline, c.InTransaction} {
				w := fieldWalk{t: t, check: f.name + ": " + c.Name, read: read}
				w.walk(rawPipeline(t, pipeline), c.Collection, nil)
			}
		}
	}
	for _, want := range []string{"users _u", "comments _c", "posts _m"} {
		if !read[want] {
			t.Errorf("no check reads %s: the test sees nothing", want)
		}
	}
}

func rawPipeline(t *testing.T, p mongo.Pipeline) bson.RawValue {
	t.Helper()
	kind, data, err := bson.MarshalValue(append(mongo.Pipeline{}, p...))
	if err != nil {
		t.Fatal(err)
	}
	return bson.RawValue{Type: kind, Value: data}
}

// A fieldWalk goes through the pipelines of a check.
type fieldWalk struct {
	t     *testing.T
	check string
	read  map[string]bool // what has been found: a collection and its field
}

// walk goes through a pipeline or a part of one. joined has the collections of joined documents, by their names.
func (w *fieldWalk) walk(v bson.RawValue, collection string, joined map[string]string) {
	switch v.Type {
	case bson.TypeString:
		w.checkPath(v.StringValue(), collection, joined)
	case bson.TypeArray:
		names := map[string]string{}
		for name, of := range joined {
			names[name] = of
		}
		list, _ := v.Array().Values()
		for _, e := range list {
			if from, as, ok := lookedUp(e); ok {
				names[as] = from
			}
			w.walk(e, collection, names)
		}
	case bson.TypeEmbeddedDocument:
		elements, _ := v.Document().Elements()
		for _, e := range elements {
			if e.Key() == "$lookup" || e.Key() == "$unionWith" {
				w.walkSource(e.Value())
				continue
			}
			w.checkPath(e.Key(), collection, joined)
			w.walk(e.Value(), collection, joined)
		}
	}
}

// walkSource goes through a $lookup or a $unionWith, whose pipeline reads another collection.
func (w *fieldWalk) walkSource(v bson.RawValue) {
	doc, ok := v.DocumentOK()
	if !ok {
		return
	}
	from, ok := doc.Lookup("from").StringValueOK()
	if !ok {
		from, _ = doc.Lookup("coll").StringValueOK()
	}
	if inner := doc.Lookup("pipeline"); inner.Type != 0 {
		w.walk(inner, from, nil)
	}
}

// lookedUp returns the collection of a $lookup stage, and the name of its documents.
func lookedUp(stage bson.RawValue) (from, as string, ok bool) {
	doc, is := stage.DocumentOK()
	if !is {
		return "", "", false
	}
	inner, is := doc.Lookup("$lookup").DocumentOK()
	if !is {
		return "", "", false
	}
	return inner.Lookup("from").StringValue(), inner.Lookup("as").StringValue(), true
}

// checkPath compares the field of stores in a path with the collection's.
func (w *fieldWalk) checkPath(path, collection string, joined map[string]string) {
	parts := strings.Split(strings.TrimLeft(path, "$"), ".")
	i := slices.IndexFunc(parts, func(p string) bool { return p == "_m" || p == "_u" || p == "_c" })
	if i < 0 || i > 1 || strings.HasPrefix(path, "$$") {
		return
	}
	if i == 1 {
		of, ok := joined[parts[0]]
		if !ok {
			return
		}
		collection = of
	}
	if parts[i] != storeFieldOf(collection) {
		w.t.Errorf("%s: %s of %s: its documents have the field %s", w.check, path, collection, storeFieldOf(collection))
	}
	w.read[collection+" "+parts[i]] = true
}
