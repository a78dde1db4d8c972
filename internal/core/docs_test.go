package core_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The documents of these tests: products of parts.
type (
	part struct {
		ID   int32  `bson:"_id"`
		Name string `bson:"name"`
		Qty  int32  `bson:"qty"`
	}
	product struct {
		ID     bson.ObjectID   `bson:"_id"`
		Name   string          `bson:"name"`
		Parts  []bson.ObjectID `bson:"parts,omitempty"`
		Items  []item          `bson:"items,omitempty"`
		Nils   []string        `bson:"nils"`
		Extra  map[string]any  `bson:"extra,omitempty"`
		Origin *origin         `bson:"origin"`
	}
	item struct {
		ID   bson.ObjectID `bson:"id"`
		Tags []string      `bson:"tags,omitempty"`
	}
	origin struct {
		Country string   `bson:"country"`
		Ports   []string `bson:"ports,omitempty"`
	}
)

var (
	products = model.NewCollection[product, bson.ObjectID]("products").Docs()
)

var d, oid, catch = testkit.D, testkit.OID, testkit.Catch

func TestCheckKeyAndPath(t *testing.T) {
	for _, c := range []struct{ in, key, path, reason string }{
		{"name", "", "", "a plain name"},
		{"é 世界 |^.*"[:3], "", "", "letters beyond ASCII"},
		{"a|b", "", "", "a bar is no operator"},
		{"cost$", "", "", "a dollar sign elsewhere than first"},
		{"0", "", "", "a number"},
		{" ", "", "", "a blank"},
		{"", "must not be empty", "must not be empty", "an empty name can't be queried"},
		{"$where", "dollar", "dollar", "an operator"},
		{"$", "dollar", "dollar", "a lone dollar sign"},
		{"a.b", "dot", "", "a path is no name"},
		{"^.*", "dot", "", "a pattern, with a dot in it"},
		{".", "dot", "must not be empty", "two empty names"},
		{"a.", "dot", "must not be empty", "an empty last name"},
		{"a..b", "dot", "must not be empty", "an empty name between"},
		{"a.$set", "dot", "dollar", "an operator below"},
		{"a.$[].b", "dot", "dollar", "an array position is no part of a document"},
		{"a\x00b", "NUL", "NUL", "BSON ends names with a NUL"},
		{"a.b\x00", "dot", "NUL", "a NUL further down"},
	} {
		for what, x := range map[string]struct {
			got  error
			want string
		}{"CheckKey": {core.CheckKey(c.in), c.key}, "CheckPath": {core.CheckPath(c.in), c.path}} {
			var v *model.ValueError
			switch {
			case (x.got == nil) != (x.want == ""), x.got != nil && !strings.Contains(x.got.Error(), x.want):
				t.Errorf("%s(%q) = %v, want %q: %s", what, c.in, x.got, x.want, c.reason)
			case x.got != nil && !errors.As(x.got, &v):
				t.Errorf("%s(%q) is %T, not a *ValueError", what, c.in, x.got)
			}
		}
	}
}

func TestFieldErrorsNameTheNearest(t *testing.T) {
	for _, c := range []struct{ path, want, reason string }{
		{"nmae", `no field "nmae"; did you mean "name"?`, "two letters swapped"},
		{"Parts", `did you mean "parts"?`, "the Go name for the stored one"},
		{"items.ids", `item stores no field "ids"; did you mean "id"?`, "below an array"},
		{"name.first", `"name" is of type string, which has no field "first"`, "below a scalar"},
		{
			path:   "qqqqqqqqqq",
			want:   "its fields: _id, name, parts, items, nils, extra, origin",
			reason: "nothing near: the names, in stored order",
		},
		{"items.$.id", "must not begin with a dollar sign", "positions are no fields"},
		{"items.0.id", `no field "0"`, "a position in an array"},
		{"", "must not be empty", "no path"},
	} {
		_, err := products.Field(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Field(%q): %v, want %q: %s", c.path, err, c.want, c.reason)
		}
		if v := (*model.ValueError)(nil); !errors.As(err, &v) || v.Collection != "products" ||
			v.Field != "path" || v.Value != c.path {
			t.Errorf("Field(%q): %v, want a *ValueError of the path", c.path, err)
		}
		if e := catch(t, func() { products.MustField(c.path) }); e == nil || e.Remedy == "" ||
			!strings.Contains(e.Place, "products") {
			t.Errorf("MustField(%q) panics with %v, which should say where and what to do", c.path, e)
		}
	}
}

