package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Comments of posts, in each form.
type commentTree = paths.DocumentTree[bson.D, string, any]

var (
	listedComments = commentsBy(paths.DocumentTreeSpec{})
	boundComments  = commentsBy(paths.DocumentTreeSpec{Max: 100, Revision: "rev"})
	keyedComments  = commentsBy(paths.DocumentTreeSpec{Order: "order", Revision: "rev"})
	nestedComments = commentsBy(paths.DocumentTreeSpec{Nested: "replies"})
)

func commentsBy(s paths.DocumentTreeSpec) *commentTree {
	return paths.NewDocumentTree[bson.D, string](anything.Named("posts"), "comments", s)
}

func init() {
	register(documentTreeWrites()...)
	register(documentTreeChanges()...)
	register(documentTreeRepairs()...)
	register(documentTreeReads()...)
}

// commentOf is a comment of s, as it is stored in the flat form.
func commentOf(id, parent, order string) bson.D {
	d := bson.D{{Key: "id", Value: id}, {Key: "parent", Value: parent}, {Key: "text", Value: id}}
	if parent == "" {
		d[1].Value = nil
	}
	if order != "" {
		d = append(d, bson.E{Key: "order", Value: order})
	}
	return d
}

// ownerOf is a post with a list of comments; nil for none.
func ownerOf(s string, list func(s string) []any) testkit.Docs {
	post := bson.D{{Key: "_id", Value: "p"}}
	if list != nil {
		post = append(post, bson.E{Key: "comments", Value: bson.A(list(s))}, bson.E{Key: "rev", Value: int64(7)})
	}
	return testkit.Docs{"posts": {post}}
}

// listState is what a change of comments reads of that post.
func listState(t *commentTree, list func(s string) []any) func(s string) any {
	return asRead(func(string) model.Change { return t.Delete("p", "none", paths.Subtree) },
		func(s string) testkit.Docs { return ownerOf(s, list) })
}

// thread is s, s2 below it, s3 below that, and s4 beside s.
func thread(s string) []any {
	return []any{commentOf(s, "", ""), commentOf(s+"2", s, ""), commentOf(s+"3", s+"2", ""), commentOf(s+"4", "", "")}
}

func keyedThread(s string) []any {
	return []any{
		commentOf(s, "", "a0"), commentOf(s+"2", s, "a0"), commentOf(s+"3", s+"2", "a0"), commentOf(s+"4", "", "a1"),
	}
}

func nestedThread(s string) []any {
	at := func(id string, replies ...any) bson.D {
		d := bson.D{{Key: "id", Value: id}, {Key: "text", Value: id}}
		if len(replies) > 0 {
			d = append(d, bson.E{Key: "replies", Value: bson.A(replies)})
		}
		return d
	}
	return []any{at(s, at(s+"2", at(s+"3"))), at(s + "4")}
}

const tooLong = "it is too large for the post"

func documentTreeWrites() []Case {
	push := func(reason string, t *commentTree, at func(s string) paths.Place[string]) Case {
		return Case{
			Method: "paths.DocumentTree.Push", Reason: reason, MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "id", Value: s + "9"}, {Key: "text", Value: s}})
				return []any{d}, func() any { return t.Push(s, d, at(s)) }
			},
		}
	}
	patch := func(reason string, t *commentTree, fields func(s string) bson.D) Case {
		return Case{
			Method: "paths.DocumentTree.Patch", Reason: reason, MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(fields(s))
				return []any{d}, func() any { return t.Patch(s, s+"2", d) }
			},
		}
	}
	load := func(reason string, t *commentTree, list func(s string) []bson.D) Case {
		return Case{
			Method: "paths.DocumentTree.Load", Reason: reason, MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(list(s))
				return []any{d}, func() any { return t.Load(s, d) }
			},
		}
	}
	two := func(s string) []bson.D { return []bson.D{commentOf(s+"2", s, ""), commentOf(s, "", "")} }
	root := func(string) paths.Place[string] { return paths.LastRoot[string]() }
	return []Case{
		load("as it is", listedComments, two), load("with keys, counted", keyedComments, two),
		load("nodes whose parents aren't there", listedComments, func(s string) []bson.D {
			return []bson.D{commentOf(s, s+"2", "")}
		}),
		push("a root, after the last", listedComments, root),
		push("the last reply", listedComments, paths.LastChild),
		push("the first reply", listedComments, paths.FirstChild),
		push("of at most 100, counted", boundComments, paths.LastChild),
		push("beside another: that has to be read", listedComments, paths.After),
		push("with order keys: those have to be read", keyedComments, root),
		push("nested: that has to be read", nestedComments, root),
		patch("a field", listedComments, func(s string) bson.D { return bson.D{{Key: "text", Value: s}} }),
		patch("a field below another, counted", boundComments, func(s string) bson.D {
			return bson.D{{Key: "by.name", Value: s}, {Key: "text", Value: s}}
		}),
		patch("the parent is refused", listedComments, func(s string) bson.D { return bson.D{{Key: "parent", Value: s}} }),
		{
			Method: "paths.DocumentTree.Pull", Reason: "a leaf",
			Make: func(s string) any { return listedComments.Pull(s, s+"3") },
		},
		{
			Method: "paths.DocumentTree.Pull", Reason: "counted",
			Make: func(s string) any { return boundComments.Pull(s, s+"3") },
		},
	}
}

