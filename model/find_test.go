package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// command renders a Find, or its error.
func command[D any](f *model.Find[D]) string {
	if f.Err != nil {
		return f.Err.Error()
	}
	return model.Shell(f.Command())
}

func TestFindCommand(t *testing.T) {
	products := products.Unchecked()
	sorted := func(nameDir ...any) *model.Find[product] { return products.Find(nil).Sorted(d(nameDir...)) }
	skipping := sorted("name", 1)
	skipping.Skip = 10
	type brief struct {
		ID   bson.ObjectID `bson:"_id"`
		Name string        `bson:"name"`
	}
	type wrong struct {
		Nmae string
	}
	type dotted struct {
		Country string `bson:"origin.country"`
	}
	for _, c := range []struct{ got, want, reason string }{
		{command(products.Find(d("a", 1)).Where(nil)), "{find: 'products', filter: {a: 1}}", "no condition narrows nothing"},
		{
			got:    command(products.Find(nil).Limited(3).Sorted(d("a", -1))),
			want:   "{find: 'products', filter: {}, sort: {a: -1}, limit: Long('3')}",
			reason: "limit and sort",
		},
		{
			got:    command(products.Find(nil).After(oid(1))),
			want:   "{find: 'products', filter: {_id: {$gt: ObjectId('5f0000000000000000000001')}}, sort: {_id: 1}}",
			reason: "by _id",
		},
		{command(sorted("_id", 1, "name", 1).After(oid(1), "x")),
			"{find: 'products', filter: {_id: {$gte: ObjectId('5f0000000000000000000001')}, $or: [{_id: {$gt: ObjectId('5f0000000000000000000001')}}, {_id: ObjectId('5f0000000000000000000001'), name: {$gt: 'x'}}]}, sort: {_id: 1, name: 1}}",
			"a sort that holds _id is total already"},
		{command(sorted("a", 1).After(d("$gt", 1), bson.Regex{Pattern: "^.*"})),
			"{find: 'products', filter: {a: {$gte: {$gt: 1}}, $or: [{a: {$gt: {$gt: 1}}}, {a: {$eq: {$gt: 1}}, _id: {$gt: RegExp('^.*')}}]}, sort: {a: 1, _id: 1}}",
			"a value is never an operator"},
		{
			got:    command(skipping.After("x", oid(1)).Limited(2))[:30],
			want:   command(sorted("name", 1).After("x", oid(1)))[:30],
			reason: "Skip is for the first page",
		},
		{
			got:    command(sorted("name", 1).After("x")),
			want:   "needs 2 values, one for each field of the sort {name: 1, _id: 1}",
			reason: "too few values",
		},
		{
			got:    command(sorted("name", -1).After()),
			want:   "{find: 'products', filter: {}, sort: {name: -1, _id: -1}}",
			reason: "the first page: its order must be total too",
		},
		{command(sorted("name", "text").After("x", oid(1))), "must be 1 or -1", "a sort that isn't an order of values"},
		{command(sorted("name", 1).After(nil, oid(1))), "null", "after a null, documents that have a value would be lost"},
		{command(sorted("name", 1).After(math.NaN(), oid(1))), "null or NaN", "nothing sorts after NaN in a query"},
		{command(sorted("name", 1).After(func() {}, oid(1))), "no encoder", "what BSON can't hold"},
		{command(products.Find(nil).Limited(-1)), "is negative: give 0 or more", "a negative limit"},
		{
			got:    command(model.Project[brief](products.Find(d("a", 1)))),
			want:   "{find: 'products', filter: {a: 1}, projection: {_id: 1, name: 1}}",
			reason: "the fields of R",
		},
		{command(model.Project[wrong](products.Find(nil))), `did you mean "name"?`, "a field that D doesn't store"},
		{
			got:    command(model.Project[dotted](products.Find(nil))),
			want:   "origin.country",
			reason: "a dotted tag is a path to the server, and a plain name to the decoder",
		},
		{command(model.Project[bson.M](products.Find(nil))), "must be a struct", "an R whose fields are not known"},
		{command(model.Project[struct{}](products.Find(nil))), "must be a struct", "an R without fields"},
		{command(model.Project[int](products.Find(nil))), "must be a struct", "a scalar R"},
		{
			got: command(model.Project[wrong](notes.Find(nil))), want: "projection: {nmae: 1, _id: 0}",
			reason: "documents whose fields are not known",
		},
		{command(products.Find(d("a", func() {}))), "no encoder", "a filter that can't be encoded"},
		{
			got:    command(products.ByID(oid(1)).Where(d("a", 1))),
			want:   "{find: 'products', filter: {_id: ObjectId('5f0000000000000000000001'), a: 1}, limit: Long('1')}",
			reason: "one document, on a condition",
		},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("got %s\nwant %s: %s", c.got, c.want, c.reason)
		}
	}
	if strings.Contains(command(skipping.After("x", oid(1))), "skip") {
		t.Error("After keeps Skip, which would pass over documents of each page")
	}
}

