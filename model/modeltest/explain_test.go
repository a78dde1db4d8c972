package modeltest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// seedIndexed stores so many documents that a server prefers an index.
func seedIndexed(t testing.TB, db *mongo.Database) {
	t.Helper()
	ctx := context.Background()
	docs := make([]any, 4000)
	for i := range docs {
		docs[i] = bson.D{
			{Key: "_id", Value: int32(i)}, {Key: "n", Value: int32(i % 400)}, {Key: "m", Value: int32(i)},
			{Key: "k", Value: int32(i)},
		}
	}
	if _, err := db.Collection("parts").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []bson.D{
		{{Key: "n", Value: 1}, {Key: "m", Value: 1}}, {{Key: "k", Value: 1}}, {{Key: "k", Value: 1}, {Key: "m", Value: 1}},
	} {
		if _, err := db.Collection("parts").Indexes().CreateOne(ctx, model.NewIndex("parts", keys).Model()); err != nil {
			t.Fatal(err)
		}
	}
}

func writeTo(m mongo.WriteModel) model.Write { return model.Write{Collection: "parts", Model: m} }

// countsInExplain returns an error where explain doesn't tell how many keys and documents
// a plan examined.
func countsInExplain(ctx context.Context, db *mongo.Database) error {
	reply, err := db.RunCommand(ctx, bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: "parts"}}}, {Key: "verbosity", Value: "executionStats"},
	}).Raw()
	if err == nil {
		_, err = reply.LookupErr("executionStats", "totalKeysExamined")
	}
	return err
}

func TestWantIndexed(t *testing.T) {
	parts := parts.Unchecked()
	n3, byID := bson.D{{Key: "n", Value: 3}}, bson.D{{Key: "_id", Value: 3}}
	both := bson.D{{Key: "$or", Value: bson.A{n3, bson.D{{Key: "n", Value: 5}}}}}
	tests := []struct {
		name, reason string
		query        any
		index        string
		problem      string // a part of the failure on the engine; "" for none
	}{
		{"find", "", parts.Find(n3), "n_1_m_1", ""},
		{"by id", "", parts.ByID(3), "_id_", ""},
		{"or", "each branch has its index", parts.Find(both), "n_1_m_1", ""},
		{
			name: "command", reason: "a command of one's own",
			query: bson.D{{Key: "count", Value: "parts"}, {Key: "query", Value: n3}},
			index: "n_1_m_1", problem: "",
		},
		{"aggregate", "", parts.Aggregate(mongo.Pipeline{
			{{Key: "$match", Value: n3}}, {{Key: "$group", Value: bson.D{{Key: "_id", Value: "$m"}}}}}), "n_1_m_1", ""},
		{"update", "", writeTo(mongo.NewUpdateOneModel().SetFilter(n3).SetUpdate(set(1))), "n_1_m_1", ""},
		{"update many", "", writeTo(mongo.NewUpdateManyModel().SetFilter(n3).SetUpdate(set(1))), "n_1_m_1", ""},
		{"replace", "", writeTo(mongo.NewReplaceOneModel().SetFilter(byID).SetReplacement(bson.D{})), "_id_", ""},
		{"delete", "", writeTo(mongo.NewDeleteManyModel().SetFilter(n3)), "n_1_m_1", ""},
		{"modify", "", parts.Modify(n3, set(1)), "n_1_m_1", ""},
		{
			name: "by id and more", reason: "_id_ examines one document, the index ten",
			query: parts.Find(bson.D{{Key: "_id", Value: 3}, {Key: "n", Value: 3}}),
			index: "n_1_m_1", problem: "",
		},
		{"aggregate by id and more", "", parts.Aggregate(mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: 3}, {Key: "n", Value: 3}}}}}), "n_1_m_1", ""},
		{
			name: "update by id and more", reason: "",
			query: writeTo(mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 3}, {Key: "n", Value: 3}}).
				SetUpdate(set(1))),
			index: "n_1_m_1", problem: "",
		},
		{
			name: "modify by id and more", reason: "",
			query: parts.Modify(bson.D{{Key: "_id", Value: 3}, {Key: "n", Value: 3}}, set(1)),
			index: "n_1_m_1", problem: "",
		},
		{"another index", "it examines the same", parts.Find(bson.D{{Key: "k", Value: 7}, {Key: "m", Value: 7}}), "k_1", ""},
		{
			name: "a worse index", reason: "it examines more",
			query: parts.Find(bson.D{{Key: "n", Value: 3}, {Key: "k", Value: bson.D{{Key: "$gte", Value: 3997}}}}),
			index: "k_1",

			problem: "served by n_1_m_1, which examines 10 keys and 10 documents, want k_1, which examines 3 and 3",
		},
		{"no index", "a scan", parts.Find(bson.D{{Key: "m", Value: 3}}), "n_1_m_1", "the collection is scanned (COLLSCAN)"},
		{"wrong index", "another one", parts.ByID(3), "n_1_m_1", "served by _id_, want n_1_m_1"},
		{"insert", "it looks nothing up", parts.Insert(part{ID: 1}), "_id_", "looks nothing up"},
		{"refused", "bad input", parts.Find(nil).Limited(-1), "_id_", "is negative"},
		{"no command", "", 5, "_id_", "a int has no command to explain"},
		{"empty", "", bson.D{}, "_id_", "the command is empty"},
		{"unknown", "", bson.D{{Key: "frobnicate", Value: 1}}, "_id_", "explain: "},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seedIndexed(t, db)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				switch tt.name {
				case "a worse index":
					if strings.Contains(t.Name(), "/server/") {
						t.Skip("server lacks: the engine's choice of an index")
					}
				case "by id and more", "aggregate by id and more", "another index":
					mongotest.Need(t, db, mongotest.Feature{Name: "counts in explain", Probe: countsInExplain})
				}
				if tt.problem == "" {
					modeltest.WantIndexed(t, db, tt.query, tt.index)
					return
				}
				r := &recorder{TB: t}
				modeltest.WantIndexed(r, db, tt.query, tt.index)
				want := tt.problem
				if strings.Contains(t.Name(), "/server/") && strings.Contains(want, "COLLSCAN") {
					want = "the collection is scanned ("
				}
				if !strings.Contains(r.text, want) {
					t.Errorf("%s: got %q, want %q in it", tt.reason, r.text, want)
				}
			})
		}
		if n := count(t, db, nil); n != 4000 {
			t.Errorf("%d documents are left: something was written", n)
		}
	})
}

