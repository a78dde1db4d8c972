package compose

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/normalized"
	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func storeWith(techniques ...model.Technique) *model.Store[derivedDoc, string] {
	return model.NewStore(model.New("derived", techniques...), derivedDocs)
}

// What a technique computes of the document can't have another value. An equal one is accepted.
func TestStoreDerivedRefuses(t *testing.T) {
	text, field, attrs := storeWith(derivedText), storeWith(derivedField), storeWith(derivedAttrs)
	spread, key := storeWith(derivedSpread), storeWith(derivedKey)
	at, _ := derivedSpread.Key("monday", "t")
	moved, _ := derivedSpread.Key("tuesday", "t")
	id, _ := derivedKey.KeyOf("CA", 1)
	doc := derivedDoc{ID: id, State: "CA", User: 1, Title: "t", Tags: []string{"a"}, Day: at}
	with := func(change func(*derivedDoc)) derivedDoc {
		d := doc
		change(&d)
		return d
	}
	set := func(path string, v any) bson.D { return bson.D{{Key: path, Value: v}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			change model.ChangeOf[model.Stored[derivedDoc]]
			field  string // "" for none
		}{
			{text.Insert(with(func(d *derivedDoc) { d.TagText = "|b|" })), "tagText"},
			{field.Insert(with(func(d *derivedDoc) { d.Key = 5 })), "key"},
			{field.Insert(with(func(d *derivedDoc) { d.Place = geofield.Point{Lat: 100} })), "place.coordinates.1"},
			{spread.Insert(with(func(d *derivedDoc) { d.Day = "" })), "day"},
			{spread.Insert(with(func(d *derivedDoc) { d.Day = "monday#9" })), "day"},
			{key.Insert(with(func(d *derivedDoc) { d.ID = "x" })), "_id"},
			{attrs.Insert(with(func(d *derivedDoc) { d.Attrs = []derivedAttr{{"", 1}} })), "attrs[0].k"},
			{text.Insert(with(func(d *derivedDoc) { d.TagText = "|a|" })), ""},
			{text.Set(id, set("tagText", "|b|")), "tagText"},
			{text.Set(id, set("tagText", "|a|")), ""},
			{text.Replace(with(func(d *derivedDoc) { d.TagText = "|b|" })), ""}, // keeps what the technique computes
			{field.Set(id, set("key", int64(7))), "key"},
			{field.Set(id, set("place", geofield.Point{Lat: 1, Lng: 2})), ""},
			{field.Edit(id, func(d *derivedDoc) error { d.Key = 9; return nil }), "key"},
			{spread.Set(id, set("day", moved)), ""},
			{spread.Set(id, set("day", "tuesday#999")), "day"},
			{spread.Set(id, set("title", "u")), ""},
			{key.Set(id, set("user", int64(2))), "user"},
			{key.Set(id, set("title", "v")), ""},
			{key.Ensure(with(func(d *derivedDoc) { d.ID = "" })), ""},
			{key.Delete(id), ""},
		} {
			_, _, err := c.change.Run(t.Context(), db)
			var value *model.ValueError
			if errors.As(err, &value) && value.Field != c.field || value == nil && (err != nil || c.field != "") {
				t.Errorf("%s: %v, want a refusal of %q", c.change.Name, err, c.field)
			}
		}
		flat := storeWith(derivedColumns)
		if _, _, err := flat.Insert(doc).Run(t.Context(), db); !errors.Is(err, model.ErrTransactional) {
			t.Errorf("columns outside transactions: %v", err)
		}
	})
}

// Techniques that can't take part name their methods.
func TestStoreDerivedDeclarations(t *testing.T) {
	numbered := numbered.New(derivedDocs, "tags", numbered.Spec{Max: 3})
	normalized := normalized.New(derivedDocs, "rows", normalized.Part{Path: "tags", Into: "tagRows"})
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("numbered fields", func() { storeWith(numbered) },
			"Numbered", "NewStore of derived", "Numbered.Insert"),
		testkit.Wrong("rows", func() { model.NewStore(model.New("m", normalized), derivedDocs.Named("rows")) },
			"Normalized", "NewStore of rows", "Normalized.Plan"),
		testkit.Wrong("flat documents", func() { model.NewStore(model.New("m", derivedColumns), derivedDocs.Named("flat")) },
			"Columns", "NewStore of flat", "store of the documents"),
	)
	storeWith(normalized)
}

// The _id of a DocumentKey consists of the parts.
func TestStoreDocumentKey(t *testing.T) {
	pairs := model.NewCollection[bson.D, bson.D]("pairs")
	store := model.NewStore(model.New("m", keys.NewDocumentKey(pairs, keys.Text("state"), keys.Int("user"))), pairs)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		part := func(k string, v any) bson.E { return bson.E{Key: k, Value: v} }
		for _, c := range []struct {
			id      bson.D
			refused bool
		}{
			{bson.D{part("state", "CA"), part("user", int64(1))}, false},
			{bson.D{part("user", int64(1)), part("state", "CA")}, true},
			{bson.D{part("state", "CA")}, true},
			{bson.D{part("state", "CA"), part("user", "x")}, true},
		} {
			_, _, err := store.Insert(bson.D{{Key: "_id", Value: c.id}}).Run(t.Context(), db)
			if value := (*model.ValueError)(nil); c.refused != errors.As(err, &value) || !c.refused && err != nil {
				t.Errorf("%v: %v", c.id, err)
			}
		}
	})
}
