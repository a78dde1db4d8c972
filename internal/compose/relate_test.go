package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/migrate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(
		fixture{name: "joincollection.JoinCollection", declare: func() (model.Technique, []operation) {
			j := joincollection.New(comments, "post", posts, "author", users, joincollection.Spec{By: "at"})
			store := model.NewStore(model.New("joined", j), comments)
			return j, []operation{
				changed("link", store.Insert(comment{ID: "c5", Post: ptr("p2"), Author: ptr("u2"), Slug: "w", At: noon})),
				changed("unlink", store.DeleteOne(bson.D{e("post", "p1"), e("author", "u1")})),
				changed("update", store.SetOne(bson.D{e("post", "p1"), e("author", "u2")}, bson.D{e("slug", "v")})),
			}
		}},
		fixture{name: "parentref.ParentRef", declare: func() (model.Technique, []operation) {
			r := parentref.New(comments, "post", posts, parentref.Spec{By: "at"})
			return r, []operation{
				written("move all", r.MoveAll("p1", "p3")),
			}
		}},
		fixture{name: "childrefs.ChildRefs", declare: func() (model.Technique, []operation) {
			r := childrefs.New(posts, "listed", comments)
			return r, []operation{
				written("add", r.Add("p1", "c3")),
				written("remove", r.Remove("p1", "c1")),
				written("reorder", r.Reorder("p1", []string{"c1", "c2"}, []string{"c2", "c1"})),
				written("remove everywhere", r.RemoveEverywhere("c1")),
			}
		}},
		fixture{
			name: "twosided.TwoWay", volatile: []string{"users._u", "comments._c"},
			declare: func() (model.Technique, []operation) {
				r := twosided.NewTwoWay(users, "held", comments, "holder", twosided.TwoWaySpec{})
				store := model.NewStore(model.New("held", r), comments)
				hold := func(id, holder string) model.ChangeOf[model.Stored[comment]] {
					return store.Set(id, bson.D{e("holder", holder)})
				}
				return r, []operation{
					changed("assign", hold("c1", "u2")),
					changed("unassign", store.Set("c1", bson.D{e("holder", bson.RawValue{})})),
					changed("assign another", hold("c2", "u1")),
				}
			},
		},
		fixture{
			name:     "twosided.ManyToMany",
			volatile: []string{"users._u", "posts._m", "posts_rows._m", "posts_archive._m"},
			declare: func() (model.Technique, []operation) {
				r := twosided.NewManyToMany(users, "liked", posts, "likedBy", twosided.ManyToManySpec{})
				store := model.NewStore(model.New("liked", r), users)
				return r, []operation{
					changed("link", store.Set("u2", bson.D{e("liked", []string{"p1"})})),
					changed("unlink", store.Set("u1", bson.D{e("liked", []string{})})),
				}
			},
		},
		fixture{name: "dangling.Dangling", declare: func() (model.Technique, []operation) {
			return dangling.New(comments, "author", users, dangling.Spec{Repair: dangling.DetachIDs}), []operation{
				written("somebody deletes a user", users.Delete("u2")),
			}
		}},
		fixture{name: "ondelete.OnDelete", declare: func() (model.Technique, []operation) {
			d := ondelete.New(posts, ondelete.Spec{
				Cascade: []relate.Referrer{parentref.New(comments, "post", posts, parentref.Spec{By: "at"})},
			})
			return d, []operation{job("delete", model.NewStore(model.New("deleting", d), posts).DeleteJob("p2"))}
		}},
		fixture{name: "migrate.Migration that inverts", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(migrate.NewInvert(posts, "turned", comments, "turnedTo", migrate.InvertSpec{}))
		}},
		fixture{name: "migrate.Migration that extracts", unscoped: true, declare: func() (model.Technique, []operation) {
			drafts := model.NewCollection[draft, string]("drafts")
			return migration(migrate.NewExtract(posts, "drafts", drafts,
				migrate.ExtractSpec[string, string]{Key: "id", Parent: "post"}))
		}},
		fixture{name: "migrate.Migration that absorbs", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(migrate.NewAbsorb(users, "homes", addresses, migrate.AbsorbSpec{Parent: "user"}))
		}},
	)
}

func migration(m *migrate.Migration) (model.Technique, []operation) {
	return m, []operation{job("copy", m.Copy()), job("copy and drop", m.Copy(), m.Drop())}
}
