package checks

import (
	"time"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type partChange = feed.Change[sparePart, string]

var (
	partNames  = feed.New(parts, "names", sparePart{ID: "s", Name: "sample"}, copyName, feed.Spec{})
	partShouts = feed.New(parts, "shouts", sparePart{ID: "s", Name: "sample"}, shout,
		feed.Spec{Mark: "shouted", Since: "name"})
	partBare = feed.New(parts, "bare", sparePart{ID: "s", Name: "sample"}, feedBare,
		feed.Spec{Bare: true, Places: "places"})
)

func copyName(c partChange) model.Plan {
	id, upsert := bson.D{{Key: "_id", Value: c.ID}}, true
	if c.Doc == nil {
		return model.NewPlan(model.Write{Collection: "names", Model: &mongo.DeleteOneModel{Filter: id}})
	}
	if c.Doc.Name == "count" {
		return model.NewPlan(model.Write{
			Collection: "names",
			Model:      &mongo.UpdateOneModel{Filter: id, Update: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}},
		})
	}
	return model.NewPlan(model.Write{Collection: "names", Model: &mongo.ReplaceOneModel{
		Filter: id, Upsert: &upsert, Replacement: bson.D{{Key: "name", Value: c.Doc.Name}, {Key: "by", Value: c.Token}},
	}})
}

func shout(c partChange) model.Plan {
	if c.Doc == nil {
		return model.Plan{}
	}
	return model.NewPlan(parts.Unchecked().
		Update(c.ID, bson.D{{Key: "$set", Value: bson.D{{Key: "loud", Value: c.Doc.Name}}}}))
}

func feedBare(c partChange) model.Plan {
	set := bson.D{{Key: "kind", Value: string(c.Kind)}}
	if c.Updated != nil {
		set = append(set, bson.E{Key: "updated", Value: c.Updated}, bson.E{Key: "removed", Value: c.Removed})
	}
	return model.NewPlan(model.Write{Collection: "seen", Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: c.ID}}, Update: bson.D{{Key: "$set", Value: set}}, Upsert: new(bool),
	}})
}

func init() {
	plan := func(feed *feed.Feed[sparePart, string], reason string, change func(s string) partChange) Case {
		if c := change("s"); c.Doc == nil && c.Updated == nil {
			return Case{Method: "feed.Feed.Plan", Reason: reason, Make: func(s string) any { return feed.Plan(change(s)) }}
		}
		return Case{Method: "feed.Feed.Plan", Reason: reason, From: func(s string) ([]any, func() any) {
			c := change(s)
			inputs := []any{c.Updated, c.Removed}
			if c.Doc != nil {
				inputs = append(inputs, c.Doc)
			}
			return inputs, func() any { return feed.Plan(c) }
		}}
	}
	doc := func(kind model.EventKind, name func(s string) string) func(string) partChange {
		return func(s string) partChange {
			return partChange{Kind: kind, ID: s, Doc: &sparePart{ID: s, Name: name(s)}, Token: "8263A0", Time: time.Unix(0, 0)}
		}
	}
	same := func(s string) string { return s }
	docs := func(s string) any {
		var out []bson.Raw
		for _, id := range []string{s, s + "2"} {
			raw, err := bson.Marshal(sparePart{ID: id, Name: s})
			if err != nil {
				panic(err)
			}
			out = append(out, raw)
		}
		return out
	}
	register(
		plan(partNames, "a copy of what was inserted", doc(model.Inserted, same)),
		plan(partNames, "no copy of what was deleted", func(s string) partChange {
			return partChange{Kind: model.Deleted, ID: s, Token: "8263A0"}
		}),
		plan(partNames, "one that adds is refused", doc(model.Replaced, func(string) string { return "count" })),
		plan(partNames, "an empty id is refused", func(string) partChange { return partChange{Kind: model.Deleted} }),
		plan(partShouts, "an update of the source carries the mark", doc(model.Updated, same)),
		plan(partShouts, "of a scanned document too", func(s string) partChange {
			return partChange{Kind: model.Scanned, ID: "a", Doc: &sparePart{ID: "a", Name: "nut"}}
		}),
		plan(partBare, "what was updated alone", func(s string) partChange {
			raw, err := bson.Marshal(bson.D{{Key: "name", Value: s}})
			if err != nil {
				panic(err)
			}
			return partChange{Kind: model.Updated, ID: s, Updated: raw, Removed: roomy([]string{s}), Token: "8263A0"}
		}),
		Case{
			Method: "feed.Feed.Rebuild", Reason: "copies of all",
			Make:  func(string) any { return partNames.Rebuild() },
			State: docs,
		},
		Case{Method: "feed.Feed.Indexes", Reason: "to poll by", Make: func(string) any { return partShouts.Indexes() }},
		Case{
			Method: "feed.Feed.Indexes", Reason: "none without Since",
			Make: func(string) any { return partNames.Indexes() },
		},
		Case{
			Method: "feed.Feed.Stream", Reason: "changes with their documents",
			Make: func(string) any { return partNames.Stream() },
		},
		Case{
			Method: "feed.Feed.Stream", Reason: "without the feed's own",
			Make: func(string) any { return partShouts.Stream() },
		},
		Case{Method: "feed.Feed.Stream", Reason: "bare", Make: func(string) any { return partBare.Stream() }},
		Case{Method: "model.Stream.PlanFor", Reason: "the plan of an event", From: func(s string) ([]any, func() any) {
			raw, err := bson.Marshal(sparePart{ID: s, Name: s})
			if err != nil {
				panic(err)
			}
			e := model.Event{Kind: model.Inserted, ID: rawString(s), Document: raw, Token: "8263A0"}
			return []any{raw}, func() any {
				p, err := partNames.Stream().PlanFor(e)
				if err != nil {
					return model.NewPlan(model.Refused("parts", err))
				}
				return p
			}
		}},
	)
}