func TestCheckArray(t *testing.T) {
	for _, c := range []struct{ path, want, reason string }{
		{"parts", "", "a slice that is left out when nil"},
		{"items", "", "of documents"},
		{"nils", "stored as null", "$push fails on null"},
		{"name", "path \"name\" is of type string, not an array", "no array"},
		{"items.id", "not an array", "a scalar in an array"},
		{"items.tags", "crosses 2 arrays", "an array in an array"},
		{"origin.ports", `nil value at "origin" is stored as null`, "$push fails below a null"},
		{"extra.list", "", "below an open value nothing is known"},
	} {
		e := catch(t, func() { products.CheckArray(c.path) })
		if (e == nil) != (c.want == "") || e != nil && !strings.Contains(e.Problem, c.want) {
			t.Errorf("CheckArray(%q): %v, want %q: %s", c.path, e, c.want, c.reason)
		}
	}
	asEmpty := model.NewCollectionWith[product, bson.ObjectID]("products", model.CollectionOptions{
		BSON: &options.BSONOptions{NilSliceAsEmpty: true},
	}).Docs()
	if e := catch(t, func() { asEmpty.CheckArray("nils") }); e != nil {
		t.Errorf("with NilSliceAsEmpty a nil slice is stored as an array: %v", e)
	}
}

func TestFieldSaysWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		path         string
		arrays       int
		isArray      bool
		open, null   bool
		first, where string
	}{
		{"name", 0, false, false, false, "", "a scalar"},
		{"parts", 1, true, false, false, "parts", "a slice, left out when nil"},
		{"items.tags", 2, true, false, false, "items", "an array in an array"},
		{"items.id", 1, false, false, false, "items", "a scalar in an array"},
		{"nils", 1, true, false, true, "nils", "a slice, null when nil"},
		{"origin", 0, false, false, true, "", "a pointer, null when nil"},
		{"origin.country", 0, false, false, false, "", "through a pointer"},
		{"extra", 0, false, false, false, "", "a map itself is known"},
		{"extra.any.thing", 0, false, true, false, "", "below a map"},
	} {
		f, err := products.Field(c.path)
		if err != nil || f.Arrays != c.arrays || f.IsArray() != c.isArray || f.Untyped != c.open ||
			f.StoresNull() != c.null || f.Array != c.first {
			t.Errorf("%s (%s): %+v, %v", c.path, c.where, f, err)
		}
	}
}

func TestCheckID(t *testing.T) {
	all := model.NewCollection[bson.D, any]("notes")
	notes := all.Docs()
	type key struct{ Host, Day string }
	check := func(reason string, want string, err error) {
		t.Helper()
		var v *model.ValueError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", reason, err)
		case want != "" &&
			(!errors.As(err, &v) || v.Collection != "notes" || !strings.HasPrefix(v.Field, "ref") ||
				!strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want a *ValueError of notes, ref that says %q", reason, err, want)
		}
	}
	for _, c := range []struct {
		id           any
		want, reason string
	}{
		{nil, "empty", "no id"},
		{"", "empty", "an empty string"},
		{"$where", "", "a string is data"},
		{"a\x00b", "", "a NUL in a string is data"},
		{0, "", "zero is an id"},
		{int64(0), "", "zero is an id"},
		{uint16(0), "", "zero is an id"},
		{false, "", "false is an id"},
		{math.NaN(), "", "MongoDB takes it"},
		{bson.Decimal128{}, "", "zero is an id"},
		{bson.DateTime(0), "", "1970 is an id"},
		{bson.ObjectID{}, "empty", "a zero ObjectID is stored without complaint, once"},
		{[16]byte{}, "empty", "a zero UUID"},
		{[16]byte{1}, "", "a UUID"},
		{[]byte{}, "empty", "no bytes"},
		{bson.Binary{Subtype: 4}, "empty", "no bytes"},
		{time.Time{}, "empty", "the zero time"},
		{bson.D{}, "empty", "an empty document"},
		{bson.M{}, "empty", "an empty document"},
		{key{}, "empty", "a zero struct"},
		{key{"h", ""}, "", "a struct with one zero field"},
		{bson.Raw{5, 0, 0, 0, 0}, "empty", "an empty document"},
		{bson.RawValue{}, "empty", "no value"},
		{bson.RawValue{Type: bson.TypeNull}, "empty", "a null"},
		{(*string)(nil), "empty", "a nil pointer"},
		{bson.A{1}, "array", "MongoDB takes no array"},
		{[]string{"a"}, "array", "MongoDB takes no array"},
		{bson.Regex{Pattern: ".*"}, "regular expression", "it would match others"},
		{bson.Undefined{}, "undefined", "MongoDB takes no undefined"},
		{bson.D{{Key: "$gt", Value: ""}}, "dollar", "it would be an operator"},
		{bson.M{"$ne": nil}, "dollar", "it would be an operator"},
		{bson.D{{Key: "a", Value: bson.D{{Key: "$x", Value: 1}}}}, "dollar", "a name further down"},
		{bson.D{{Key: "a.b", Value: 1}}, "dot", "a dotted name"},
		{make(chan int), "no encoder", "what BSON can't hold"},
	} {
		check(c.reason, c.want, notes.CheckID("ref", c.id))
		if c.want != "" {
			for what, err := range map[string]error{
				"ByID": all.ByID(c.id).Err, "Delete": all.Delete(c.id).Err,
				"Update": all.Update(c.id, d("$set", d("a", 1))).Err,
			} {
				if err == nil {
					t.Errorf("%s takes an id that is refused: %s", what, c.reason)
				}
			}
		}
	}
}
