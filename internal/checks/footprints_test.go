package checks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// declaredTechniques are the techniques that the cases of techniques use.
var declaredTechniques = []model.Technique{
	articleSpecs, lastLines, keyLines, firstKeys, timeLines, tops, labels, newLabels, hostViews,
	mails, keyMails, addedMails, largeMails, dailyMails, monthMails, countMails, sheetColumns, sheetRows, noteRows,
	copyNames, copyBeside, copyBare, copyItems, copyNested, copyListed, copyCounted, copyCountedIn, copyCountedListed,
	tallied, spanned, partNames, partShouts, partBare, dwellers, mailers, labelled, thingsBy,
	skillFields, langFields, boxMails, plainBoxes, largeBoxes, addingBoxes, skillText, langText,
	firstTwo, inOrder, wholeFirst, dayVisitors, everVisitors, monthVisits, likes, keyedPlaces, namedPlaces,
	byPlace, byDevice, placeInDoc, letterBox, bagBox, accountBox, ranged, hashed, mixed, shardID,
	lodgerPlaces, lodgerRooms, lodgerHome, lodgerUnbound, mediumKinds, topKinds, listKinds, versioned, versionedBy,
	byChildren, fewLists, talks, talks.Components(), shouting, nestedOnes, gappedOnes, directOnes,
	byParent, byArray, byPath, listedComments, boundComments, keyedComments, nestedComments,
	uses, owns, keyed, lostParts, lostStock, lostHosts, lostOwner, onlyTold, untyped, untypedIn,
	fitted, tied, wrote, wroteRight, turned, inPlace, back, backPlace,
	takenOut, listedOut, movedOut, partedOut, takenIn, listedIn, movedIn,
	deletesProducts, deletesHosts, deletesStocks, deletesAnything, from, plain, below, countedBelow,
	owned, ownedListed, expiryDeleted, expiryEach, expiryArchived, expiryVersion, readerVersions, strictReaders,
}

func typeName(t model.Technique) string {
	return strings.TrimPrefix(bareType(reflect.TypeOf(t)), "*")
}

// partsOfTechniques are types whose methods belong to a technique of another name.
var partsOfTechniques = map[string][]string{
	"twosided.Side": {"twosided.TwoWay", "twosided.ManyToMany"}, "joincollection.Side": {"joincollection.JoinCollection"},
	"widerow.Side": {"widerow.WideRow"}, "keys.Days": {"keys.Sequence"}, "keys.Allocator": {"keys.Sequence"},
	"paths.Graph": {"paths.Graph", "paths.Supersteps"},
}

// writtenByStores are techniques without methods that write: stores write what they own. Their cases of stores begin
// with the name.
var writtenByStores = map[string]bool{"counter.Counter": true}

// Each path that a technique's commands write, or have in a filter, is in a footprint of the technique, and each
// footprint is used by some command.
func TestFootprints(t *testing.T) {
	found := map[string]usedPaths{}
	for _, c := range registered {
		pkg, rest, _ := strings.Cut(c.Method, ".")
		typ, _, isMethod := strings.Cut(rest, ".")
		names := partsOfTechniques[pkg+"."+typ]
		if names == nil {
			names = []string{pkg + "." + typ}
		}
		if technique, _, of := strings.Cut(c.Reason, ": "); of && names[0] == "model.Store" && writtenByStores[technique] {
			names = []string{technique}
		}
		for _, name := range names {
			if isMethod && found[name] == nil {
				found[name] = usedPaths{}
			}
			if isMethod {
				found[name].value(c, c.value(harmless), harmless)
			}
		}
	}
	declared := map[string][]model.Footprint{}
	for _, technique := range declaredTechniques {
		declared[typeName(technique)] = append(declared[typeName(technique)], technique.Footprints()...)
	}
	for name, list := range declared {
		for _, problem := range misdeclared(name, list, found[name]) {
			t.Errorf("%s %s", name, problem)
		}
	}
	if len(declared) < 35 {
		t.Errorf("only %d types of techniques have cases", len(declared))
	}
}