func documentTreeChanges() []Case {
	insert := func(reason string, t *commentTree, at func(s string) paths.Place[string], list func(string) []any) Case {
		return Case{
			Method: "paths.DocumentTree.Insert", Reason: reason, State: listState(t, list), MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "id", Value: s + "9"}, {Key: "text", Value: s}})
				return []any{d}, func() any { return t.Insert(s, d, at(s)) }
			},
		}
	}
	move :=
		func(reason string, t *commentTree, id string, to func(s string) paths.Place[string], list func(string) []any) Case {
			return Case{
				Method: "paths.DocumentTree.Move", Reason: reason, State: listState(t, list),
				Make: func(s string) any { return t.Move(s, s+id, to(s)) },
			}
		}
	remove := func(reason string, t *commentTree, id string, mode paths.DeleteMode, list func(string) []any) Case {
		return Case{
			Method: "paths.DocumentTree.Delete", Reason: reason, State: listState(t, list),
			Make: func(s string) any { return t.Delete(s, s+id, mode) },
		}
	}
	set := func(reason string, t *commentTree, list func(string) []any) Case {
		return Case{
			Method: "paths.DocumentTree.Set", Reason: reason, State: listState(t, list), MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "text", Value: s + "x"}})
				return []any{d}, func() any { return t.Set(s, s+"2", d) }
			},
		}
	}
	replace := func(reason string, t *commentTree, list func(string) []any) Case {
		return Case{
			Method: "paths.DocumentTree.Replace", Reason: reason, State: listState(t, list), MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				d := roomy(bson.D{{Key: "id", Value: s + "2"}, {Key: "note", Value: s}})
				return []any{d}, func() any { return t.Replace(s, d) }
			},
		}
	}
	second := func(at func(string) paths.Place[string]) func(string) paths.Place[string] {
		return func(s string) paths.Place[string] { return at(s + "2") }
	}
	root := func(string) paths.Place[string] { return paths.LastRoot[string]() }
	return []Case{
		insert("the last reply", listedComments, paths.LastChild, thread),
		insert("before a reply, which must still stand there", listedComments, second(paths.Before), thread),
		insert("with a key between those of its siblings", keyedComments, paths.After, keyedThread),
		insert("nested", nestedComments, second(paths.FirstChild), nestedThread),
		insert("into an empty list", nestedComments, root, nil),
		move("a branch to the roots: the list", listedComments, "2", root, thread),
		move("with keys: two fields", keyedComments, "2", root, keyedThread),
		move("nested", nestedComments, "2", root, nestedThread),
		remove("a leaf", listedComments, "3", paths.Restrict, thread),
		remove("a branch", boundComments, "2", paths.Subtree, thread),
		remove("its replies take its place", listedComments, "", paths.Promote, thread),
		remove("its replies become roots, with keys", keyedComments, "", paths.Rootify, keyedThread),
		remove("nested", nestedComments, "2", paths.Promote, nestedThread),
		set("by id", boundComments, thread), set("nested, by place", nestedComments, nestedThread),
		replace("what ties it is kept", keyedComments, keyedThread), replace("by place", listedComments, thread),
		replace("nested, with its replies", nestedComments, nestedThread),
	}
}

func documentTreeRepairs() []Case {
	damaged := func(s string) []any {
		return []any{
			commentOf(s, "", ""), commentOf(s+"2", s+"8", ""), commentOf(s+"3", s+"4", ""), commentOf(s+"4", s+"3", ""),
			commentOf(s, s+"3", ""),
		}
	}
	return []Case{
		{
			Method: "paths.DocumentTree.Repair", Reason: "an orphan, a cycle, and an id twice",
			State: listState(listedComments, damaged),
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s + "9"})
				return []any{ids}, func() any { return listedComments.Repair(s, ids...) }
			},
		},
		{
			Method: "paths.DocumentTree.Repair", Reason: "keys that are equal",
			Make: func(s string) any { return keyedComments.Repair(s) },

			State: listState(keyedComments, func(s string) []any {
				return []any{commentOf(s, "", "a0"), commentOf(s+"2", "", "a0")}
			}),
		},
		{
			Method: "paths.DocumentTree.Repair", Reason: "a list that is whole",
			Make:  func(s string) any { return nestedComments.Repair(s) },
			State: listState(nestedComments, nestedThread),
		},
		{
			Method: "paths.DocumentTree.Checks", Reason: "lists as they are read",
			Make: func(string) any { return listedComments.Checks() },
		},
		{Method: "paths.DocumentTree.Checks", Reason: "an orphan becomes a root", From: func(s string) ([]any, func() any) {
			check := listedComments.Checks()[0]
			found := findings(check, bson.M{
				"owner": bson.M{"_id": s, "comments": bson.A{commentOf(s, "", ""), commentOf(s+"2", s+"7", "")}},
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{
			Method: "paths.DocumentTree.Indexes", Reason: "none but that of _id",
			Make: func(string) any { return listedComments.Indexes() },
		},
	}
}

func documentTreeReads() []Case {
	var out []Case
	for _, c := range []struct {
		form string
		t    *commentTree
	}{{"flat", listedComments}, {"with order keys", keyedComments}, {"nested", nestedComments}} {
		t := c.t
		read := func(method string, q func(s string) any) {
			out = append(out, Case{Method: "paths." + method, Reason: c.form, Make: q})
		}
		read("DocumentTree.Node", func(s string) any { return t.Node(s, s) })
		read("DocumentTree.Roots", func(s string) any { return t.Roots(s) })
		read("DocumentTree.Parent", func(s string) any { return t.Parent(s, s) })
		read("DocumentTree.Children", func(s string) any { return t.Children(s, s) })
		read("DocumentTree.Siblings", func(s string) any { return t.Siblings(s, s) })
		read("DocumentTree.Ancestors", func(s string) any { return t.Ancestors(s, s) })
		read("DocumentTree.Descendants", func(s string) any { return t.Descendants(s, s, 2) })
		read("DocumentTree.Leaves", func(s string) any { return t.Leaves(s, s) })
	}
	return out
}

var _ model.Technique = listedComments
