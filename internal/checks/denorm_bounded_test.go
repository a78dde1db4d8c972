package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	line struct {
		ID   string    `bson:"id"`
		Time time.Time `bson:"time"`
		Text string    `bson:"text"`
	}
	busyHost struct {
		ID     string    `bson:"_id"`
		Lines  []line    `bson:"lines,omitempty"`
		Stats  hostStats `bson:"stats"`
		Labels []string  `bson:"labels,omitempty"`
		Views  int64     `bson:"views,omitempty"`
	}
	hostStats struct {
		Tops []int64 `bson:"tops,omitempty"`
	}
)

var (
	busyHosts = model.NewCollection[busyHost, string]("hosts")
	lastLines = bounded.New(busyHosts.Unchecked(), "lines", bounded.Spec{Max: 3})
	keyLines  = bounded.New(busyHosts, "lines", bounded.Spec{Max: 3, Key: "id"})
	firstKeys = bounded.New(busyHosts, "lines", bounded.Spec{Max: 3, Key: "id", First: true})
	timeLines = bounded.New(busyHosts, "lines", bounded.Spec{
		Max: 3, By: bson.D{{Key: "time", Value: 1}, {Key: "id", Value: 1}}, Key: "id",
	})
	tops = bounded.New(busyHosts, "stats.tops", bounded.Spec{
		Max: 5, First: true, By: bson.D{{Key: "", Value: -1}},
	})
	labels = bounded.New(busyHosts, "labels", bounded.Spec{Max: 2})

	newLabels = bounded.New(busyHosts, "labels", bounded.Spec{Max: 2, Create: true})
)

func init() {
	register(boundedPushes()...)
	register(boundedOthers()...)
}

func boundedPushes() []Case {
	return []Case{
		{Method: "bounded.Bounded.Push", Reason: "the last three, in the order of pushing",
			Make: func(s string) any { return lastLines.Push(s, line{ID: s, Time: noon(0), Text: s}) }},
		{Method: "bounded.Bounded.Push", Reason: "by pointer, and several",
			From: func(s string) ([]any, func() any) {
				a, b := &line{ID: s, Time: noon(0)}, &line{ID: s + "2", Time: noon(1)}
				list := roomy([]any{a, b})
				return []any{list, a, b}, func() any { return lastLines.Push("h", list...) }
			}},
		{Method: "bounded.Bounded.PushWith", Reason: "a counter and a time beside it",
			From: func(s string) ([]any, func() any) {
				with := roomy(bson.D{
					{Key: "$inc", Value: roomy(bson.D{{Key: "views", Value: int64(1)}})},
					{Key: "$set", Value: roomy(bson.D{{Key: "note", Value: s}})},
				})
				return []any{with}, func() any { return lastLines.PushWith("h", with, line{ID: s, Time: noon(0), Text: s}) }
			}},
		{Method: "bounded.Bounded.PushWith", Reason: "another push, with care, and a list that is copied",
			From: func(s string) ([]any, func() any) {
				list := roomy([]string{s})
				with := roomy(bson.D{{
					Key:   "$push",
					Value: roomy(bson.D{{Key: "labels", Value: bson.D{{Key: "$each", Value: list}}}}),
				}})
				return []any{with, list}, func() any { return keyLines.PushWith("h", with, line{ID: s, Time: noon(0)}) }
			}},
		{Method: "bounded.Bounded.PushWith", Reason: "to the array itself it is refused",
			From: func(s string) ([]any, func() any) {
				with := roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "lines.0.text", Value: s}})}})
				return []any{with}, func() any { return lastLines.PushWith("h", with, line{ID: s}) }
			}},
		{Method: "bounded.Bounded.Push", Reason: "one element with a key, recognized",
			Make: func(s string) any { return keyLines.Push("h", line{ID: s, Time: noon(0), Text: s}) }},
		{
			Method:    "bounded.Bounded.Push",
			Reason:    "four elements with keys, of which three stay",
			MayRefuse: "it is the key of another",

			Make: func(s string) any {
				return keyLines.Push("h", line{ID: "a"}, line{ID: s}, line{ID: "c"}, line{ID: "d"})
			},
		},
		{
			Method:    "bounded.Bounded.Push",
			Reason:    "the first three: what doesn't fit is dropped",
			MayRefuse: "it is the key of another",

			Make: func(s string) any { return firstKeys.Push("h", line{ID: "a"}, line{ID: s}) },
		},
		{Method: "bounded.Bounded.Push", Reason: "elements with keys, sorted: what sorts too low is dropped",
			Make: func(s string) any {
				return timeLines.Push("h", line{ID: s, Time: noon(0)}, line{ID: s + "2", Time: noon(1)})
			}},
		{Method: "bounded.Bounded.Push", Reason: "the top five scalars, below a field",
			Make: func(s string) any { return tops.Push(s, int64(4)) }},
		{Method: "bounded.Bounded.Push", Reason: "a string is an element",
			Make: func(s string) any { return labels.Push("h", s) }},
		{Method: "bounded.Bounded.Push", Reason: "none is refused",
			Make: func(s string) any { return lastLines.Push(s) }},
		{Method: "bounded.Bounded.Push", Reason: "an element of another type is refused",
			Make: func(s string) any { return lastLines.Push("h", s) }},
		{Method: "bounded.Bounded.Push", Reason: "the same key twice is refused",
			Make: func(s string) any { return keyLines.Push("h", line{ID: s}, line{ID: s}) }},
		{Method: "bounded.Bounded.Push", Reason: "an owner that may not exist",
			From: func(s string) ([]any, func() any) {
				list := roomy([]any{s})
				return []any{list}, func() any { return newLabels.Push(s, list...) }
			}},
	}
}

func boundedOthers() []Case {
	return []Case{
		{Method: "bounded.Bounded.Remove", Reason: "by keys",
			From: func(s string) ([]any, func() any) {
				keys := roomy([]any{s, "b"})
				return []any{keys}, func() any { return keyLines.Remove(s, keys...) }
			}},
		{Method: "bounded.Bounded.Remove", Reason: "without a Key is refused",
			Make: func(s string) any { return lastLines.Remove("h", s) }},
		{Method: "bounded.Bounded.Remove", Reason: "of no key is refused, for it would match elements without one",
			Make: func(s string) any { return keyLines.Remove(s, nil) }},
		{Method: "bounded.Bounded.Slice", Reason: "the first two",
			Make: func(s string) any { return timeLines.Slice(s, 2) }},
		{Method: "bounded.Bounded.Slice", Reason: "the last two",
			Make: func(s string) any { return timeLines.Slice(s, -2) }},
		{Method: "bounded.Bounded.Slice", Reason: "none is refused",
			Make: func(s string) any { return timeLines.Slice(s, 0) }},
		{Method: "bounded.Bounded.Checks", Reason: "an element after the last that is kept",
			Make: func(string) any { return lastLines.Checks()[0] }},
		boundedMending("to the last three", lastLines.Checks()[0]), boundedMending("to the top five", tops.Checks()[0]),
		{Method: "bounded.Bounded.Validation", Reason: "of an array below a field",
			Make: func(string) any { return tops.Validation() }},
		{Method: "bounded.Bounded.Indexes", Reason: "owners are found by _id",
			Make: func(string) any { return lastLines.Indexes() }},
	}
}

func boundedMending(reason string, check model.Check) Case {
	return Case{Method: "bounded.Bounded.Checks", Reason: reason, From: func(s string) ([]any, func() any) {
		found := findings(check, bson.M{"_id": s})
		return []any{found}, func() any { return check.Mend(found) }
	}}
}
