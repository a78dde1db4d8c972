package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
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
	)
}
