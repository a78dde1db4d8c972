package compose

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(
		fixture{name: "denorm.Counter", volatile: []string{"posts.ops"}, declare: func() (model.Technique, []operation) {
			c := denorm.NewCounter(comments, "post", posts, denorm.CounterSpec{
				Count: "comments", Sums: []denorm.Field{{From: "votes", To: "votes"}}, Tokens: "ops", Pending: "pending",
			})
			return c, []operation{
				changed("insert", c.Insert(comment{ID: "c4", Post: ptr("p1"), Slug: "z", At: noon, Votes: 7}, token(1))),
				changed("set", c.Set("c1", bson.D{e("votes", int64(20))}, token(2))),
				changed("move", c.Move("c2", "p2", token(3))),
				changed("move to a slug that is taken", c.Move("c3", "p1", token(4))).as("move"),
				changed("delete", c.Delete("c1", token(5))),
			}
		}},
		fixture{name: "denorm.Copy", declare: func() (model.Technique, []operation) {
			c := denorm.NewCopy(posts, comments, denorm.CopySpec{
				KeyPath: "post", Fields: []denorm.Field{{From: "title", To: "postTitle"}}, Version: "titleV", VersionTo: "postTitleV",
			})
			return c, []operation{
				read("set", posts, "p1", func(p *post) model.Plan { return c.Set(p, bson.D{e("title", "Uno")}) }),
				changed("refresh", c.Refresh("p1")),
				read("attach", posts, "p2", func(p *post) model.Plan { return model.NewPlan(c.Attach("c2", p)) }),
			}
		}},
	)
}
