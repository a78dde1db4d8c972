package checks

import (
	"github.com/docmodel/docmodel/denorm"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	loosePosts = anything.Named("posts")
	firstTwo   = denorm.NewSubset(anything, "post", loosePosts, "recent", denorm.SubsetSpec{
		Max: 2, By: bson.D{{Key: "time", Value: -1}}, Fields: []string{"text", "by.name"},
	})
	wholeFirst = denorm.NewSubset(anything, "post", loosePosts, "recent", denorm.SubsetSpec{Max: 2, By: bson.D{{Key: "time", Value: -1}}})
)

func init() { register(subsetCases()...) }

// childOf is a child of the post s.
func childOf(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s}, {Key: "post", Value: s}, {Key: "time", Value: noon(0)}, {Key: "text", Value: s},
		{Key: "by", Value: roomy(bson.D{{Key: "name", Value: s}, {Key: "mail", Value: s}})},
	})
}

// heldOf is what a post holds of a child.
func heldOf(s string) bson.D {
	return bson.D{{Key: "_id", Value: s}, {Key: "text", Value: s}, {Key: "by", Value: bson.D{{Key: "name", Value: s}}}, {Key: "time", Value: noon(0)}}
}

func subsetDriftOf(id string, found, want, next bson.A) denorm.SubsetDrift {
	raw := rawDoc(bson.D{{Key: "id", Value: id}, {Key: "found", Value: found}, {Key: "want", Value: want}, {Key: "next", Value: next}})
	return denorm.SubsetDrift{ID: raw.Lookup("id"), Found: raw.Lookup("found"), Want: raw.Lookup("want"), Next: raw.Lookup("next")}
}

func subsetCases() []Case {
	state := func(s string) any {
		held := bson.A{heldOf(s), heldOf(s + "2")}
		return denorm.SubsetState{Child: rawDoc(childOf(s)), Parents: []denorm.SubsetDrift{subsetDriftOf(s, held, held, bson.A{heldOf(s + "3")})}}
	}
	moved := func(s string) any {
		of := state(s).(denorm.SubsetState)
		of.Parents = append(of.Parents, subsetDriftOf(s+"9", bson.A{}, bson.A{}, bson.A{}))
		return of
	}
	set := func(reason string, fields func(s string) bson.D, state func(string) any) Case {
		return Case{Method: "denorm.Subset.Set", Reason: reason, State: state, From: func(s string) ([]any, func() any) {
			d := roomy(fields(s))
			return []any{d}, func() any { return firstTwo.Set(s, d) }
		}}
	}
	child := func(method, reason string, call func(doc bson.D) any) Case {
		return Case{Method: "denorm.Subset." + method, Reason: reason, From: func(s string) ([]any, func() any) {
			doc := childOf(s)
			return []any{doc}, func() any { return call(doc) }
		}}
	}
	return []Case{
		child("Insert", "the child, and the copied fields of it", func(doc bson.D) any { return firstTwo.Insert(doc) }),
		child("Insert", "the child, whole", func(doc bson.D) any { return wholeFirst.Insert(doc) }),
		{Method: "denorm.Subset.Insert", Reason: "without a value to be ordered by it is refused", From: func(s string) ([]any, func() any) {
			doc := roomy(bson.D{{Key: "_id", Value: s}, {Key: "post", Value: s}})
			return []any{doc}, func() any { return firstTwo.Insert(doc) }
		}},
		set("a copied field, in its place", func(s string) bson.D { return bson.D{{Key: "text", Value: s + "x"}} }, state),
		set("a field that isn't copied", func(s string) bson.D { return bson.D{{Key: "note", Value: s}} }, state),
		set("what it is ordered by: the others, and then it", func(string) bson.D { return bson.D{{Key: "time", Value: noon(-9)}} }, state),
		set("its parent: out of the one, and then into the other", func(s string) bson.D { return bson.D{{Key: "post", Value: s + "9"}} }, moved),
		set("no field is refused", func(string) bson.D { return nil }, state),
		{Method: "denorm.Subset.Delete", Reason: "the next takes its place", Make: func(s string) any { return firstTwo.Delete(s) }, State: state},
		{Method: "denorm.Subset.Delete", Reason: "one that is not there",
			Make: func(s string) any { return firstTwo.Delete(s) }, State: func(string) any { return denorm.SubsetState{} }},
		{Method: "denorm.Subset.Refresh", Reason: "what the children say", Make: func(s string) any { return firstTwo.Refresh(s) },
			State: func(s string) any {
				return denorm.SubsetState{Parents: []denorm.SubsetDrift{subsetDriftOf(s, bson.A{s}, bson.A{heldOf(s)}, bson.A{})}}
			}},
		{Method: "denorm.Subset.Rest", Reason: "after the last that the parent holds", From: func(s string) ([]any, func() any) {
			doc := roomy(bson.D{{Key: "_id", Value: s}, {Key: "recent", Value: roomy(bson.A{heldOf(s + "2"), heldOf(s)})}})
			return []any{doc}, func() any { return firstTwo.Rest(&doc) }
		}},
		{Method: "denorm.Subset.Rest", Reason: "of a parent that holds none", From: func(s string) ([]any, func() any) {
			doc := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{doc}, func() any { return firstTwo.Rest(&doc) }
		}},
		{Method: "denorm.Subset.Children", Reason: "in order", Make: func(s string) any { return firstTwo.Children(s) }},
		{Method: "denorm.Subset.Rebuild", Reason: "those that differ", Make: func(string) any { return firstTwo.Rebuild() },
			State: func(s string) any {
				row := func(found bson.A) bson.Raw {
					return rawDoc(bson.D{{Key: "_id", Value: s}, {Key: "found", Value: found}, {Key: "want", Value: bson.A{heldOf(s)}}})
				}
				return []bson.Raw{row(bson.A{heldOf(s)}), row(bson.A{})}
			}},
		{Method: "denorm.Subset.Checks", Reason: "of all parents", Make: func(string) any { return firstTwo.Checks()[0] }},
		{Method: "denorm.Subset.Checks", Reason: "of some, whole children", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{filter}, func() any { return wholeFirst.Checks()[0].In(filter) }
		}},
		{Method: "denorm.Subset.Checks", Reason: "mend as it was found", From: func(s string) ([]any, func() any) {
			check := firstTwo.Checks()[0]
			found := findings(check, bson.D{{Key: "_id", Value: s}, {Key: "found", Value: bson.A{heldOf(s + "2")}}, {Key: "want", Value: bson.A{heldOf(s)}}})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "denorm.Subset.Indexes", Reason: "children in order", Make: func(string) any { return firstTwo.Indexes() }},
	}
}
