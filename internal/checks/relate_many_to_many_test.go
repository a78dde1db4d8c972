package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Authors list books and books list authors, by bare ids and by versioned links.
type (
	author       = bareEnd
	novel        = bareEnd
	linkedAuthor struct {
		ID    string                `bson:"_id"`
		Books []relate.Link[string] `bson:"books,omitempty"`
		V     int64                 `bson:"v"`
	}
	linkedBook = linkList
)

var (
	authors       = model.NewCollection[author, string]("authors")
	novels        = model.NewCollection[novel, string]("books")
	linkedAuthors = model.NewCollection[linkedAuthor, string]("authors")
	linkedBooks   = model.NewCollection[linkedBook, string]("books")

	wrote       = relate.NewManyToMany(authors, "books", novels, "authors", relate.ManyToManySpec{})
	wroteFew    = relate.NewManyToMany(authors, "books", novels, "authors", relate.ManyToManySpec{MaxLeft: 3, MaxRight: 2})
	wroteRight  = relate.NewManyToMany(authors, "books", novels, "authors", relate.ManyToManySpec{TrustRight: true})
	linkedWrote = relate.NewManyToMany(linkedAuthors, "books", linkedBooks, "authors", relate.ManyToManySpec{Version: "v", MaxLeft: 3, MaxRight: 2})
)

func init() {
	register(manyToManyLinks()...)
	register(manyToManyChecks()...)
	register(manyToManyReads()...)
}

// listing is an author who lists a book at version 4, as it was read.
func listing(id, book string) *linkedAuthor {
	return &linkedAuthor{ID: id, Books: roomy([]relate.Link[string]{{ID: book, V: 4, Op: oid(4)}}), V: 4}
}

func manyToManyLinks() []Case {
	none := bson.NilObjectID
	return []Case{
		{Method: "relate.ManyToMany.Link", Reason: "the left list, then the right", From: func(s string) ([]any, func() any) {
			a := &author{ID: s}
			return []any{a}, func() any { return wrote.Link(a, s, none) }
		}},
		{Method: "relate.ManyToMany.Link", Reason: "bounds: the left is taken back when the right is full", Make: func(s string) any { return wroteFew.Link(&author{ID: s}, s, none) }},
		{Method: "relate.ManyToMany.Link", Reason: "by a link: the right list first, the left decides", From: func(s string) ([]any, func() any) {
			a := listing(s, "other")
			return []any{a}, func() any { return linkedWrote.Link(a, s, oid(5)) }
		}},
		{Method: "relate.ManyToMany.Link", Reason: "the first link of a document without a version", Make: func(s string) any { return linkedWrote.Link(&linkedAuthor{ID: s}, s, oid(5)) }},
		{Method: "relate.ManyToMany.Link", Reason: "linked by this very operation: the same plan again", Make: func(s string) any { return linkedWrote.Link(listing(s, s), s, oid(4)) }},
		{Method: "relate.ManyToMany.Link", Reason: "linked already: nothing", Make: func(s string) any { return linkedWrote.Link(listing(s, s), s, oid(5)) }},
		{Method: "relate.ManyToMany.Link", Reason: "to an empty id is refused", Make: func(s string) any { return wrote.Link(&author{ID: s}, "", none) }},
		{Method: "relate.ManyToMany.Link", Reason: "a link without a token is refused", Make: func(s string) any { return linkedWrote.Link(&linkedAuthor{ID: s}, s, none) }},
		{Method: "relate.ManyToMany.Link", Reason: "bare ids with a token are refused", Make: func(s string) any { return wrote.Link(&author{ID: s}, s, oid(5)) }},
		{Method: "relate.ManyToMany.Unlink", Reason: "off both lists", From: func(s string) ([]any, func() any) {
			a := &author{ID: s, Books: roomy([]string{s})}
			return []any{a}, func() any { return wrote.Unlink(a, s, none) }
		}},
		{Method: "relate.ManyToMany.Unlink", Reason: "by a link: the left decides, then off the right up to its version", From: func(s string) ([]any, func() any) {
			a := listing(s, s)
			return []any{a}, func() any { return linkedWrote.Unlink(a, s, oid(5)) }
		}},
		{Method: "relate.ManyToMany.Unlink", Reason: "a link that is not there: off the right alone", Make: func(s string) any { return linkedWrote.Unlink(listing(s, "other"), s, oid(5)) }},
		{Method: "relate.ManyToMany.Unlink", Reason: "of no document is refused", Make: func(s string) any { return linkedWrote.Unlink(nil, s, oid(5)) }},
	}
}

