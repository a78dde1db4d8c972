package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
)

// postVersions are the versions of the posts, which all techniques read and store: those that are seeded are of the
// first one.
var postVersions = schema.NewVersions(posts, schema.VersionsSpec{}, schema.Upcast(func(p post) (post, error) {
	p.Lang = "en"
	return p, nil
}))

func init() {
	register(
		fixture{name: "keys.Composite", declare: func() (model.Technique, []operation) {
			x := keys.NewComposite(addresses, keys.Text("user"), keys.Text("street"))
			s := model.NewStore(model.New("addresses", x), addresses)
			return x, []operation{
				changed("insert", s.Insert(address{User: "u2", Street: "High"})),
				read("move", addresses, "u1 :Main", func(a *address) model.Plan {
					now := *a
					now.Street, now.ID = "Low", "u1 :Low"
					return x.Move(a, now)
				}),
			}
		}},
		fixture{name: "keys.Spread", declare: func() (model.Technique, []operation) {
			x := keys.NewSpread(comments, "day", keys.SpreadSpec{Parts: 4, Was: []int{2}, By: "_id"})
			old := keys.NewSpread(comments, "day", keys.SpreadSpec{Parts: 2, By: "_id"})
			s, before := model.NewStore(model.New("comments", x), comments), model.NewStore(model.New("comments", old), comments)
			return x, []operation{
				changed("insert", s.Insert(comment{ID: "c12", Day: "monday", Slug: "q", At: noon})),
				changed("insert in an old part", before.Insert(comment{ID: "c13", Day: "monday", Slug: "r", At: noon})),
				job("move", x.Checks()[0].Job()),
			}
		}},
		fixture{name: "schema.Versions", volatile: []string{"posts._m"}, declare: func() (model.Technique, []operation) {
			s := model.NewStore(model.New("versions", postVersions), posts)
			return postVersions, []operation{
				acted("edit", s.Edit("p1", func(p *post) error {
					p.Author, p.Title = "u2", "One!"
					return nil
				}), token(60)),
				job("migrate", postVersions.Migrate(schema.MigrateOptions{})),
			}
		}},
	)
}