// misdeclared says what of footprints and commands doesn't agree.
func misdeclared(name string, list []model.Footprint, found usedPaths) (problems []string) {
	handed := handedIn[name]
	for p := range found {
		if p.path == "_m" || strings.HasPrefix(p.path, "_m.") { // the field of stores
			continue
		}
		has := func(f model.Footprint) bool { return covers(f, p) }
		if !slices.ContainsFunc(list, has) && !slices.Contains(handed, p.path) &&
			!slices.Contains(handed, p.collection+"."+p.path) {
			problems = append(problems,
				fmt.Sprintf("%s %s.%s without a footprint",
					map[bool]string{true: "writes", false: "asks for"}[p.write], p.collection, p.path))
		}
	}
	for _, f := range list {
		if !usedBy(f, found) && !slices.Contains(unseen[name], f.Collection+"."+f.Path) &&
			!slices.Contains(unseen[name], model.Whole) {
			problems = append(problems, fmt.Sprintf("%s %s.%s: no command does", useNames[f.Use], f.Collection, f.Path))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// covers reports whether a footprint allows what a command does with a path.
func covers(f model.Footprint, p usedPath) bool {
	switch {
	case f.Collection != p.collection:
		return false
	case f.Path == model.Whole:
		return f.Use == model.Owns || p.write && p.path == model.Whole && f.Use != model.Reads ||
			!p.write && f.Use == model.Reads
	case !p.write:
		return core.Overlap(f.Path, p.path)
	}
	return f.Use >= model.Mends && (f.Path == p.path || strings.HasPrefix(p.path, f.Path+"."))
}

// usedBy reports whether some command does what a footprint says.
func usedBy(f model.Footprint, found usedPaths) bool {
	for p := range found {
		if p.collection == f.Collection && (f.Use == model.Reads || p.write) &&
			(p.path == f.Path || f.Path == model.Whole || p.path != model.Whole && core.Overlap(f.Path, p.path)) {
			return true
		}
	}
	return false
}

// handedIn are paths of conditions and changes that the cases hand to a technique: they are its caller's, not the
// technique's.
var handedIn = map[string][]string{
	"counter.Counter": {"anything.title"}, "columns.Columns": {"anything.at"},
	"normalized.Normalized": {"anything.at"}, "subset.Subset": {"anything.note"},
	"numbered.Numbered": {"anything.level", "anything.skill"},
	"feed.Feed":         {"names.*", "parts.loud", "seen.kind", "seen.removed", "seen.updated"},
	"embed.Versioned":   {"ledgers.owner", "ledgers.qty"}, "embed.Kinds": {"mediums.author", "mediums.min"},
	"geofield.Field": {"anything.name", "anything.log"}, "paths.Tree": {"categories.name"},
	// those of a policy that a case declares by itself
	"dangling.Dangling":   {"portfolios.name", "portfolios.tags", "logmsgs.host"},
	"parentref.ParentRef": {"hosts.name"}, "bounded.Bounded": {"hosts.note", "hosts.views"},
	"schema.Versions": {"readers.first", "readers.name", "readers.note", "readers.tags"},

	// Sides belong to both.
	"twosided.TwoWay":     {"authors.books", "books.authors"},
	"twosided.ManyToMany": {"tasks.owner", "workers.tasks"},
}

// unseen are the footprints of which the cases show no command.
var unseen = map[string][]string{
	// a store writes them
	"copies.Copy": {"*"},
	// a store looks at them
	"widerow.WideRow": {"items.title", "users.name"},
	// a store writes them
	"indextable.IndexTable": {"*"},
	// a store writes them
	"inverted.Inverted": {"*"},
	// as above
	"subset.Subset": {"anything.by.name", "anything.text"},
	// the stream keeps its place itself
	"feed.Feed": {"docmodel.feeds.*", "places.*"},
	// no case looks for parts that aren't there
	"keys.Composite": {"readings.at", "readings.device", "readings.op"},
	// as below
	"paths.Supersteps": {"hosts.labels"},
	// they are stored with whole documents
	"schema.Expiry":     {"archive.meta.until", "archive.archivedEarlier", "oldmsgs.archivedEarlier", "logmsgs.unarchived"},
	"schema.Versions":   {"readers.v"},               // no case of documents of that version
	"ondelete.OnDelete": {"*"},                       // a store writes them
	"migrate.Migration": {"*"},                       // its stages read before they plan
	"paths.Graph":       {"hosts.labels", "talks.*"}, // its queries read them
}

// The comparison of footprints and commands sees what it must.
func TestMisdeclared(t *testing.T) {
	w := model.Write{Collection: "a", Model: &mongo.UpdateOneModel{
		Filter: bson.D{{
			Key:   "$or",
			Value: bson.A{bson.D{{Key: "k", Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "id", Value: 1}}}}}}},
		}},
		Update: bson.D{
			{Key: "$set", Value: bson.D{{Key: "list.$[x].n", Value: 1}}},
			{Key: "$rename", Value: bson.D{{Key: "old", Value: "new"}}},
		},
	}}
	whole := slices.Concat(model.Reads.In("a", "k"), model.Writes.In("a", "list.n", "old", "new"))
	for _, test := range []struct {
		reason string
		list   []model.Footprint
		want   []string
	}{
		{"whole", whole, nil},
		{"a path above", slices.Concat(whole[:1], model.Owns.In("a", "list", "old", "new")), nil},
		{"nothing", nil, []string{"asks for a.k ", "asks for a.k.id ", "writes a.list.n ", "writes a.new ", "writes a.old "}},
		{
			reason: "what is written is only read",
			list:   slices.Concat(whole[:1], model.Reads.In("a", "list.n"), whole[2:]),
			want:   []string{"writes a.list.n "},
		},
		{"a path below", slices.Concat(whole, model.Writes.In("a", "old.x"))[:3], []string{"writes a.new "}},
		{
			reason: "whole documents of a user's",
			list:   slices.Concat(whole[:1], model.Writes.In("a", model.Whole)),
			want:   []string{"writes a.list.n ", "writes a.new ", "writes a.old "},
		},
		{"whole documents of its own", model.Owns.In("a", model.Whole), nil},
		{"another collection", slices.Concat(whole, model.Writes.In("b", "n")), []string{"writes b.n: no command"}},
		{"a path that nothing uses", slices.Concat(whole, model.Reads.In("a", "z")), []string{"reads a.z: no command"}},
	} {
		found := usedPaths{}
		found.value(Case{}, w, "")
		got := misdeclared("x", test.list, found)
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q", test.reason, got)
		}
	}
}

// useNames are the verbs of footprints, by model.Use.
var useNames = []string{"reads", "mends", "writes", "owns", "guards", "spares"}
