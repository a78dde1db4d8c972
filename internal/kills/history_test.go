package kills

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type page struct {
	ID      string           `bson:"_id"`
	N       int64            `bson:"n"`
	Version int64            `bson:"version"`
	Revised *history.Revised `bson:"revised,omitempty"`
}

var (
	pages    = model.NewCollection[page, string]("pages")
	versions = history.New(pages,
		model.NewCollection[history.Revision[page, string], history.RevisionID[string]]("pages_revisions"),
		history.Spec{})
	by = history.Revised{At: noon, By: "writer"}
)

// All writers add to one page, which keeps each version.
func init() {
	acts = append(acts, act{
		name: "history", technique: versions,
		begin: func(ctx context.Context, db *mongo.Database) error {
			_, err := versions.Insert(page{ID: "p"}, by, bson.NewObjectID()).Run(ctx, db)
			return err
		},
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			_, err := versions.Change("p", by, o.token, func(p page) (page, error) {
				p.N++
				return p, nil
			}).Run(ctx, db)
			return err
		},
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			want := int64(0)
			for _, n := range done {
				want += int64(n)
			}
			p, err := pages.ByID("p").One(t.Context(), db)
			if err != nil || p.N != want || p.Version != want+1 {
				t.Errorf("%+v, %v, want %d operations", p, err, want)
			}
			all, err := versions.Revisions("p", 0, 0).All(t.Context(), db)
			if err != nil || int64(len(all)) != want+1 {
				t.Errorf("%d versions, %v, want %d", len(all), err, want+1)
			}
			for i, r := range all {
				if v := want + 1 - int64(i); r.ID.Version != v || r.Doc.N != v-1 {
					t.Errorf("version %d holds %d", r.ID.Version, r.Doc.N)
				}
			}
		},
	})
}
