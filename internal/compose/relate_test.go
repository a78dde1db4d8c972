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
			return j, []operation{
				planned("link", j.Link(comment{ID: "c5", Post: ptr("p2"), Author: ptr("u2"), Slug: "w", At: noon})),
				written("unlink", j.Unlink("p1", "u1")),
				written("update", j.Update("p1", "u2", set("slug", "v"))),
				read("move", comments, "c2", func(c *comment) model.Plan { return model.NewPlan(j.Move(c, "p2", "u2")) }),
			}
		}},
		fixture{name: "relate.ParentRef", declare: func() (model.Technique, []operation) {
			r := relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{By: "at"})
			return r, []operation{
				written("move", r.Move("c2", "p1", "p2")),
				written("move to a slug that is taken", r.Move("c3", "p2", "p1")).as("move"),
				written("detach", r.Detach("c1", "p1")),
			}
		}},
		fixture{name: "relate.ChildRefs", declare: func() (model.Technique, []operation) {
			r := relate.NewChildRefs(posts, "listed", comments)
			return r, []operation{
				written("add", r.Add("p1", "c3")),
				written("remove", r.Remove("p1", "c1")),
				written("reorder", r.Reorder("p1", []string{"c1", "c2"}, []string{"c2", "c1"})),
				planned("insert child", r.InsertChild("p2", comment{ID: "c7", Post: ptr("p2"), Slug: "r", At: noon})),
				planned("delete child", r.DeleteChild("c1")),
			}
		}},
		fixture{name: "relate.TwoWay", declare: func() (model.Technique, []operation) {
			r := relate.NewTwoWay(users, "held", comments, "holder", relate.TwoWaySpec{})
			return r, []operation{
				read("assign", comments, "c1", func(c *comment) model.Plan { return r.Assign(c, "u2", bson.NilObjectID) }),
				read("unassign", comments, "c1", func(c *comment) model.Plan { return r.Unassign(c, bson.NilObjectID) }),
				read("assign another", comments, "c2", func(c *comment) model.Plan { return r.Assign(c, "u1", bson.NilObjectID) }),
			}
		}},
		fixture{name: "relate.ManyToMany", declare: func() (model.Technique, []operation) {
			r := relate.NewManyToMany(users, "liked", posts, "likedBy", relate.ManyToManySpec{})
			return r, []operation{
				read("link", users, "u2", func(u *user) model.Plan { return r.Link(u, "p1", bson.NilObjectID) }),
				read("unlink", users, "u1", func(u *user) model.Plan { return r.Unlink(u, "p1", bson.NilObjectID) }),
			}
		}},
		fixture{name: "relate.Dangling", declare: func() (model.Technique, []operation) {
			return relate.NewDangling(comments, "author", users, relate.DanglingSpec{Repair: relate.DetachIDs}), []operation{
				written("somebody deletes a user", users.Delete("u2")),
			}
		}},
		fixture{name: "relate.OnDelete", declare: func() (model.Technique, []operation) {
			d := relate.NewOnDelete(posts, relate.OnDeleteSpec{Cascade: []relate.Referrer{relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{By: "at"})}})
			return d, []operation{changed("delete", d.Delete("p2"))}
		}},
		fixture{name: "relate.Migration that inverts", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(relate.NewInvert(posts, "turned", comments, "turnedTo", relate.InvertSpec{}))
		}},
		fixture{name: "relate.Migration that extracts", unscoped: true, declare: func() (model.Technique, []operation) {
			drafts := model.NewCollection[draft, string]("drafts")
			return migration(relate.NewExtract(posts, "drafts", drafts, relate.ExtractSpec[string, string]{Key: "id", Parent: "post"}))
		}},
		fixture{name: "relate.Migration that absorbs", unscoped: true, declare: func() (model.Technique, []operation) {
			return migration(relate.NewAbsorb(users, "homes", addresses, relate.AbsorbSpec{Parent: "user"}))
		}},
	)
}

func migration(m *relate.Migration) (model.Technique, []operation) {
	return m, []operation{job("copy", m.Copy()), job("copy and drop", m.Copy(), m.Drop())}
}