func manyToManyChecks() []Case {
	type list = []any
	mends := func(reason string, check model.Check, details func(s string) []any) Case {
		return mendsHalves(reason, "relate.ManyToMany.Checks", check, details)
	}
	left, right := wrote.Checks()[0], wrote.Checks()[1]
	leftOther, rightTrusted := wroteRight.Checks()[0], wroteRight.Checks()[1]
	undecided, linkedLeft, linkedRight := linkedWrote.Checks()[0], linkedWrote.Checks()[1], linkedWrote.Checks()[2]
	out := []Case{
		mends("the left is believed: onto the right", left, func(s string) []any { return list{bson.M{"list": true, "a": "ann", "b": s}} }),
		mends("the left is believed: off the right", right, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("the right is believed: off the left", leftOther, func(s string) []any { return list{bson.M{"list": true, "a": "ann", "b": s}} }),
		mends("the right is believed: onto the left", rightTrusted, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("what leads nowhere goes, from the left", left, func(s string) []any { return list{bson.M{"list": true, "a": "ann", "b": s, "gone": true}} }),
		mends("what leads nowhere goes, from the right", rightTrusted, func(s string) []any { return list{bson.M{"a": s, "b": "t", "gone": true}} }),
		mends("a link to a right document that is gone", linkedLeft, func(s string) []any {
			return list{bson.M{"list": true, "a": s, "b": s, "v": 4, "op": oid(4), "now": 4, "gone": true}}
		}),
		mends("links: one added, by its version", linkedLeft, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s, "v": 3, "op": oid(3), "now": 3}}
		}),
		mends("links: one off, by its version", linkedRight, func(s string) []any { return list{bson.M{"a": s, "b": "t", "v": 4, "op": oid(4), "now": 4}} }),
		mends("a link that is not decided yet: the left takes it, or moves on where it is full", undecided, func(s string) []any {
			return list{bson.M{"a": s, "b": s, "v": 5, "op": oid(5), "now": 4}}
		}),
		mends("a finding without an id is refused", right, func(s string) []any { return list{bson.M{"a": s}} }),
	}
	for i, reason := range []string{"bare ids, on the left", "bare ids, on the right"} {
		out = append(out, Case{Method: "relate.ManyToMany.Checks", Reason: reason, Make: func(string) any { return wrote.Checks()[i] }})
	}
	for i, reason := range []string{"links that are not decided", "links, on the left", "links, on the right"} {
		out = append(out, Case{Method: "relate.ManyToMany.Checks", Reason: reason, Make: func(string) any { return linkedWrote.Checks()[i] }})
	}
	return out
}

func manyToManyReads() []Case {
	return []Case{
		{Method: "relate.Side.Others", Reason: "by the index on the right list", Make: func(s string) any { return wrote.Left().Others(s) }},
		{Method: "relate.Side.Others", Reason: "by the ids of the right links", Make: func(s string) any { return linkedWrote.Left().Others(s) }},
		{Method: "relate.Side.Others", Reason: "by the index on the left list", Make: func(s string) any { return wrote.Right().Others(s) }},
		{Method: "relate.Side.Others", Reason: "by the ids of the left links", Make: func(s string) any { return linkedWrote.Right().Others(s) }},
		{Method: "relate.Side.Others", Reason: "an empty id is refused", Make: func(string) any { return wrote.Right().Others("") }},
		{Method: "relate.Side.Listed", Reason: "of a left document in hand", From: func(s string) ([]any, func() any) {
			a := &author{ID: s, Books: roomy([]string{s, "b"})}
			return []any{a}, func() any { return wrote.Left().Listed(a) }
		}},
		{Method: "relate.Side.Listed", Reason: "the left's links are the truth", From: func(s string) ([]any, func() any) {
			a := listing(s, s)
			return []any{a}, func() any { return linkedWrote.Left().Listed(a) }
		}},
		{Method: "relate.Side.Listed", Reason: "of no left document is refused", Make: func(string) any { return wrote.Left().Listed(nil) }},
		{Method: "relate.Side.Listed", Reason: "of a right document in hand", From: func(s string) ([]any, func() any) {
			b := &novel{ID: s, Authors: roomy([]string{s, "a"})}
			return []any{b}, func() any { return wrote.Right().Listed(b) }
		}},
		{Method: "relate.Side.Listed", Reason: "links that the left bears out", From: func(s string) ([]any, func() any) {
			b := &linkedBook{ID: s, Authors: roomy([]relate.Link[string]{{ID: s, V: 1, Op: oid(1)}})}
			return []any{b}, func() any { return linkedWrote.Right().Listed(b) }
		}},
		{Method: "relate.Side.Listed", Reason: "of no right document is refused", Make: func(string) any { return wrote.Right().Listed(nil) }},
		{Method: "relate.ManyToMany.Indexes", Reason: "bare ids", Make: func(string) any { return wrote.Indexes() }},
		{Method: "relate.ManyToMany.Indexes", Reason: "links", Make: func(string) any { return linkedWrote.Indexes() }},
	}
}