// Under a scope, the index must serve the query with the scope's conditions.
func TestWantIndexedScoped(t *testing.T) {
	type part struct {
		ID     string `bson:"_id"`
		Tenant string `bson:"tenant"`
		Name   string `bson:"name"`
	}
	parts := model.NewCollection[part, string]("parts")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []part
		for i := range 3000 {
			list = append(list, part{ID: fmt.Sprint(i), Tenant: fmt.Sprint("t", i%100), Name: fmt.Sprint("n", i)})
		}
		if _, err := parts.InsertMany(list).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		scope := model.Scope{Tenant: bson.D{{Key: "tenant", Value: "t7"}}}
		set, err := scope.Indexes(model.IndexSet{
			Needed: []model.Index{model.NewIndex("parts", bson.D{{Key: "name", Value: 1}})},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		index := set.Needed[0].Name
		r := &recorder{TB: t}
		find := parts.Find(bson.D{{Key: "name", Value: "n7"}})
		if modeltest.WantIndexed(r, db, find, index); !strings.Contains(r.text, "parts") {
			t.Errorf("without the scope: %q", r.text)
		}
		own := scope.On(db)
		r = &recorder{TB: t}
		if modeltest.WantIndexed(r, own, bson.D{{Key: "find", Value: "parts"}}, index); !strings.Contains(r.text,
			"a scope can't be applied to a bson.D") {
			t.Errorf("a command: %q", r.text)
		}
		modeltest.WantIndexed(t, own, find, index)
		for _, filter := range []bson.D{{{Key: "size", Value: 7}}, nil} {
			r = &recorder{TB: t}
			if modeltest.WantIndexed(r, own, parts.Unchecked().Find(filter), index); !strings.Contains(r.text,
				"index "+index+" is limited only by the scope") {
				t.Errorf("the tenant alone, %v: %q", filter, r.text)
			}
		}
		modeltest.WantIndexed(t, own,
			writeTo(&mongo.UpdateOneModel{
				Filter: bson.D{{Key: "name", Value: "n7"}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "x"}}}},
			}), index)
		modeltest.WantIndexed(t, own,
			model.AggregateAs[bson.D](parts, mongo.Pipeline{{{
				Key: "$match", Value: bson.D{{Key: "name", Value: "n7"}},
			}}}), index)
	})
}
