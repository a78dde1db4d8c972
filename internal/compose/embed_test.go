package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(
		fixture{name: "embed.Embedded", declare: func() (model.Technique, []operation) {
			x := embed.NewEmbedded[part](posts, "parts", embed.EmbeddedSpec{Key: "id", Max: 4})
			return x, []operation{
				written("add", x.Add("p1", part{ID: "c", Note: "third"})),
				written("update", x.Update("p1", "a", set("note", "changed"))),
				written("remove", x.Remove("p1", "b")),
				planned("move", x.Move("p1", "p2", part{ID: "a", Note: "first"})),
			}
		}},
		fixture{name: "embed.Versioned", volatile: []string{"posts.written"}, declare: func() (model.Technique, []operation) {
			v := embed.NewVersioned(posts, embed.VersionedSpec{Tokens: "written"})
			return v, versionedOps(v)
		}},
		fixture{name: "embed.Versioned, others uncounted", volatile: []string{"posts.written"}, declare: func() (model.Technique, []operation) {
			v := embed.NewVersioned(posts, embed.VersionedSpec{Tokens: "written", Uncounted: uncounted})
			return v, []operation{
				written("update", v.Update("p1", 1, set("author", "u2"), token(11))),
				changed("change by", v.ChangeBy("p1", token(12), func(p post) (bson.D, error) { return set("author", p.Author+"+"), nil })),
				written("delete", v.Delete("p2", 1)),
			}
		}},
	)
}

// uncounted are the paths of posts that other techniques write.
var uncounted = []string{"title", "titleV", "comments", "votes", "ops", "parts"}

func versionedOps(v *embed.Versioned[post, string]) []operation {
	return []operation{
		written("update", v.Update("p1", 1, set("author", "u2"), token(11))),
		changed("change", v.Change("p1", token(12), func(p post) (post, error) {
			p.Author += "+"
			return p, nil
		})),
		written("delete", v.Delete("p2", 1)),
	}
}
