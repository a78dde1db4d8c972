package checks

import (
	"errors"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/columns"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/denorm/normalized"
	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/migrate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// walkedFunctions are the exported functions that [TestNoPanics] calls: constructors and other functions that take
// types as instances.
var walkedFunctions = map[string]any{
	"widerow.ColumnsFrom": widerow.ColumnsFrom, "approximate.New": approximate.New[bson.D, any],
	"attributes.New": attributes.New[bson.D, any], "bounded.New": bounded.New[bson.D, any],
	"bucket.New": bucket.New[string, mail], "columns.New": columns.New[bson.D, any],
	"eventlog.New":           eventlog.New[string, mail, mail],
	"eventlog.NewProjection": eventlog.NewProjection[string, mail, mail, mail],
	"copies.New":             copies.New[bson.D, any, bson.D, any],
	"counter.New":            counter.New[bson.D, any, bson.D, any], "feed.New": feed.New[bson.D, any],
	"history.New": history.New[contract, string],
	"outbox.New":  outbox.New[stateEvent, shipment, string],
	"inbox.New":   inbox.New[shipment, string], "indextable.New": indextable.New[bson.D, any],
	"inverted.New": inverted.New[bson.D, any], "normalized.New": normalized.New[bson.D, any],
	"numbered.New": numbered.New[bson.D, any], "outlier.New": outlier.New[mailbox, string, mail],
	"proximity.New": proximity.New[bson.D, any],
	"rollup.New":    rollup.New[bson.D, any, string, int64], "slots.New": slots.New[string],
	"subset.New":      subset.New[bson.D, any, bson.D, any],
	"subsetpages.New": subsetpages.New[mailbox, string, mail],
	"uniquecount.New": uniquecount.New[string, string],
	"widerow.New":     widerow.New[bson.D, string, bson.D, string],

	"geohash.AppendEncode": geohash.AppendEncode, "geohash.AppendGeoJSON": geohash.AppendGeoJSON,
	"geohash.CommonCell": geohash.CommonCell, "geohash.Distance": geohash.Distance, "geohash.Encode": geohash.Encode,
	"geohash.Parse": geohash.Parse, "geohash.Subtract": geohash.Subtract,
	"geofield.NewField": geofield.NewField[bson.D, any],

	"model.AggregateAs": model.AggregateAs[bson.D, bson.D, any],
	"embed.Case":        embed.Case[mediumBook],

	"model.Concat": model.Concat, "model.DuplicateIndex": model.DuplicateIndex,
	"model.Entity": model.Entity[bson.D, any], "model.Fence": model.Fence,
	"model.InTx": model.InTx, "model.WithBulkWrite": model.WithBulkWrite, "model.WithToken": model.WithToken,
	"model.WithTransactions": model.WithTransactions, "model.New": model.New,
	"model.NewStore": model.NewStore[bson.D, any], "model.LogTo": model.LogTo, "model.Merge": model.Merge,
	"model.MergePlans": model.MergePlans, "model.MoveKeys": model.MoveKeys,
	"model.NewCollection":     model.NewCollection[bson.D, any],
	"model.NewCollectionWith": model.NewCollectionWith[bson.D, any],
	"embed.NewEmbedded":       embed.NewEmbedded[bson.D, bson.D, any], "embed.NewOne": embed.NewOne[bson.D, bson.D, any],
	"model.NewIndex": model.NewIndex, "model.NewParts": model.NewParts,
	"embed.NewKinds":  embed.NewKinds[medium, string, medium],
	"embed.NewNested": embed.NewNested[dwelling, lodger, string, dwelling], "model.NewPlan": model.NewPlan,
	"embed.NewUnion": embed.NewUnion[medium], "embed.NewVersioned": embed.NewVersioned[bson.D, any],
	"embed.Only": embed.Only[mediumBook, medium, string], "model.Project": model.Project[bson.D, product],
	"model.Refused": model.Refused, "model.Shell": model.Shell,
	"embed.UnknownCase": embed.UnknownCase[medium],

	"advise.Choose": advise.Choose, "advise.SurveyDatabase": advise.SurveyDatabase,
	"advise.NewBudget": advise.NewBudget[product, string],
	"advise.NewSurvey": advise.NewSurvey[product, string, sparePart, string],

	"keys.ID": keys.ID, "keys.Int": keys.Int,
	"keys.NewSpread": keys.NewSpread[bson.D, any], "keys.NewComposite": keys.NewComposite[bson.D],
	"keys.NewDocumentKey": keys.NewDocumentKey[bson.D, bson.D], "keys.NewSequence": keys.NewSequence[product, string],
	"keys.NewShard": keys.NewShard[bson.D, string], "keys.ShardCandidates": keys.ShardCandidates,
	"keys.Targets": keys.Targets[model.Plan], "keys.Text": keys.Text, "keys.Time": keys.Time,

	"schema.As": schema.As[mediumBook], "schema.DocumentFromJSON": schema.DocumentFromJSON,
	"schema.DocumentJSON": schema.DocumentJSON, "schema.NewExpiry": schema.NewExpiry[bson.D, any],
	"schema.NewVersions": schema.NewVersions[reader, string], "schema.NumberOf": schema.NumberOf,
	"schema.NumberRisks": schema.NumberRisks[product, string], "schema.Of": schema.Of[product, string],
	"schema.Upcast": schema.Upcast[readerV1, reader],

	"paths.Absorb": paths.Absorb[treeNode, string, bson.D, string, any], "paths.After": paths.After[string],
	"paths.Before": paths.Before[any], "paths.Between": paths.Between, "paths.Convert": paths.Convert[treeNode, string],
	"paths.ConvertDocument": paths.ConvertDocument[bson.D, string, any, bson.D, string, any],
	"paths.ConvertInto":     paths.ConvertInto[treeNode, string, treeNode, string], "paths.Path": paths.Path,
	"paths.Extract": paths.Extract[bson.D, string, any, treeNode, string], "paths.FirstChild": paths.FirstChild[any],
	"paths.FirstRoot": paths.FirstRoot[string], "paths.LastChild": paths.LastChild[any],
	"paths.LastRoot": paths.LastRoot[string], "paths.NewAncestorArray": paths.NewAncestorArray[treeNode, string],
	"paths.NewChildTree":    paths.NewChildTree[bson.D, any],
	"paths.NewDocumentTree": paths.NewDocumentTree[bson.D, any, bson.D, any],
	"paths.NewForest":       paths.NewForest[treeNode, string], "paths.NewGraph": paths.NewGraph[bson.D, any],
	"paths.NewMaterializedPath": paths.NewMaterializedPath[treeNode, string],
	"paths.NewNestedSet":        paths.NewNestedSet[bson.D, any], "paths.NewParentTree": paths.NewParentTree[bson.D, any],
	"paths.NewProgram": paths.NewProgram[busyHost, string, string, string],
	"paths.NewRollUp":  paths.NewRollUp[float64, bson.D, any], "paths.Number": paths.Number[string],
	"paths.Segments": paths.Segments,

	"migrate.NewAbsorb":      migrate.NewAbsorb[post, string, comment, string],
	"childrefs.New":          childrefs.New[bson.D, any, bson.D, any],
	"dangling.New":           dangling.New[bson.D, any, bson.D, any],
	"migrate.NewExtract":     migrate.NewExtract[post, string, comment, string],
	"migrate.NewInvert":      migrate.NewInvert[publisher, string, ownedBook, int],
	"join.New":               join.New[product, string, sparePart, string],
	"joincollection.New":     joincollection.New[bson.D, any, bson.D, any, bson.D, any],
	"twosided.NewManyToMany": twosided.NewManyToMany[bson.D, any, bson.D, any],
	"ondelete.New":           ondelete.New[bson.D, any],
	"parentref.New":          parentref.New[bson.D, any, bson.D, any],
	"twosided.NewTwoWay":     twosided.NewTwoWay[bson.D, any, bson.D, any],
	"join.Then":              join.Then[product, string, sparePart, string, bson.D],
}

// documentedPanics say why a function or method isn't called with bad input.
var documentedPanics = map[string]string{
	"advise.Advice.Want": "it fails a test, and needs one", "design.Lint.Want": "it fails a test, and needs one",
	"paths.GraphVertex.Send": "a vertex is handed to a program by the run alone",
	"paths.Spread":           "n keys are made, however many that are",
}

// walkedValues are declared techniques, and zero values of what callers can make by hand. Errors hold one each, for
// what wraps nothing is made by nobody.
var walkedValues = []any{
	bookStore, publisherStore, model.StoreWrite{}, hostViews, articleSpecs, lastLines, keyLines, mails, keyMails,
	dailyMails, parcels, keptParcels, parcelViews, polledViews, sheetColumns, sheetRows, copyNames, copyBeside, copyListed,
	tallied, spanned, partNames, partShouts, dwellers, mailers, thingsBy, skillFields, boxMails, skillText, firstTwo,
	newestMails, spreadByID, dayVisitors, everVisitors, likes, contractHistory, shipmentBox, shipmentIn, shipRelay,
	counter.Average{}, indextable.Entry[string]{}, inverted.Query{}, outlier.Count{},
	hitTotals, hits, freeSeats, slots.ShortError{},

	geohash.Box{}, geohash.Cell{}, geohash.Circle{}, geohash.CoordinateError{}, geohash.Key(0), geohash.Point{},
	geohash.Range{}, geohash.SyntaxError{}, keyedPlaces, namedPlaces, geofield.Cluster{},
	geofield.Place[bson.D]{}, geofield.Point{},

	products, anything, lodgerPlaces, lodgerRooms, lodgerHome, mediumTypes, mediumKinds, listKinds, versioned, versionedBy,
	&model.Aggregate[bson.D]{}, model.Aggregation{}, model.ChangeOf[int]{}, model.Check{}, model.Finding{},
	model.ConflictError{}, model.Cost{}, model.DeclarationError{},
	&model.Find[bson.D]{}, model.FindAndModify{}, model.Index{}, model.IndexDiff{}, model.IndexSet{},
	model.Owns, model.Need{}, model.Audit{}, &model.Batch{}, model.Job{}, model.Stage{},
	&model.LeftError{}, model.Lease{}, model.MergeInto{}, &model.Modify[bson.D]{}, model.Observer{}, model.Operation{},
	model.Page[bson.D]{}, model.Parts{}, model.Plan{}, model.Scope{}, model.Query{}, model.ReferenceError{},
	model.Result{}, model.Status(0), model.StepError{Err: errors.New("x")}, model.Stream{},
	model.StreamError{Err: errors.New("x")}, embed.UnknownValue{}, model.ValueError{}, model.Write{},

	advise.NewSurvey(products, parts, advise.SurveySpec{List: "parts"}), advise.NewBudget(products), advise.Choice(0),
	advise.DatabaseSurvey{}, advise.SurveyedRelation{}, advise.Flip{},
	smallPrices, smallPrices.Runner(),
	design.Design{}, design.Layout{}, design.Lint{}, design.Smell{}, design.Price{}, design.Prices{},
	design.Relation{}, design.Stored{}, design.Workload{}, smallWorkload,
	advise.Spread{}, likes.Left, likes.Right, advise.SurveyResult{}, advise.Worst{},

	letterBox, bagBox, bagBox.Days, byPlace, byDevice, placeInDoc, ranged, hashed, keys.Part{},
	keys.Target{},

	expiryEach, expiryArchived, readerVersions, schema.Of(wares, schema.Spec{}), keys.ShardCandidate{}, schema.Number{},
	schema.NumberRisk{}, model.Validation{}, schema.VersionError{}, schema.Violations{{}},

	byArray, byChildren, listedComments, boundComments, keyedComments, nestedComments,
	paths.NewRollUp[float64](nestedOnes, "price", "sums"),
	byParent, byPath, nestedOnes, talks, shouting, &paths.Forest[string]{}, paths.Place[string]{},

	join.Then(joined, join.New(parts, "_id", parts, join.Spec{})),
	uses, keyed, lostParts, untyped, turned, takenOut, takenIn, joined, fitted, tied, wrote, deletesProducts,
	deletesAnything, from, below, owned, fitted.Left, wrote.Left, owned.Right,
	dangling.RepairPolicy(0), ondelete.RestrictError{},
}
