package model_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	textID   string
	numberID int16
)

func pointTo[T any](v T) *T { return &v }

// tenantValues has values of each BSON type, in the forms that Go has for them. Values of
// the same name are one tenant. An empty name means that the value can't be a tenant.
func tenantValues() map[string][]any {
	id, uuid := bson.NewObjectID(), bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}
	zero, data := bson.Binary{Subtype: 4, Data: make([]byte, 16)}, []byte("0123456789abcdef")
	decimal, _ := bson.ParseDecimal128("5")
	return map[string][]any{
		"a": {"a", textID("a"), pointTo("a"), core.MustRawValue("a")},
		"A": {"A"},
		"5": {
			5, int8(5), int16(5), int32(5), int64(5), uint8(5), uint64(5), float32(5), 5.0, numberID(5), pointTo(int32(5)),
			core.MustRawValue(int32(5)),
		},
		"\"5\"": {"5"},
		"0":     {0, int64(0), 0.0, math.Copysign(0, -1)},
		"big":   {int64(1) << 60, float64(int64(1) << 60)},
		"id":    {id, &id, core.MustRawValue(id)},
		"hex":   {id.Hex()},
		"uuid":  {uuid, &uuid, core.MustRawValue(uuid)},
		"": {
			nil, bson.Null{}, bson.Undefined{}, (*string)(nil), (*int)(nil), (*bson.ObjectID)(nil), (*bson.D)(nil), (*ring)(nil),
			[]string(nil), []byte(nil), map[string]any(nil), bson.D(nil), bson.M(nil), bson.A(nil),
			bson.Raw(nil), bson.RawArray(nil), bson.RawValue{}, bson.RawValue{Type: bson.TypeNull},
			bson.RawValue{Type: bson.TypeUndefined}, bson.RawValue{Type: bson.TypeString},
			bson.RawValue{Type: bson.TypeObjectID, Value: []byte{1}}, bson.RawValue{Type: 99, Value: []byte{1}}, "", pointTo(""),
			textID(""), "a\xff", "a\xfe", bson.NilObjectID, &bson.NilObjectID, core.MustRawValue(bson.NilObjectID), d(),
			d("$eq", "b"), d("$eq", nil), d("$ne", "b"), d("$in", bson.A{"a", "b"}), d("x", 1),
			&bson.D{{Key: "$eq", Value: "b"}}, bson.M{"$eq": "b"}, raw(d("$eq", "b")), core.MustRawValue(d("$eq", "b")),
			struct{ A string }{"a"}, ring{ID: "x"}, bson.A{}, bson.A{"a", "b"}, []string{"a"}, []any{nil}, [2]string{"a", "b"},
			core.MustRawValue(bson.A{"a"}), true, false, 5.5, math.NaN(), math.Inf(1), 1e300, float64(math.MaxInt64),
			uint64(math.MaxUint64), decimal, bson.Regex{Pattern: "a"}, bson.Symbol("a"), bson.JavaScript("a"),
			bson.CodeWithScope{Code: "a", Scope: d()}, bson.MinKey{}, bson.MaxKey{}, bson.DateTime(5), time.Unix(5, 0),
			bson.Timestamp{T: 5}, bson.DBPointer{DB: "x", Pointer: id}, data, [16]byte(data), bson.Binary{Data: data},
			bson.Binary{Subtype: 3, Data: data}, bson.Binary{Subtype: 4, Data: data[:15]}, zero, make(chan int),
		},
	}
}

// A tenant is a string, an ObjectID, an integer or a UUID. Everything else is refused, at each place where a scope is
// used.
func TestScopeTenantValues(t *testing.T) {
	db := mongotest.NewClient(t).Database("x")
	for name, list := range tenantValues() {
		for _, v := range list {
			s := model.Scope{Tenant: bson.D{{Key: "tenant", Value: v}}}
			_, fromIndexes := s.Indexes(model.IndexSet{})
			_, fromFind := docsAny.Find(nil).All(t.Context(), s.On(db))
			_, fromWrite := insertDoc(d("_id", bson.NewObjectID())).Run(t.Context(), s.On(db))
			for where, err := range map[string]error{
				"Plan": s.Plan(model.NewPlan(insertDoc(d("_id", 1)))).Err(), "Indexes": fromIndexes,
				"a Find": fromFind, "a Write": fromWrite,
			} {
				var refused *model.ValueError
				if name == "" && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Field, "Scope.Tenant")) ||
					name != "" && err != nil {
					t.Errorf("%s with a tenant of %T(%v): %v", where, v, v, err)
				}
			}
		}
	}
}

