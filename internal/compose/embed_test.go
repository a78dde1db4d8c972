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
		fixture{name: "embed.Versioned", volatile: versionedTokens, declare: func() (model.Technique, []operation) {
			v := embed.NewVersioned(posts, embed.VersionedSpec{Tokens: "written"})
			return v, versionedOps(v)
		}},
		fixture{
			name: "embed.Versioned (others uncounted)", volatile: versionedTokens,
			declare: func() (model.Technique, []operation) {
				v := embed.NewVersioned(posts, embed.VersionedSpec{Tokens: "written", Uncounted: uncounted})
				return v, []operation{
					written("update", v.Update("p1", 1, set("author", "u2"), token(11))),
					changed("edit", postStore(v).Edit("p1", func(p *post) error { p.Author += "+"; return nil })),
				}
			},
		},
		fixture{name: "embed.One", declare: func() (model.Technique, []operation) {
			o := embed.NewOne[part](posts, "extra", embed.OneSpec{Indexes: []bson.D{{e("note", 1)}}})
			return o, []operation{
				written("create", o.Create("p1", part{ID: "x", Note: "new"})),
				written("put", o.Put("p2", part{ID: "y", Note: "other"})),
				written("update", o.Update("p2", set("note", "changed"))),
			}
		}},
		fixture{name: "embed.Nested", declare: func() (model.Technique, []operation) {
			parts := embed.NewEmbedded[part](posts, "parts", embed.EmbeddedSpec{Key: "id", Max: 4})
			n := embed.NewNested[line](parts, "subs", embed.EmbeddedSpec{Key: "id", Max: 3})
			return n, []operation{
				written("add", n.Add("p1", "a", line{ID: "s3", N: 3})),
				written("update", n.Update("p1", "a", "s1", set("n", int64(10)))),
				written("remove", n.Remove("p1", "a", "s2")),
			}
		}},
		fixture{name: "embed.Kinds", declare: func() (model.Technique, []operation) {
			k := embed.NewKinds(posts, media, embed.KindsSpec{Path: "media", ByTag: true})
			// Who stores a value of another kind counts the version up, for an embed.Versioned of the same documents.
			stores := func(value any) model.Write {
				return posts.Update("p1", bson.D{e("$set", bson.D{e("media", value)}), e("$inc", bson.D{e("version", int64(1))})})
			}
			return k, []operation{
				written("another kind", stores(film{Minutes: 60})),
				written("without a tag, and retag", stores(bson.D{e("length", int32(7))}),
					k.Retag(bson.D{e("media.length", bson.D{e("$exists", true)})}, "song")),
				written("insert", posts.Insert(post{ID: "p8", Title: "Eight", Media: film{Minutes: 9}})),
			}
		}},
	)
}

// uncounted are the paths of posts that other techniques write.
var uncounted = []string{
	"title", "titleV", "comments", "votes", "ops", "parts", "views", "specs", "last", "extra", "media", "authorName",
	"mails", "more", "latest", "tags", "author", "listed", "likedBy",
	"parent", "order", "change", "ancestors", "children", "path", "left", "right", "depth",
	"outline", "at", "geo", "until", "words", "text", "turned", "drafts", "edition", "revised", "box", "done", "fresh",
}

// versionedTokens are the tokens of stores' writes, and the copies of whole documents that have them.
var versionedTokens = []string{"posts.written", "posts_rows.written", "posts_archive.written"}

func versionedOps(v *embed.Versioned[post, string]) []operation {
	s := postStore(v)
	return []operation{
		written("update", v.Update("p1", 1, set("author", "u2"), token(11))),
		changed("edit", s.Edit("p1", func(p *post) error { p.Author += "+"; return nil })),
		changed("delete", s.Where(bson.D{e("version", int64(1))}, embed.ErrVersion).Delete("p2")),
	}
}
