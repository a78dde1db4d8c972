package checks

import (
	"context"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/outbox"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Two tenants' data for the test below: authors list books, books name their author and lie somewhere, letters are
// numbered, nodes are a tree.
type (
	tenantBook struct {
		ID     string `bson:"_id"`
		Author string `bson:"author"`
		Price  int32  `bson:"price"`
		Loc    bson.D `bson:"loc"`
		Geo    int64  `bson:"geo"`
	}
	tenantAuthor struct {
		ID    string   `bson:"_id"`
		Books []string `bson:"books"`
	}
)

var (
	tenantBooks   = model.NewCollection[tenantBook, string]("books")
	tenantAuthors = model.NewCollection[tenantAuthor, string]("authors")
	tenantNodes   = model.NewCollection[treeNode, string]("nodes")
	tenantTree    = paths.NewMaterializedPath(tenantNodes, paths.MaterializedPathSpec{})
	tenantRollUp  = paths.NewRollUp[int64](tenantTree, "items", "total")
	tenantField   = geofield.NewField(tenantBooks, "loc", "geo", geofield.FieldSpec{})
	tenantBox     = outbox.New[bson.D](model.NewCollection[bson.D, string]("books"), "box", outbox.Spec{})
	tenantJoin    = join.New(tenantAuthors, "books", tenantBooks, join.Spec{})
	tenantWrites  = parentref.New(tenantBooks, "author", tenantAuthors, parentref.Spec{})
	tenantSeq     = keys.NewSequence(model.NewCollection[bson.D, string]("letters"),
		model.NewCollection[keys.SequenceCounter[string], string]("counters"), keys.SequenceSpec{})
	tenantLetters = model.New("letters", tenantSeq)
	tenantSurvey  = advise.NewSurvey(tenantAuthors, tenantBooks, advise.SurveySpec{List: "books"})
	tenantLease   = model.Lease{Collection: "locks", ID: "books"}
	tenantCheck   = model.Check{
		Name: "price", Collection: "books",
		Pipeline: mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "price", Value: bson.D{{Key: "$gt", Value: 0}}}}}}},
	}
	tenantIndexes = model.New("test", tenantWrites, tenantTree).Indexes()
	tenantCircle  = geohash.Circle{Center: louvre, Meters: 1000}
)

// seedTenants stores mine by the library, and theirs as an equal copy of each document, under another _id, with the
// same references.
func seedTenants(t *testing.T, db *mongo.Database) {
	t.Helper()
	ctx, own := t.Context(), mine.On(db)
	at := bson.D{{Key: "type", Value: "Point"}, {Key: "coordinates", Value: bson.A{louvre.Lng, louvre.Lat}}}
	run := func(r interface {
		Run(context.Context, model.DB) (model.Result, error)
	}) {
		t.Helper()
		if _, err := r.Run(ctx, own); err != nil {
			t.Fatal(err)
		}
	}
	run(tenantAuthors.Insert(tenantAuthor{"my author", []string{"my 1", "my 2", "their 1"}}))
	for _, b := range []tenantBook{
		{ID: "my 1", Author: "my author", Price: 10, Loc: at},
		{ID: "my 2", Author: "my author", Price: 20, Loc: at},
	} {
		run(tenantField.Complete(tenantBooks.Insert(b)))
	}
	for _, n := range []struct {
		node treeNode
		at   paths.Place[string]
	}{
		{treeNode{ID: "my root", Items: 1}, paths.LastRoot[string]()},
		{treeNode{ID: "my leaf", Items: 2}, paths.LastChild("my root")},
	} {
		if _, err := tenantTree.Insert(n.node, n.at).Run(ctx, own); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := tenantSeq.Append("my box", bson.D{}).Run(ctx, tenantLetters.On(own)); err != nil {
		t.Fatal(err)
	}
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if keepsForItself(name) {
			continue
		}
		for _, doc := range allDocs(t, db, name, bson.D{}) {
			var twin bson.D
			if err := bson.Unmarshal(doc, &twin); err != nil {
				t.Fatal(err)
			}
			for i, e := range twin {
				switch e.Key {
				case "_id":
					twin[i].Value = twinID(e.Value)
				case "tenant":
					twin[i].Value = "theirs"
				}
			}
			if _, err := db.Collection(name).InsertOne(ctx, append(twin, bson.E{Key: "secret", Value: "theirs"})); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// twinID is another _id, or the other tenant's _id of the same key.
func twinID(id any) any {
	if key, ok := id.(bson.D); ok {
		return bson.D{{Key: "tenant", Value: "theirs"}, key[1]}
	}
	return strings.Replace(id.(string), "my", "their", 1)
}

func allDocs(t *testing.T, db *mongo.Database, name string, filter bson.D) []bson.Raw {
	t.Helper()
	cur, err := db.Collection(name).Find(t.Context(), filter)
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.Raw
	if err := cur.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	return docs
}

// theirs are the other tenant's documents, by collection and _id.
func theirs(t *testing.T, db *mongo.Database) map[string]bson.Raw {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bson.Raw{}
	for _, name := range names {
		for _, doc := range allDocs(t, db, name, bson.D{{Key: "tenant", Value: "theirs"}}) {
			out[name+" "+doc.Lookup("_id").String()] = doc
		}
	}
	return out
}
