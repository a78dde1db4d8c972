// Inside package feed: it declares the model.Stream
// whose plans keep copies, and tries the caller's function with a sample. The public type adds
// the typed function. Package model runs the stream: it reads changes, sends plans and
// stores the place.
//
// # Stored form
//
// A place in the collection docmodel.feeds (or Spec.Places) is stored by
// model.Stream. It says how far the stream of this name has come:
//
//	docmodel.feeds {_id: "search", …}
//
// With a Mark, each document that a plan of the feed changes has the feed's mark in this
// field, so the feed recognizes its own updates:
//
//	source {_id: 7, …, mark: "…"}
//
// The copies are stored as the caller's plans say.
//
// # Protocol
//
//  1. declareStream checks the name and the spec, and returns the stream.
//  2. tryStream computes the plans for a sample: an insert, an update, a replacement, a
//     deletion and a first scan. A plan that isn't repeatable is an error of the declaration.
//  3. The stream first makes a plan for each stored document, then for each change, in order.
//     It stores its place after the plans have run.
//  4. makeRebuildJob makes the plans of all documents again.
//
// # What a crash leaves
//
// The place is stored after the plans, so a crash leaves a place before some plans that
// have run. The next run repeats them. That is why each plan must be repeatable. Two
// plans for one document run in the order of its changes.

package feed

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const defaultPlaces = "docmodel.feeds"

// declareStream returns the stream of a feed, without its Plan. none says that the caller's
// function is nil. declareStream panics with a *model.DeclarationError if the spec doesn't fit
// the source.
func declareStream(source *core.Docs, name string, none bool, spec Spec) model.Stream {
	place := namePlace(source.Name(), name)
	spec.Places = cmp.Or(spec.Places, defaultPlaces)
	switch {
	case name == "":
		place.Fail("the name is empty", "give a name, under which the feed's place is stored")
	case none:
		place.Fail("the function is nil", "give a function that computes a plan from a change")
	case spec.Places == source.Name():
		place.Fail("Places is the watched collection itself", "name another collection")
	case spec.Overlap < 0:
		place.Fail(fmt.Sprintf("Overlap is %v", spec.Overlap), "give the time that a poll goes back, or 0")
	}
	if spec.Mark != "" {
		if err := core.CheckKey(spec.Mark); err != nil || spec.Mark == "_id" {
			place.Fail(fmt.Sprintf("Mark is %q", spec.Mark),
				"name a field of the source, without dots, that only the feed writes")
		}
		if f, err := source.Field(spec.Mark); err == nil && !f.Untyped && f.Type.Kind() != reflect.String {
			place.Fail(fmt.Sprintf("Mark %q is of type %s in the documents", spec.Mark, f.Type),
				"name a field that the documents don't have, or a string")
		}
	}
	if spec.Since == "" && spec.Overlap > 0 {
		place.Fail("Overlap is given without Since", "name in Since the field to poll by")
	}
	if spec.Since != "" {
		f, err := source.Field(spec.Since)
		clock := f.Untyped || f.Type == reflect.TypeFor[time.Time]() || f.Type == reflect.TypeFor[bson.DateTime]() ||
			f.Type == reflect.TypeFor[bson.ObjectID]()
		switch {
		case err != nil:
			place.Fail(err.Error(), "name a field that grows with each write")
		case f.Arrays > 0 || !clock && !isGrowing(f.Type):
			place.Fail(fmt.Sprintf("Since %q is of type %s", spec.Since, f.Type),
				"name a time, an ObjectID, an integer or a string that grows with each write")
		case !clock && spec.Overlap > 0:
			place.Fail(fmt.Sprintf("Overlap is given, but Since %q is of type %s", spec.Since, f.Type),
				"leave Overlap out: only times and ObjectIDs can go back by a time")
		case core.Overlap(spec.Since, spec.Mark):
			place.Fail("Since and Mark are the same field", "name two different fields")
		}
	}
	return model.Stream{
		Name: name, Collection: source.Name(), Places: spec.Places, Bare: spec.Bare, Mark: spec.Mark,
		Since: spec.Since, Overlap: spec.Overlap,
	}
}

// isGrowing reports whether values of a type can grow with each write.
func isGrowing(t reflect.Type) bool {
	return t == reflect.TypeFor[bson.Timestamp]() || t.Kind() == reflect.String ||
		t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

// namePlace names the declaration in an error.
func namePlace(source, name string) core.Place {
	return core.Place(fmt.Sprintf("feed.New of %s, %q", source, name))
}

// tryStream computes the plans for a sample, one for each kind of event. It panics if a
// plan is refused, or if all are empty. err is an error of the sample. A deletion has no
// document, and a scan has no token.
func tryStream(s model.Stream, sample bson.Raw, err error) {
	place := namePlace(s.Collection, s.Name)
	if err != nil {
		place.Fail("the sample: "+err.Error(), "give a sample document like those that the feed will process")
	}
	steps := 0
	for _, kind := range []model.EventKind{
		model.Inserted, model.Updated, model.Replaced, model.Deleted, model.Scanned,
	} {
		e := model.Event{
			Kind: kind, ID: sample.Lookup("_id"), Document: sample, Token: "sample", Time: time.Unix(0, 0).UTC(),
		}
		if kind == model.Deleted || kind == model.Updated && s.Bare {
			e.Document = nil
		}
		if kind == model.Scanned {
			e.Token, e.Time = "", time.Time{}
		}
		plan, err := s.PlanFor(e)
		if err != nil {
			place.Fail(fmt.Sprintf("the plan for the sample, %s: %v", kind, err),
				"make the plan repeatable: set, replace or delete documents by an _id from the change; or give "+
					"another sample")
		}
		steps += len(plan.Steps)
	}
	if steps == 0 {
		place.Fail("the plans for the sample are empty, so they can't be checked",
			"give a sample for which the function writes something")
	}
}

// makeIndex returns the index by which a poll reads.
func makeIndex(s model.Stream) model.Index {
	why := "the documents that were written since the last poll of feed " + s.Name
	return commands.MakeIndex(s.Collection, why, mql.E(s.Since, 1), mql.E("_id", 1))
}

// listFootprints returns the paths that a feed uses. Its plans' own paths aren't known
// here.
func listFootprints(source string, s model.Stream, spec Spec) []model.Footprint {
	place := model.Footprint{
		Collection: cmp.Or(s.Places, defaultPlaces), Path: model.Whole, Document: s.Name, Use: model.Owns,
	}
	return slices.Concat(model.Reads.In(source, model.Whole), model.Owns.In(source, spec.Mark),
		model.Reads.In(source, spec.Since), []model.Footprint{place})
}
