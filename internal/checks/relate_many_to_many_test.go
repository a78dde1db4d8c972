package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Authors list books and books list authors.
type (
	author = bareEnd
	novel  = bareEnd
)

var (
	authors = model.NewCollection[author, string]("authors")
	novels  = model.NewCollection[novel, string]("books")

	wrote      = twosided.NewManyToMany(authors, "books", novels, "authors", twosided.ManyToManySpec{})
	wroteRight = twosided.NewManyToMany(authors, "books", novels, "authors", twosided.ManyToManySpec{TrustRight: true})
)

func init() {
	register(manyToManyChecks()...)
	register(manyToManyReads()...)
}

func manyToManyChecks() []Case {
	type list = []any
	mends := func(reason string, check model.Check, details func(s string) []any) Case {
		return mendsHalves(reason, "twosided.ManyToMany.Checks", check, details)
	}
	left, right := wrote.Checks()[0], wrote.Checks()[1]
	leftOther, rightTrusted := wroteRight.Checks()[0], wroteRight.Checks()[1]
	out := []Case{
		mends("the left is believed: onto the right", left, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s}}
		}),
		mends("the left is believed: off the right", right, func(s string) []any { return list{bson.M{"a": s, "b": "t"}} }),
		mends("the right is believed: off the left", leftOther, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s}}
		}),
		mends("the right is believed: onto the left", rightTrusted, func(s string) []any {
			return list{bson.M{"a": s, "b": "t"}}
		}),
		mends("what leads nowhere goes, from the left", left, func(s string) []any {
			return list{bson.M{"list": true, "a": "ann", "b": s, "gone": true}}
		}),
		mends("what leads nowhere goes, from the right", rightTrusted, func(s string) []any {
			return list{bson.M{"a": s, "b": "t", "gone": true}}
		}),
		mends("a finding without an id is refused", right, func(s string) []any { return list{bson.M{"a": s}} }),
	}
	for i, reason := range []string{"on the left", "on the right"} {
		out = append(out, Case{
			Method: "twosided.ManyToMany.Checks", Reason: reason,
			Make: func(string) any { return wrote.Checks()[i] },
		})
	}
	return out
}

func manyToManyReads() []Case {
	return []Case{
		{
			Method: "twosided.Side.Others", Reason: "by the index on the right list",
			Make: func(s string) any { return wrote.Left.Others(s) },
		},
		{
			Method: "twosided.Side.Others", Reason: "by the index on the left list",
			Make: func(s string) any { return wrote.Right.Others(s) },
		},
		{
			Method: "twosided.Side.Others", Reason: "an empty id is refused",
			Make: func(string) any { return wrote.Right.Others("") },
		},
		{Method: "twosided.Side.Listed", Reason: "of a left document in hand", From: func(s string) ([]any, func() any) {
			a := &author{ID: s, Books: roomy([]string{s, "b"})}
			return []any{a}, func() any { return wrote.Left.Listed(a) }
		}},
		{
			Method: "twosided.Side.Listed", Reason: "of no left document is refused",
			Make: func(string) any { return wrote.Left.Listed(nil) },
		},
		{Method: "twosided.Side.Listed", Reason: "of a right document in hand", From: func(s string) ([]any, func() any) {
			b := &novel{ID: s, Authors: roomy([]string{s, "a"})}
			return []any{b}, func() any { return wrote.Right.Listed(b) }
		}},
		{
			Method: "twosided.Side.Listed", Reason: "of no right document is refused",
			Make: func(string) any { return wrote.Right.Listed(nil) },
		},
		{Method: "twosided.ManyToMany.Indexes", Reason: "of both sides", Make: func(string) any { return wrote.Indexes() }},
	}
}
