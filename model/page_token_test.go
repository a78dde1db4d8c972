package model_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// forge returns a token of the same query with other sort values.
func forge(t testing.TB, token string, values ...any) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(must(bson.Marshal(d("q", bson.Raw(raw).Lookup("q"), "v", bson.A(values)))))
}

// forgedValues are values that no page's token has.
func forgedValues() map[string]any {
	deep := any(int32(1))
	for range 190 {
		deep = d("a", deep)
	}
	raw := func(t bson.Type, data string) any { return bson.RawValue{Type: t, Value: []byte(data)} }
	return map[string]any{
		"regular expression":    bson.Regex{Pattern: "(a+)+$"},
		"its part of a value":   d("a", bson.A{bson.Regex{Pattern: "("}}),
		"code":                  bson.JavaScript("sleep(1)"),
		"code with a scope":     bson.CodeWithScope{Code: "sleep(1)", Scope: bson.D{}},
		"pointer":               bson.DBPointer{DB: "test.things"},
		"undefined":             bson.Undefined{},
		"array":                 bson.A{1},
		"too many levels":       deep,
		"invalid UTF-8":         "a\xff",
		"invalid UTF-8, within": d("a", "a\xff"),
		"invalid name":          d("a\xff", 1),
		"boolean":               raw(bson.TypeBoolean, "\x02"),
		"boolean, within":       d("a", raw(bson.TypeBoolean, "\x02")),
		"string without an end": raw(bson.TypeString, "\x02\x00\x00\x00ab"),
		"string of no bytes":    raw(bson.TypeString, "\x00\x00\x00\x00"),
		"old binary":            raw(bson.TypeBinary, "\x02\x00\x00\x00\x0200"),
		"length":                strings.Repeat("a", 1<<17),
		"length of 17 MB":       strings.Repeat("a", 17<<20),
	}
}

// TestPageTokenForged: a forged token gives a ValueError, and sends nothing.
func TestPageTokenForged(t *testing.T) {
	tenancy.Differs(t, "the query of a token has the scope's filter")
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor).Database("test")
	mustRun(t, db, manyParts(3))
	for i := range int32(3) {
		if _, err := things.Of(db).InsertOne(t.Context(), d("_id", i, "a", i)); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(reason string, err error) {
		t.Helper()
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Field != "token" || len(err.Error()) > 400 {
			t.Errorf("%s: %.400v", reason, err)
		}
	}
	open := things.Find(nil).Sorted(d("a", 1)).Limited(1)
	typed := parts.Find(nil).Sorted(d("qty", 1)).Limited(1)
	openPage, err := open.Page(t.Context(), db, "")
	if err != nil {
		t.Fatal(err)
	}
	typedPage, err := typed.Page(t.Context(), db, "")
	if err != nil {
		t.Fatal(err)
	}
	monitor.Reset()
	for reason, v := range forgedValues() {
		_, err := open.Page(t.Context(), db, forge(t, openPage.Next, v, int32(1)))
		refused(reason, err)
		_, err = typed.Page(t.Context(), db, forge(t, typedPage.Next, v, int32(1)))
		refused(reason+", typed", err)
	}
	for _, v := range []any{
		"a", true, d("a", 1), oid(1), bson.DateTime(1), bson.Timestamp{T: 1}, bson.Binary{Data: []byte("x")},
	} {
		_, err := typed.Page(t.Context(), db, forge(t, typedPage.Next, v, int32(1)))
		refused(model.Shell(v)+" for an int", err)
	}
	if n := monitor.Cost().Commands; n != 0 {
		t.Errorf("%d commands", n)
	}
	if p, err := typed.Page(t.Context(), db, forge(t, typedPage.Next, int64(0), 1.5)); err != nil || len(p.Docs) != 1 {
		t.Errorf("values that the fields can contain: %v, %v", p, err)
	}
}

