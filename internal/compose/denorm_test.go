package compose

import (
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/columns"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/denorm/normalized"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(
		fixture{
			name: "counter.Counter", volatile: []string{"posts._m", "comments._c"},
			declare: func() (model.Technique, []operation) {
				c := counter.New(comments, "post", posts, counter.Spec{
					Count: "comments", Sums: []counter.Field{{From: "votes", To: "votes"}},
				})
				s := model.NewStore(model.New("counted", c), comments)
				return c, []operation{
					acted("insert", s.Insert(comment{ID: "c4", Post: ptr("p1"), Slug: "z", At: noon, Votes: 7}), token(1)),
					acted("set", s.Set("c1", bson.D{e("votes", int64(20))}), token(2)),
					acted("move", s.Set("c2", bson.D{e("post", "p2")}), token(3)),
					acted("move to a slug that is taken", s.Set("c3", bson.D{e("post", "p1")}), token(4)).as("move"),
					acted("delete", s.Delete("c1"), token(5)),
				}
			},
		},
		fixture{
			name: "copies.Copy", volatile: []string{"posts._m", "comments._c"},
			declare: func() (model.Technique, []operation) {
				c := copies.New(posts, comments, copies.Spec{
					KeyPath: "post", Fields: []copies.Field{{From: "title", To: "postTitle"}}, Version: "titleV",
					VersionTo: "postTitleV",
				})
				m := model.New("copied", c)
				sources, copies := model.NewStore(m, posts), model.NewStore(m, comments)
				return c, []operation{
					acted("set", sources.Set("p1", bson.D{e("title", "Uno")}), token(8)),
					changed("refresh", c.Refresh("p1")),
					acted("store", copies.Insert(comment{ID: "c8", Post: ptr("p1"), Slug: "c8", At: noon.Add(time.Hour)}), token(9)),
					acted("store of what others delete",
						copies.Insert(comment{ID: "c9", Post: ptr("p2"), Slug: "c9", At: noon.Add(time.Hour)}), token(10)),
				}
			},
		},
		fixture{name: "approximate.Approximate", declare: func() (model.Technique, []operation) {
			a := approximate.New(posts, "views", 10)
			return a, []operation{planned("count", a.Count("p1", 1, 0.05))}
		}},
		fixture{name: "attributes.Attributes", declare: func() (model.Technique, []operation) {
			a := attributes.New(posts, "specs", attributes.Spec{})
			return a, []operation{
				written("set", a.Set("p1", bson.D{e("color", "blue"), e("weight", int64(2))})),
				written("unset", a.Unset("p1", "size")),
			}
		}},
		fixture{name: "bounded.Bounded", declare: func() (model.Technique, []operation) {
			b := bounded.New(posts, "last", bounded.Spec{Max: 2, By: bson.D{e("n", 1)}, Key: "id"})
			return b, []operation{
				written("push", b.Push("p1", line{ID: "l3", N: 3})),
				written("push with", b.PushWith("p1", set("authorName", "Ann"), line{ID: "l4", N: 4})),
				written("remove", b.Remove("p1", "l1")),
			}
		}},
		fixture{
			name:     "history.History",
			volatile: []string{"posts.edition", "posts.revised", "posts_revisions.*"},
			declare: func() (model.Technique, []operation) {
				revisions := model.NewCollection[history.Revision[post, string], history.RevisionID[string]]("posts_revisions")
				own := func(path string) bool { return path == "edition" || path == "revised" }
				h := history.New(posts, revisions, history.Spec{
					Version: "edition", Uncounted: append(slices.DeleteFunc(slices.Clone(uncounted), own), "version", "written"),
				})
				by := history.Revised{At: noon, By: "eve"}
				return h, []operation{
					changed("insert", h.Insert(post{ID: "p7", Title: "Seven", Media: song{}}, by, token(61))),
					changed("set", h.Set("p1", bson.D{e("lang", "en")}, by, token(62))),
					changed("delete", h.Delete("p2", by, token(63))),
				}
			},
		},
		fixture{name: "inbox.Inbox", declare: func() (model.Technique, []operation) {
			in := inbox.New(posts, "done", inbox.Spec{})
			return in, []operation{
				written("handle", in.Handle("p1", set("lang", "nl"), line{ID: "e1"}, token(71))),
				written("insert", in.Insert(post{ID: "p9", Title: "Nine", Media: song{}}, line{ID: "e2"}, token(72))),
			}
		}},
		fixture{name: "outbox.Outbox", declare: func() (model.Technique, []operation) {
			o := outbox.New[line](posts, "box", outbox.Spec{})
			return o, []operation{
				written("publish", o.Publish("p1", line{ID: "e1", N: 1}, noon, token(73))),
				written("publish to what others delete", o.Publish("p2", line{ID: "e2", N: 2}, noon, token(74))),
			}
		}},
		fixture{name: "outlier.Outlier", declare: func() (model.Technique, []operation) {
			more := model.NewCollection[bucket.Doc[string, line], string]("posts_mails")
			o := outlier.New(posts, "mails", bucket.New(more, bucket.Spec{Max: 2, ElementKey: "id"}),
				outlier.Spec{Max: 2, Flag: "more"})
			return o, []operation{
				changed("append", o.Append("p1", line{ID: "m3", N: 3})),
				changed("append to few", o.Append("p2", line{ID: "m4", N: 4})),
				changed("remove", o.Remove("p1", "m1")),
			}
		}},
		fixture{name: "subsetpages.SubsetPages", volatile: []string{"posts._m"}, declare: func() (model.Technique, []operation) {
			pages := model.NewCollection[bucket.Doc[string, line], string]("posts_fresh")
			s := subsetpages.New(posts, "fresh", bucket.New(pages, bucket.Spec{Max: 2, ElementKey: "id"}),
				subsetpages.Spec{Max: 1, By: bson.D{e("n", -1)}})
			return s, []operation{
				changed("append", s.Append("p1", line{ID: "f1", N: 1})),
				changed("append another", s.Append("p1", line{ID: "f2", N: 2})),
				acted("delete", model.NewStore(model.New("paged", s), posts).Delete("p2"), token(1)),
			}
		}},
		fixture{
			name: "rollup.Rollup", volatile: []string{"comment_totals.ops"},
			declare: func() (model.Technique, []operation) {
				x := rollup.New(comments,
					model.NewCollection[rollup.Doc[struct{}, int64], string]("comment_totals"), rollup.Spec{
						Time: "at", Sums: []string{"votes"}, Bins: []denorm.Period{denorm.Hourly, denorm.Daily}, Mark: "mark",
					})
				s := model.NewStore(model.New("rolled", x), comments)
				return x, []operation{
					changed("insert", s.Insert(comment{ID: "c10", Post: ptr("p1"), Slug: "m", At: noon, Votes: 4})),
					{name: "insert and roll", run: func(ctx context.Context, db model.DB) error {
						if _, _, err := s.Insert(comment{ID: "c11", Post: ptr("p2"), Slug: "n", At: noon, Votes: 5}).
							Run(ctx, db); err != nil {
							return err
						}
						_, err := x.Roll().Run(ctx, db, model.JobOptions{})
						return err
					}},
				}
			},
		},
		fixture{
			name: "subset.Subset", volatile: []string{"posts._m", "comments._c"},
			declare: func() (model.Technique, []operation) {
				x := subset.New(comments, "post", posts, "latest", subset.Spec{
					Max: 2, By: bson.D{e("at", -1)}, Fields: []string{"at", "slug"},
				})
				s := model.NewStore(model.New("first", x), comments)
				return x, []operation{
					acted("insert", s.Insert(comment{ID: "c6", Post: ptr("p1"), Slug: "t", At: noon.Add(time.Hour)}), token(1)),
					acted("set", s.Set("c2", bson.D{e("slug", "s")}), token(2)),
					acted("delete", s.Delete("c1"), token(3)),
				}
			},
		},
		fixture{
			name: "indextable.IndexTable", volatile: entryState("posts_by_tag"),
			declare: func() (model.Technique, []operation) {
				x := indextable.New(posts, "tags", "posts_by_tag", indextable.Spec{Copies: []string{"title"}})
				s := postStore(x)
				return x, []operation{
					changed("insert", s.Insert(post{ID: "p4", Title: "Four", Tags: []string{"red"}, Media: song{}})),
					changed("set", s.Set("p1", bson.D{e("tags", bson.A{"green"})})),
					changed("delete", s.Delete("p2")),
				}
			},
		},
		fixture{
			name:     "inverted.Inverted",
			volatile: entryState("posts_index.tags", "posts_index.author"),
			declare: func() (model.Technique, []operation) {
				x := inverted.New(posts, "posts_index", "tags", "author")
				s := postStore(x)
				return x, []operation{
					changed("insert", s.Insert(post{ID: "p5", Title: "Five", Author: "u2", Tags: []string{"red"}, Media: song{}})),
					changed("set", s.Set("p1", bson.D{e("tags", bson.A{"green"})})),
					changed("delete", s.Delete("p2")),
				}
			},
		},
		fixture{name: "widerow.WideRow", declare: func() (model.Technique, []operation) {
			x := widerow.New(users, posts, widerow.Spec{
				LeftRows: "user_rows", RightRows: "post_rows", LeftCopies: []string{"name"}, RightCopies: []string{"title"},
			})
			return x, []operation{
				changed("link", x.Link("u1", "p1", noon, token(51))),
				changed("unlink", x.Unlink("u1", "p1")),
			}
		}},
		fixture{name: "proximity.Proximity", declare: func() (model.Technique, []operation) {
			x := proximity.New(posts, "words", proximity.Spec{Text: "text"})
			return x, []operation{
				written("add", x.Add("p1", "three")),
				written("remove", x.Remove("p1", "one")),
				changed("set", postStore(x).Set("p2", bson.D{e("words", bson.A{"four"})})),
			}
		}},
		fixture{name: "columns.Columns", declare: func() (model.Technique, []operation) {
			x := columns.New(posts, "posts_flat", columns.Spec{})
			return x, []operation{
				read("store", posts, "p1", func(p *post) model.Plan { return model.NewPlan(x.Store(*p)) }),
				written("delete", x.Delete("p2")),
			}
		}},
		fixture{name: "normalized.Normalized", unscoped: true, declare: func() (model.Technique, []operation) {
			x := normalized.New(posts, "posts_rows", normalized.Part{Path: "tags", Into: "posts_tags"})
			return x, []operation{planned("plan", x.Plan(nil))}
		}},
	)
}

// postStore is the store of posts with one technique.
func postStore(x model.Technique) *model.Store[post, string] {
	return model.NewStore(model.New("posts", x), posts)
}

// entryState are the fields of entries and posts that say which actions are under way, or were.
func entryState(collections ...string) (out []string) {
	out = append(out, "posts._m", "posts_rows._m", "posts_archive._m")
	for _, name := range collections {
		out = append(out, name+".ops", name+".sure")
	}
	return out
}
