package compose

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	tree := func(name string, t func() *paths.Tree[post, string]) fixture {
		return fixture{name: name, volatile: []string{"posts.change"}, declare: func() (model.Technique, []operation) {
			x := t()
			return x, []operation{
				changed("insert", x.Insert(post{ID: "p6", Title: "Six", Media: song{}}, paths.LastChild("p1"))),
				changed("move", x.Move("p3", paths.LastChild("p1"))),
				changed("delete", x.Delete("p3", paths.Restrict)),
			}
		}}
	}
	register(
		tree("paths.Tree by parents", func() *paths.Tree[post, string] {
			return paths.NewParentTree(posts, paths.TreeSpec{})
		}),
		tree("paths.Tree by children", func() *paths.Tree[post, string] {
			return paths.NewChildTree(posts, paths.ChildTreeSpec{})
		}),
		tree("paths.Tree by ancestors", func() *paths.Tree[post, string] {
			return paths.NewAncestorArray(posts, paths.AncestorArraySpec{})
		}),
		tree("paths.Tree by paths", func() *paths.Tree[post, string] {
			return paths.NewMaterializedPath(posts, paths.MaterializedPathSpec{})
		}),
		tree("paths.Tree by nested sets", func() *paths.Tree[post, string] {
			return paths.NewNestedSet(posts, paths.NestedSetSpec{Direct: true})
		}),
		fixture{name: "paths.DocumentTree", declare: func() (model.Technique, []operation) {
			t := paths.NewDocumentTree[node, string](posts, "outline", paths.DocumentTreeSpec{})
			return t, []operation{
				written("push", t.Push("p1", node{ID: "n3", Text: "second"}, paths.LastChild("n1"))),
				changed("delete", t.Delete("p1", "n1", paths.Promote)),
				written("patch", t.Patch("p1", "n2", bson.D{e("text", "changed")})),
			}
		}},
		fixture{name: "paths.Graph", declare: func() (model.Technique, []operation) {
			return follows(), []operation{planned("clear", follows().Clear())}
		}},
		// A computation tells of the graph as each of its steps read it.
		fixture{
			name:     "paths.Supersteps",
			volatile: []string{"posts_states.*", "posts_states_steps.*"},
			unscoped: true,
			declare: func() (model.Technique, []operation) {
				s := follows().Distances("p1")
				return s, []operation{job("distances", s.Job())}
			},
		},
		fixture{name: "geofield.Field", declare: func() (model.Technique, []operation) {
			f := geofield.NewField(posts, "at", "geo", geofield.FieldSpec{})
			s := postStore(f)
			return f, []operation{
				changed("set", s.Set("p2", bson.D{e("at", geofield.Point{Lat: 10, Lng: 20})})),
				changed("unset", s.Set("p1", bson.D{e("at", bson.RawValue{})})),
				changed("insert", s.Insert(post{ID: "p7", Title: "Seven", Media: song{}, At: &geofield.Point{Lat: 1, Lng: 2}})),
			}
		}},
		fixture{
			name:     "schema.Expiry",
			volatile: []string{"posts_archive.archivedEarlier"},
			declare: func() (model.Technique, []operation) {
				x := schema.NewExpiry(posts, "until", schema.ExpirySpec{Archive: "posts_archive"})
				return x, []operation{
					job("archive", x.Archive(noon), x.Archive(noon)), // what changed meanwhile is archived by the second run
					written("until", x.Until("p2", noon.Add(time.Hour))),
				}
			},
		},
	)
}

func follows() *paths.Graph[post, string] {
	return paths.NewGraph(posts, "follows", paths.GraphSpec{})
}

// job is an operation that runs jobs.
func job(name string, list ...model.Job) operation {
	return operation{name: name, run: func(ctx context.Context, db model.DB) error {
		for _, j := range list {
			if _, err := j.Run(ctx, db, model.JobOptions{}); err != nil {
				return err
			}
		}
		return nil
	}}
}