// Each form of one tenant has the same documents and locks, and no form has another tenant's. Documents may hold an
// equal number of another type.
func TestScopeTenantForms(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	values := tenantValues()
	delete(values, "")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		names, id := map[string]string{}, int32(0)
		for name, list := range values {
			for i, v := range list {
				own := model.Scope{Tenant: bson.D{{Key: "tenant", Value: v}}}.On(db)
				if text, known := names[name]; known && text != core.Tenant(own) {
					t.Errorf("%s: %T is %s and %s", name, v, text, core.Tenant(own))
				}
				names[name] = core.Tenant(own)
				id++
				run := func(what string, w model.Write) {
					t.Helper()
					if _, err := w.Run(t.Context(), own); err != nil {
						t.Errorf("%s of %T(%v): %v", what, v, v, err)
					}
				}
				run("Insert", insertDoc(d("_id", id)))
				if err := db.Collection("parts").FindOne(t.Context(), d("_id", id)).Err(); err != nil {
					t.Fatal(err)
				}
				run("Insert with the field",
					insertDoc(bson.D{{Key: "_id", Value: -id}, {Key: "tenant", Value: v}, {Key: "x", Value: 1}}))
				run("Update to the same",
					expectOne(updateOne(d("_id", -id), bson.D{{
						Key:   "$set",
						Value: bson.D{{Key: "tenant", Value: v}, {Key: "x", Value: 2}},
					}})))
				run("Replace",
					expectOne(write(&mongo.ReplaceOneModel{
						Filter:      bson.D{{Key: "_id", Value: -id}, {Key: "tenant", Value: v}},
						Replacement: bson.D{{Key: "tenant", Value: v}},
					})))
				if n, err := docsAny.Named("parts").Find(nil).Count(t.Context(), own); err != nil || n != int64(2*i+2) {
					t.Errorf("%T(%v) has %d documents, %v; want %d", v, v, n, err, 2*i+2)
				}
				if err := db.Collection("pairs").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, _, err := pairOf(lease).Run(t.Context(), own); err != nil {
					t.Fatal(err)
				}
			}
		}
		texts := map[string]bool{}
		for _, text := range names {
			texts[text] = true
		}
		if len(texts) != len(values) {
			t.Errorf("%d tenants have %d names: %v", len(values), len(texts), names)
		}
		if n, err := db.Collection("locks").CountDocuments(t.Context(), d()); int(n) != len(values) || err != nil {
			t.Errorf("%d lock documents of %d tenants, %v", n, len(values), err)
		}
	})
}

// A scope that would apply to nothing, or marks nothing as deleted, is refused.
func TestScopeOfNothing(t *testing.T) {
	db := mongotest.NewClient(t).Database("x")
	shop := model.New("shop", model.Entity(parts))
	some := func(names ...string) model.Scope {
		return model.Scope{Tenant: d("tenant", "a"), Collections: append([]string{}, names...)}
	}
	for reason, on := range map[string]model.DB{
		"a tenant without fields": model.Scope{Tenant: bson.D{}}.On(db), "no collections": some().On(db),
		"an empty name": some("parts", "").On(db), "a misspelt name in a model": some("parts", "partz").On(shop.On(db)),
		"a model under a misspelt name": shop.On(some("partz").On(db)),
		"a mark of a nil pointer":       model.Scope{Delete: d("gone", (*string)(nil))}.On(db),
		"a mark of null":                model.Scope{Delete: d("gone", bson.Null{})}.On(db),
		"a mark that contains null":     model.Scope{Delete: d("gone", bson.A{1, nil})}.On(db),
		"a mark of an undefined value":  model.Scope{Delete: d("gone", bson.Undefined{})}.On(db),
	} {
		_, err := parts.Find(nil).All(t.Context(), on)
		if !errors.As(err, new(*model.ValueError)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	for reason, on := range map[string]model.DB{
		"both of the model": some("parts").On(shop.On(db)),
		"the other way":     shop.On(some("parts").On(db)),
	} {
		if _, err := parts.Find(nil).All(t.Context(), on); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// A document with a field of the scope twice is refused: each reader could see another value.
func TestScopeFieldTwice(t *testing.T) {
	s := model.Scope{Tenant: d("tenant", "a"), Insert: d("made", 1)}
	for _, doc := range []bson.D{
		d("_id", 1, "tenant", "a", "tenant", "b"), d("_id", 1, "tenant", "b", "tenant", "a"),
		d("_id", 1, "tenant", "a", "tenant", "a"), d("_id", 1, "made", 1, "made", 1),
	} {
		final := insertDoc(doc)
		final.Final = true
		for what, w := range map[string]model.Write{
			"an insert": insertDoc(doc), "a final insert": final,
			"a replacement": write(&mongo.ReplaceOneModel{Filter: d("_id", 1), Replacement: doc}), "raw bytes": insertDoc(doc),
			"an upsert": write(&mongo.ReplaceOneModel{Filter: d("_id", 1), Replacement: raw(doc), Upsert: pointTo(true)}),
		} {
			if err := s.Plan(model.NewPlan(w)).Err(); !errors.As(err, new(*model.ValueError)) &&
				!(what == "a final insert" && doc[1].Key == "made") {
				t.Errorf("%s of %s: %v", what, fmt.Sprint(doc), err)
			}
		}
	}
}
