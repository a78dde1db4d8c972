package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(
		fixture{name: "relate.JoinCollection", declare: func() (model.Technique, []operation) {
			j := relate.NewJoinCollection(comments, "post", posts, "author", users, relate.JoinCollectionSpec{By: "at"})
			store := model.NewStore(model.New("joined", j), comments)
			return j, []operation{
				changed("link", store.Insert(comment{ID: "c5", Post: ptr("p2"), Author: ptr("u2"), Slug: "w", At: noon})),
				changed("unlink", store.DeleteOne(bson.D{e("post", "p1"), e("author", "u1")})),
				changed("update", store.SetOne(bson.D{e("post", "p1"), e("author", "u2")}, bson.D{e("slug", "v")})),
			}
		}},
		fixture{name: "relate.ParentRef", declare: func() (model.Technique, []operation) {
			r := relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{By: "at"})
			return r, []operation{
				written("move all", r.MoveAll("p1", "p3")),
			}
		}},
		fixture{name: "relate.ChildRefs", declare: func() (model.Technique, []operation) {
			r := relate.NewChildRefs(posts, "listed", comments)
			return r, []operation{
				written("add", r.Add("p1", "c3")),
				written("remove", r.Remove("p1", "c1")),
				written("reorder", r.Reorder("p1", []string{"c1", "c2"}, []string{"c2", "c1"})),
				written("remove everywhere", r.RemoveEverywhere("c1")),
			}
		}},
		fixture{
			name: "relate.TwoWay", volatile: []string{"users._u", "comments._c"},
			declare: func() (model.Technique, []operation) {
				r := relate.NewTwoWay(users, "held", comments, "holder", relate.TwoWaySpec{})
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
			name:     "relate.ManyToMany",
			volatile: []string{"users._u", "posts._m", "posts_rows._m", "posts_archive._m"},
			declare: func() (model.Technique, []operation) {
				r := relate.NewManyToMany(users, "liked", posts, "likedBy", relate.ManyToManySpec{})
				store := model.NewStore(model.New("liked", r), users)
				return r, []operation{
					changed("link", store.Set("u2", bson.D{e("liked", []string{"p1"})})),
					changed("unlink", store.Set("u1", bson.D{e("liked", []string{})})),
				}
			},
		},
		fixture{name: "relate.Dangling", declare: func() (model.Technique, []operation) {
			return relate.NewDangling(comments, "author", users, relate.DanglingSpec{Repair: relate.DetachIDs}), []operation{
				written("somebody deletes a user", users.Delete("u2")),
			}
		}},
		fixture{name: "relate.OnDelete", declare: func() (model.Technique, []operation) {
			d := relate.NewOnDelete(posts, relate.OnDeleteSpec{
				Cascade: []relate.Referrer{relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{By: "at"})},
			})
			return d, []operation{job("delete", model.NewStore(model.New("deleting", d), posts).DeleteJob("p2"))}
		}},
		fixture{name: "relate.Migration that inverts", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(relate.NewInvert(posts, "turned", comments, "turnedTo", relate.InvertSpec{}))
		}},
		fixture{name: "relate.Migration that extracts", unscoped: true, declare: func() (model.Technique, []operation) {
			drafts := model.NewCollection[draft, string]("drafts")
			return migration(relate.NewExtract(posts, "drafts", drafts,
				relate.ExtractSpec[string, string]{Key: "id", Parent: "post"}))
		}},
		fixture{name: "relate.Migration that absorbs", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(relate.NewAbsorb(users, "homes", addresses, relate.AbsorbSpec{Parent: "user"}))
		}},
	)
}

func migration(m *relate.Migration) (model.Technique, []operation) {
	return m, []operation{job("copy", m.Copy()), job("copy and drop", m.Copy(), m.Drop())}
}