// TestPageUnsorted: a document that pages can't be sorted by is named, with the field, and so is a field of such a Go
// type.
func TestPageUnsorted(t *testing.T) {
	tenancy.Differs(t, "the documents have no tenant")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		type nested struct{ B any }
		type thing struct {
			ID int32 `bson:"_id"`
			A  any
			In nested
			P  bson.Regex
			C  bson.JavaScript
			T  []string
			N  string
		}
		typed := model.NewCollection[thing, int32]("things")
		for _, field := range []string{"p", "c", "t"} {
			var bad *model.ValueError
			if _, err := typed.Find(nil).Sorted(d(field, 1)).Limited(1).
				Page(t.Context(), db, ""); !errors.As(err, &bad) || bad.Field != "Sort" {
				t.Errorf("by %s: %v", field, err)
			}
		}
		for reason, c := range map[string]struct {
			doc   bson.D
			field string
		}{
			"an array":                   {d("a", bson.A{1}), "a"},
			"an empty array":             {d("a", bson.A{}), "a"},
			"a pattern":                  {d("a", bson.Regex{Pattern: "x"}), "a"},
			"code":                       {d("a", bson.JavaScript("x")), "a"},
			"a pattern within":           {d("a", d("x", bson.Regex{Pattern: "x"})), "a"},
			"an array on the way":        {d("in", bson.A{d("b", 1)}), "in.b"},
			"another type than declared": {d("n", 1), "n"},
		} {
			if _, err := typed.Of(db).InsertOne(t.Context(), append(d("_id", int32(7)), c.doc...)); err != nil {
				t.Fatal(err)
			}
			find := model.Project[struct {
				ID int32 `bson:"_id"`
			}](typed.Find(nil).Sorted(d(c.field, 1)).Limited(1))
			var bad *model.ValueError
			if _, err := find.Page(t.Context(), db, ""); !errors.As(err, &bad) || bad.Field != c.field ||
				model.Shell(bad.Value) != "7" {
				t.Errorf("%s: %v", reason, err)
			}
			if _, err := typed.Of(db).DeleteOne(t.Context(), d("_id", int32(7))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestPageTooLong: a sort value that is too long for a token is named where a page begins or ends, and nowhere else.
func TestPageTooLong(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		long := strings.Repeat("b", 60<<10)
		mustRun(t, db, parts.InsertMany([]part{{ID: 1, Name: "a"}, {ID: 2, Name: long}, {ID: 3, Name: "c"}}))
		find := parts.Find(nil).Sorted(d("name", 1))
		var bad *model.ValueError
		if _, err := find.Limited(2).Page(t.Context(), db, ""); !errors.As(err, &bad) || bad.Field != "name" ||
			model.Shell(bad.Value) != "2" {
			t.Errorf("at the end of a page: %v", err)
		}
		if p, err := find.Limited(3).Page(t.Context(), db, ""); err != nil || len(p.Docs) != 3 {
			t.Errorf("within a page: %d, %v", len(p.Docs), err)
		}
		most := strings.Repeat("b", 48_000)
		mustRun(t, db, model.NewPlan(parts.Update(2, d("$set", d("name", most)))))
		p, err := find.Limited(2).Page(t.Context(), db, "")
		if err != nil {
			t.Fatal(err)
		}
		if p, err = find.Limited(2).Page(t.Context(), db, p.Next); err != nil || len(p.Docs) != 1 {
			t.Errorf("after a long value: %d, %v", len(p.Docs), err)
		}
	})
}

// TestAfterRefused: After refuses a value by which no documents can follow.
func TestAfterRefused(t *testing.T) {
	for _, c := range []struct {
		find  *model.Find[course]
		field string
	}{
		{courses.Find(nil).Sorted(d("seats", 1)).After("x", oid(1)), "seats"},
		{courses.Find(nil).After("x"), "_id"},
		{courses.Find(nil).Sorted(d("tags", 1)).After("x", oid(1)), "Sort"},
	} {
		var bad *model.ValueError
		if !errors.As(c.find.Err, &bad) || bad.Field != c.field {
			t.Errorf("%s: %v", c.field, c.find.Err)
		}
	}
}

// FuzzPageToken: any token gives a page, or a ValueError.
func FuzzPageToken(f *testing.F) {
	db := mongotest.NewClient(f).Database("test")
	for i := range int32(3) {
		if _, err := things.Of(db).InsertOne(f.Context(), d("_id", i, "a", i)); err != nil {
			f.Fatal(err)
		}
	}
	find := things.Find(nil).Sorted(d("a", 1)).Limited(1)
	first, err := find.Page(f.Context(), db, "")
	if err != nil {
		f.Fatal(err)
	}
	own, _ := base64.RawURLEncoding.DecodeString(first.Next)
	query := bson.Raw(own).Lookup("q")
	add := func(v any) { f.Add(byte(bson.TypeInt32), must(bson.Marshal(d("v", v)))[7:]) }
	for _, v := range thingValues() {
		add(v)
	}
	for _, v := range forgedValues() {
		if raw := must(bson.Marshal(d("v", v))); len(raw) < 1<<12 {
			f.Add(raw[4], raw[7:len(raw)-1])
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		raw, err := bson.Marshal(d("q", query, "v", bson.A{bson.RawValue{Type: bson.Type(kind), Value: data}, int32(1)}))
		if err != nil {
			return
		}
		for _, token := range []string{
			base64.RawURLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(data), string(data),
		} {
			var bad *model.ValueError
			if _, err := find.Page(t.Context(), db, token); err != nil && !errors.As(err, &bad) {
				t.Errorf("type %d, %x: %v", kind, data, err)
			}
		}
	})
}