// An index serves its order both ways, and no other.
func TestSortedIndex(t *testing.T) {
	f := products.Find(nil).Sorted(d("name", 1, "_id", -1))
	f.Index = "name_1__id_-1"
	for _, c := range []struct {
		sort bson.D
		want string
	}{
		{d("name", -1, "_id", 1), f.Index}, {d("name", int64(-1), "_id", 1.0), f.Index},
		{d("name", -1, "_id", -1), ""}, {d("_id", 1, "name", -1), ""}, {d("name", -1), ""}, {nil, ""},
	} {
		if got := f.Sorted(c.sort).Index; got != c.want {
			t.Errorf("%v: by %q, want %q", c.sort, got, c.want)
		}
	}
}

// TestFindIsAValue changes copies, and what was handed in.
func TestFindIsAValue(t *testing.T) {
	filter := d("a", bson.A{1})
	f := products.Find(filter).Sorted(d("name", 1))
	before := command(f)
	f.Where(d("b", 1))
	f.Limited(3)
	f.After("x", oid(1))
	f.Sorted(nil)
	model.Project[struct{ Name string }](f)
	filter[0].Value.(bson.A)[0] = 2
	if got := command(f); got != before {
		t.Errorf("changed from %s to %s", before, got)
	}
	var v *model.ValueError
	if err := products.Find(nil).Limited(-1).Where(d("a", 1)).Err; !errors.As(err, &v) || v.Collection != "products" {
		t.Errorf("the error of a query goes along, with its collection: %v", err)
	}
}

func TestIndexOfFind(t *testing.T) {
	for _, c := range []struct {
		got, want, reason string
	}{
		{products.ByID(oid(1)).Index, model.IDIndex, "by _id"},
		{products.Find(nil).Index, "", "not known"},
		{products.ByID(oid(1)).Where(d("a", 1)).Index, model.IDIndex, "a condition more changes nothing"},
		{products.ByID(oid(1)).Sorted(d("a", 1)).Index, "", "another order may need another index"},
	} {
		if c.got != c.want {
			t.Errorf("index %q, want %q: %s", c.got, c.want, c.reason)
		}
	}
}

// What the comments promise of indexes: documents are read and written by _id.
func TestByIDIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(2000))
		less := d("$inc", d("qty", int32(-3)))
		for _, c := range []struct {
			reason string
			query  any
		}{
			{"ByID", parts.ByID(7)}, {"a page by _id", parts.Find(nil).Sorted(d("_id", 1)).Limited(5).After(int32(7))},
			{"Modify by _id", parts.Modify(d("_id", int32(7)), less)},
			{"Replace", parts.Replace(part{ID: 7})}, {"Update", parts.Update(7, less)}, {"Delete", parts.Delete(7)},
		} {
			t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, model.IDIndex) })
		}
	})
}
