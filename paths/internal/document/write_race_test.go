package document_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// 32 writers at one document lose nothing.
func TestDocumentTreeRace(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Grow(t, db, "root(a b c d)")
			var all sync.WaitGroup
			for w := range 32 {
				all.Go(func() {
					me := fmt.Sprintf("w%02d", w)
					under := string("abcd"[w%4])
					for _, c := range []model.Change{
						f.Tree.Insert("p", pathstest.Remark{ID: me, Text: me}, paths.LastChild(under)),
						f.Tree.Insert("p", pathstest.Remark{ID: me + "gone"}, paths.FirstChild(me)),
						f.Tree.Move("p", me, paths.FirstChild(string("abcd"[(w+1)%4]))),
						f.Tree.Set("p", me, bson.D{{Key: "likes", Value: w + 1}}),
						f.Tree.Delete("p", me+"gone", paths.Restrict),
					} {
						if _, err := c.Run(t.Context(), db); err != nil {
							t.Errorf("%s: %s: %v", f.Name, me, err)
							return
						}
					}
				})
			}
			all.Wait()
			visits, err := f.ReadAll(t.Context(), db, "p")
			problems, errCheck := pathstest.DamageList(t.Context(), db, f.Tree, "p")
			if err != nil || errCheck != nil || len(problems) > 0 {
				t.Fatalf("%s: %v, %v, %v", f.Name, err, errCheck, problems)
			}
			n := 0
			for _, v := range visits {
				if strings.HasPrefix(v.Doc.ID, "w") {
					n++
					if v.Depth != 2 || fmt.Sprintf("w%02d", v.Doc.Likes-1) != v.Doc.ID || v.Doc.Text != v.Doc.ID {
						t.Errorf("%s: %+v", f.Name, v)
					}
				}
			}
			if n != 32 || len(visits) != 37 {
				t.Errorf("%s: %d nodes: %s", f.Name, n, pathstest.DocumentForest(visits))
			}
		}
	})
}

// Movers that would make a cycle together never do.
func TestDocumentTreeMovers(t *testing.T) {
	testkit.Parallel(t)
	ids := strings.Split("abcdefgh", "")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Grow(t, db, strings.Join(ids, " "))
			var all sync.WaitGroup
			for w := range 16 {
				all.Go(func() {
					for i := range 4 {
						c := f.Tree.Move("p", ids[(w+i)%8], paths.LastChild(ids[(w*3+i*5+1)%8]))
						if _, err := c.Run(t.Context(), db); err != nil && !errors.Is(err, paths.ErrCycle) {
							t.Errorf("%s: %v", f.Name, err)
						}
					}
				})
			}
			all.Wait()
			visits, err := f.ReadAll(t.Context(), db, "p")
			var got []string
			for _, v := range visits {
				got = append(got, v.Doc.ID)
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, ids) {
				t.Errorf("%s: %v, %v", f.Name, got, err)
			}
		}
	})
}
