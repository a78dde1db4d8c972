package compose

import (
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// livesAround are the lives of the documents that a technique's operations read or write. A technique that has
// documents inserted and deleted by its own methods has lives of its own, by these. The documents of other techniques
// are inserted and deleted as a program does without them.
func livesAround(f *fixture) []life {
	x, _ := f.declare()
	if own := livesOf[f.name]; own != nil {
		return own(x)
	}
	return plainLives(x)
}

// plainLives are the lives of posts, comments and users, if the technique uses them, without the technique.
func plainLives(x model.Technique) (out []life) {
	for _, l := range []life{
		{
			of:  "posts",
			ops: []operation{written("delete post", posts.Delete("p1")), written("insert post", posts.Insert(newPost("p1")))},
		},
		{
			of: "posts",
			ops: []operation{
				written("delete other post", posts.Delete("p2")),
				written("insert other post", posts.Insert(newPost("p2"))),
			},
		},
		{
			of: "comments",
			ops: []operation{
				written("delete comment", comments.Delete("c1")),
				written("insert comment", comments.Insert(newComment("c1"))),
			},
		},
		{
			of: "comments",
			ops: []operation{
				written("delete other comment", comments.Delete("c2")),
				written("insert other comment", comments.Insert(newComment("c2"))),
			},
		},
		{
			of: "users",
			ops: []operation{
				written("delete user", users.Delete("u1")),
				written("insert user", users.Insert(user{ID: "u1", Name: "Eve"})),
			},
		},
	} {
		if slices.ContainsFunc(x.Footprints(), func(p model.Footprint) bool { return p.Collection == l.of }) {
			l.of = strings.TrimPrefix(l.ops[0].name, "delete ")
			out = append(out, l)
		}
	}
	return out
}

// newPost is another document than what is seeded, of the same version.
func newPost(id string) post {
	return post{
		ID: id, Title: "New", TitleV: 1, Author: "u2", Version: 1, Tags: []string{"green"}, Media: song{}, Order: "V",
		Parts: []part{{ID: "a", Note: "new"}},
	}
}

func newComment(id string) comment {
	return comment{ID: id, Post: ptr("p2"), Author: ptr("u2"), Slug: "new", At: noon, Votes: 100}
}

// livesOf are the lives of documents that techniques insert and delete themselves.
var livesOf = map[string]func(model.Technique) []life{
	"bucket.Bucket": func(x model.Technique) []life {
		b := x.(*bucket.Bucket[string, line])
		pages := model.NewCollection[bucket.Doc[string, line], string]("pages")
		return []life{{"the key", []operation{
			changed("append", b.Append("a", line{ID: "o1"})),
			written("delete pages", pages.Delete("a#0000000000"), pages.Delete("a#0000000001")),
			changed("append another", b.Append("a", line{ID: "o2"})), changed("append a third", b.Append("a", line{ID: "o3"})),
		}}}
	},
	"counter.Counter": func(x model.Technique) []life {
		s := model.NewStore(model.New("lives", x), comments)
		votes := bson.D{e("votes", int64(50))}
		return []life{{"child", []operation{
			acted("delete", s.Delete("c1"), token(101)), acted("insert", s.Insert(newComment("c1")), token(102)),
			acted("set", s.Set("c1", votes), token(103)),
		}}, {"other child", []operation{
			acted("delete", s.Delete("c2"), token(101)), acted("insert", s.Insert(newComment("c2")), token(102)),
			acted("move", s.Set("c2", bson.D{e("post", "p1")}), token(103)),
		}}, {"new child", []operation{
			acted("insert", s.Insert(newComment("c4")), token(101)), acted("set", s.Set("c4", votes), token(102)),
			acted("delete", s.Delete("c4"), token(103)),
		}}}
	},
	"eventlog.EventLog": func(x model.Technique) []life {
		l := x.(*eventlog.EventLog[string, line, line])
		add := func(name string, n int64) operation {
			return changed(name,
				l.Decide("a", noon, token(int(100+n)), func(eventlog.State[string, line]) ([]line, error) {
					return []line{{N: n}}, nil
				}))
		}
		return []life{{"the events", []operation{add("first", 1), add("second", 2), add("third", 3)}}}
	},
	"history.History": func(x model.Technique) []life {
		h := x.(*history.History[post, string])
		by := history.Revised{At: noon, By: "bob"}
		lives := func(id string) []operation {
			p := newPost(id)
			return []operation{
				changed("delete", h.Delete(id, by, token(101))), changed("insert", h.Insert(p, by, token(102))),
				changed("set", h.Set(id, bson.D{e("lang", "de")}, by, token(103))),
				changed("delete again", h.Delete(id, by, token(104))),
				changed("insert again", h.Insert(p, by, token(105))),
			}
		}
		return []life{{"p1", lives("p1")}, {"p2", lives("p2")}, {"p7", lives("p7")[1:4]}}
	},
	"inbox.Inbox": func(x model.Technique) []life {
		in := x.(*inbox.Inbox[post, string])
		p := newPost("p9")
		return append(plainLives(x), life{
			of:  "new post",
			ops: []operation{written("insert", in.Insert(p, line{ID: "e7"}, token(101))), written("delete", posts.Delete("p9"))},
		})
	},
	"numbered.Numbered": func(x model.Technique) []life {
		n := x.(*numbered.Numbered[numberedDoc, string])
		docs := model.NewCollection[numberedDoc, string]("numbered")
		return []life{{"the document", []operation{
			written("delete", docs.Delete("a")), written("insert", n.Insert(numberedDoc{ID: "a", Lines: []line{{ID: "o1"}}})),
			changed("append", n.Append("a", line{ID: "o2"})),
		}}}
	},
	"outlier.Outlier": func(x model.Technique) []life {
		o := x.(*outlier.Outlier[post, string, line])
		lives := func(id string) []operation {
			return []operation{
				planned("delete", o.Delete(id)), written("insert", posts.Insert(newPost(id))),
				changed("append", o.Append(id, line{ID: "n1"})), changed("append another", o.Append(id, line{ID: "n2"})),
				changed("append a third", o.Append(id, line{ID: "n3"})),
			}
		}
		return []life{{"a new owner of p1", lives("p1")[:2]}, {"p1", lives("p1")}, {"p2", lives("p2")}}
	},
	"slots.Slots": func(x model.Technique) []life {
		s := x.(*slots.Slots[string])
		return []life{{"the slots", []operation{
			changed("add", s.Add("a", 5, token(101))), changed("grow", s.Resize("a", 8)), changed("shrink", s.Resize("a", 1)),
			changed("take", s.Take("a", 1, token(102))),
			changed("grow again", s.Resize("a", 2)),
		}}}
	},
	"subsetpages.SubsetPages": func(x model.Technique) []life {
		s, store := x.(*subsetpages.SubsetPages[post, string, line]), model.NewStore(model.New("lives", x), posts)
		lives := func(id string) []operation {
			return []operation{
				acted("delete", store.Delete(id), token(101)), written("insert", posts.Insert(newPost(id))),
				changed("append", s.Append(id, line{ID: "n1", N: 9})),
				changed("append another", s.Append(id, line{ID: "n2", N: 8})),
				changed("append a third", s.Append(id, line{ID: "n3", N: 7})),
			}
		}
		return []life{{"a new p1", lives("p1")[:2]}, {"p1", lives("p1")}, {"p2", lives("p2")}}
	},
	"rollup.Rollup": func(x model.Technique) []life {
		r, store := x.(*rollup.Rollup[comment, string, struct{}, int64]), model.NewStore(model.New("lives", x), comments)
		c := newComment("c10")
		return []life{{"event", []operation{
			changed("insert", store.Insert(c)), job("roll", r.Roll()), written("delete", comments.Delete("c10")),
			job("rebuild", r.Rebuild(noon, noon.Add(24*time.Hour))),
		}},
			{
				of: "bins",
				ops: []operation{
					written("expire", r.Expire(noon.Add(48*time.Hour))),
					job("rebuild", r.Rebuild(noon.Add(-24*time.Hour), noon.Add(24*time.Hour))),
				},
			}}
	},
	"subset.Subset": func(x model.Technique) []life {
		s := model.NewStore(model.New("lives", x), comments)
		slug := bson.D{e("slug", "q")}
		lives := func(id string) []operation {
			return []operation{
				acted("delete", s.Delete(id), token(101)), acted("insert", s.Insert(newComment(id)), token(102)),
				acted("set", s.Set(id, slug), token(103)),
			}
		}
		return []life{{"c1", lives("c1")}, {"c2", lives("c2")}, {"c6", []operation{
			acted("insert", s.Insert(newComment("c6")), token(101)), acted("delete", s.Delete("c6"), token(102)),
		}}}
	},
	"indextable.IndexTable": func(x model.Technique) []life {
		return entryLives(x, "p4")
	},
	"inverted.Inverted": func(x model.Technique) []life {
		return entryLives(x, "p5")
	},
	"uniquecount.UniqueCount": func(x model.Technique) []life {
		u := x.(*uniquecount.UniqueCount[string, string])
		return []life{{"the visit", []operation{
			written("visit", u.Visit("a", "ann", noon)), written("expire", u.Expire(noon.Add(48*time.Hour))),
			written("visit again", u.Visit("a", "ann", noon)),
		}}}
	},
	"widerow.WideRow": func(x model.Technique) []life {
		r := x.(*widerow.WideRow[user, string, post, string])
		return []life{{"link", []operation{
			changed("link", r.Link("u1", "p1", noon.Add(time.Hour), token(101))), changed("unlink", r.Unlink("u1", "p1")),
			changed("link again", r.Link("u1", "p1", noon.Add(2*time.Hour), token(102))),
		}},
			{
				of: "unlinked",
				ops: []operation{
					changed("link", r.Link("u1", "p1", noon.Add(time.Hour), token(101))),
					changed("unlink", r.Unlink("u1", "p1")),
				},
			}}
	},
	"embed.Versioned":                    versionedLives,
	"embed.Versioned (others uncounted)": versionedLives,
	"keys.Sequence": func(x model.Technique) []life {
		s := x.(*keys.Sequence[letter, string])
		store := model.NewStore(model.New("letters", s), model.NewCollection[letter, string]("letters"))
		first, _ := s.Key("a", 1)
		return []life{{"the documents", []operation{
			changed("append", s.Append("a", letter{})), changed("delete", store.Delete(first)),
			changed("insert", store.Insert(letter{ID: first})), written("raise", s.Raise("a", 20)),
			changed("append another", s.Append("a", letter{})),
		}}}
	},
	"childrefs.ChildRefs": func(x model.Technique) []life {
		r := x.(*childrefs.ChildRefs[post, string, comment, string])
		return []life{
			{
				of: "a listed child",
				ops: []operation{
					written("list", r.Add("p2", "c1")), written("delete", comments.Delete("c1")),
					written("unlist", r.RemoveEverywhere("c1")),
				},
			},
			{
				of:  "a new child",
				ops: []operation{written("insert", comments.Insert(newComment("c7"))), written("list", r.Add("p1", "c7"))},
			},
		}
	},
	"ondelete.OnDelete": func(x model.Technique) []life {
		store := model.NewStore(model.New("deleting", x), posts)
		again := func(id string) life {
			return life{
				of:  "post " + id,
				ops: []operation{changed("delete "+id, store.Delete(id)), changed("insert "+id, store.Insert(newPost(id)))},
			}
		}
		return []life{again("p1"), again("p2")}
	},
	"twosided.ManyToMany": func(x model.Technique) []life {
		store := model.NewStore(model.New("liked", x), users)
		likes := func(name, id string, posts ...string) operation {
			return changed(name, store.Set(id, bson.D{e("liked", append([]string{}, posts...))}))
		}
		return []life{
			{"a link", []operation{likes("unlink", "u1"), likes("link", "u1", "p1")}},
			{"a new link", []operation{likes("link", "u2", "p1"), likes("unlink", "u2"), likes("link again", "u2", "p1")}},
		}
	},
	"twosided.TwoWay": func(x model.Technique) []life {
		store := model.NewStore(model.New("held", x), comments)
		hold := func(name, id string, holder any) operation {
			return changed(name, store.Set(id, bson.D{e("holder", holder)}))
		}
		none := bson.RawValue{}
		return []life{
			{
				of: "a held item",
				ops: []operation{
					hold("unassign", "c1", none), hold("assign", "c1", "u1"), hold("assign another", "c1", "u2"),
					hold("assign back", "c1", "u1"),
				},
			},
			{"an item", []operation{hold("assign", "c2", "u1"), hold("unassign", "c2", none)}},
		}
	},
	"joincollection.JoinCollection": func(x model.Technique) []life {
		store := model.NewStore(model.New("joined", x), comments)
		pair := func(post, author string) bson.D { return bson.D{e("post", post), e("author", author)} }
		c := comment{ID: "c2", Post: ptr("p1"), Author: ptr("u2"), Slug: "new", At: noon}
		d := comment{ID: "c5", Post: ptr("p2"), Author: ptr("u2"), Slug: "new", At: noon}
		return []life{
			{"link", []operation{
				changed("unlink", store.DeleteOne(pair("p1", "u2"))), changed("link", store.Insert(c)),
				changed("update", store.SetOne(pair("p1", "u2"), bson.D{e("slug", "q")})),
			}},
			{"new link", []operation{changed("link", store.Insert(d)), changed("unlink", store.DeleteOne(pair("p2", "u2")))}},
		}
	},
}
