package advise

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// SurveySpec says how the relation is stored now. Set exactly one of Embedded, List and
// Ref.
type SurveySpec struct {
	Embedded string // path to the array of children in a parent
	List     string // path to children's ids in a parent, such as "holdings.stockId"
	Ref      string // path in a child to its parent's id or parents' ids, such as "host"

	// At is the path to an embedded child's ObjectID or creation date. "" means "_id".
	At string

	// Scan makes the server read every document for a sample. DocumentDB needs Scan.
	Scan bool

	// Window is the length of the period for [Growth]. The minimum is 3 days. 0 means 90
	// days. The period ends with the newest child.
	Window time.Duration

	Sample     int64   // documents to read from each collection; 0 means 1000
	Confidence float64 // level of the confidence intervals; 0 means 0.95
}

// A Survey measures a relation in a live database, as input for [Choose]. It finds sizes,
// children per parent, growth, parents per child, and references to missing documents.
//
// Source: rules 3 and 6 of "6 Rules of Thumb for MongoDB Schema Design";
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sample/; for
// intervals, https://en.wikipedia.org/wiki/Binomial_distribution.
type Survey struct {
	spec              SurveySpec
	parents, children side
	path              string // of the relation, in the end that stores it
}

// side is a collection of the relation.
type side struct {
	name      string
	estimate  func(context.Context, *mongo.Database) (int64, error)
	all       *model.Query
	aggregate func(mongo.Pipeline) model.Aggregation
}

// count returns the server's own count. If it is missing, as after a crash, or includes
// documents outside the scope, it counts.
func (s side) count(ctx context.Context, db model.DB) (int64, error) {
	if !core.IsScoped(db) {
		if n, err := s.estimate(ctx, core.Database(db)); err != nil || n > 0 {
			return n, err
		}
	}
	return s.all.Count(ctx, db)
}

func sideOf[D, K any](c *model.Collection[D, K]) side {
	return side{
		name: c.Name(),
		estimate: func(ctx context.Context, db *mongo.Database) (int64, error) {
			return c.Of(db).EstimatedDocumentCount(ctx)
		},
		all:       &c.Find(nil).Query,
		aggregate: func(p mongo.Pipeline) model.Aggregation { return c.Unchecked().Aggregate(p).Aggregation },
	}
}

// A surveyDocument contains the measurements of one document.
type surveyDocument struct {
	ID    bson.RawValue   `bson:"_id"`
	Bytes int64           `bson:"bytes"` // BSON size of the document
	At    *time.Time      `bson:"at"`    // time of the document's _id (an ObjectID or date), or nil
	Items int64           `bson:"items"` // number of embedded children, or of distinct ids referred to
	Array int64           `bson:"array"` // BSON size of the embedded children's array, plus 8 bytes
	Most  int64           `bson:"most"`  // BSON size of the largest embedded child, plus 8 bytes
	First *time.Time      `bson:"first"` // time of the oldest child in the parent's array, or nil
	Last  *time.Time      `bson:"last"`  // time of the newest child in the parent's array, or nil
	Links []bson.RawValue `bson:"links"` // the first 10 ids referred to
}

// A surveyLink counts references to one document (countLinks), or new children of one
// parent (countAdded). From findExisting, N is 1.
type surveyLink struct {
	ID    bson.RawValue `bson:"_id"`
	N     int64         `bson:"n"`
	First *time.Time    `bson:"first"` // set by Links: creation time of the oldest referring document
	Last  *time.Time    `bson:"last"`  // set by Links: creation time of the newest referring document

	Early int64 `bson:"early"` // set by Added: new children in SurveySpec.Window's first third
	Late  int64 `bson:"late"`  // set by Added: new children in SurveySpec.Window's last third, or later
}

// NewSurvey declares the survey of a relation between two collections. For embedded
// children, pass the parents' collection twice. A spec that is invalid, or
// doesn't fit the documents, panics with a [*model.DeclarationError].
func NewSurvey[P, PK, C, CK any](parents *model.Collection[P, PK], children *model.Collection[C, CK], spec SurveySpec) *Survey {
	s := &Survey{spec: spec, parents: sideOf(parents), children: sideOf(children)}
	switch {
	case spec.Embedded != "" && spec.List == "" && spec.Ref == "":
		s.mustArray(parents.Docs().MustField(spec.Embedded), true)
		if s.path = spec.Embedded; spec.At == "" {
			s.spec.At = "_id"
		} else if err := core.CheckPath(spec.At); err != nil {
			s.place().Fail(err.Error(), "name a path in the elements")
		}
	case spec.List != "" && spec.Embedded == "" && spec.Ref == "":
		s.mustArray(parents.Docs().MustField(spec.List), true)
		s.path = spec.List
	case spec.Ref != "" && spec.Embedded == "" && spec.List == "":
		f := children.Docs().MustField(spec.Ref)
		s.mustArray(f, false)
		s.path = spec.Ref
	default:
		s.place().Fail("the spec must name exactly one of Embedded, List and Ref", "name the path that stores the relation")
	}
	switch {
	case spec.At != "" && spec.Embedded == "":
		s.place().Fail("At is only for embedded children", "leave At out: the _ids of other children tell their time")
	case spec.Window != 0 && spec.Window < 3*day:
		s.place().Fail("Window is out of range", "give 3 days or more, or 0 for 90")
	case spec.Sample < 0 || spec.Sample > 1e6:
		s.place().Fail("Sample is out of range", "give a number from 1 to 1,000,000, or 0 for 1000")
	case !(spec.Confidence >= 0 && spec.Confidence < 1) || spec.Confidence != 0 && spec.Confidence < 0.5:
		s.place().Fail("Confidence is out of range", "give a share from 0.5 to below 1, or 0 for 0.95")
	}
	if s.spec.Window == 0 {
		s.spec.Window = defaultWindow
	}
	if s.spec.Sample == 0 {
		s.spec.Sample = 1000
	}
	if s.spec.Confidence == 0 {
		s.spec.Confidence = 0.95
	}
	return s
}

func (s *Survey) place() core.Place {
	return core.Place("NewSurvey(" + s.parents.name + ", " + s.children.name + ")")
}

// mustArray refuses paths through several arrays, and, if a list is needed, through none.
func (s *Survey) mustArray(f core.Field, needed bool) {
	if f.Arrays > 1 || needed && f.Arrays == 0 && !f.Untyped {
		s.place().Fail("path \""+f.Path+"\" doesn't go through one array", "name the array of the children, or of their ids")
	}
}

// measureParents returns the pipeline that measures a sample of the parents, or all of them
// if whole. The server reads the whole collection if SurveySpec.Scan is set, or if the
// sample is 5 % of the collection or more.
func (s *Survey) measureParents(whole bool) *model.Aggregate[surveyDocument] {
	fields := bson.D{{Key: "bytes", Value: size("$$ROOT")}, {Key: "at", Value: timeOf("$_id")}}
	switch {
	case s.spec.Embedded != "":
		fields = append(fields, countFields(listed("$"+s.path), s.times())...)
		fields = append(fields, sizeFields("$"+s.path)...)
	case s.spec.List != "":
		fields = append(fields, countFields(s.references(), each(listed("$"+s.path), timeOf("$$this")))...)
		fields = append(fields, linksField(listed("$"+s.path)))
	}
	return s.measured(s.parents, whole, fields)
}

// measureChildren is measureParents for children that aren't embedded.
func (s *Survey) measureChildren(whole bool) *model.Aggregate[surveyDocument] {
	fields := bson.D{{Key: "bytes", Value: size("$$ROOT")}, {Key: "at", Value: timeOf("$_id")}}
	if s.spec.Ref != "" {
		fields = append(fields, bson.E{Key: "items", Value: bson.D{{Key: "$size", Value: s.references()}}}, linksField(referred("$"+s.path)))
	}
	a := s.measured(s.children, whole, fields)
	return a
}

func (s *Survey) measured(of side, whole bool, fields bson.D) *model.Aggregate[surveyDocument] {
	var p mongo.Pipeline
	if !whole && s.spec.Scan {
		p = append(p, bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$exists", Value: true}}}}}})
	}
	if !whole {
		p = append(p, bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: s.spec.Sample}}}})
	}
	p = append(p, bson.D{{Key: "$project", Value: fields}})
	a := &model.Aggregate[surveyDocument]{Aggregation: of.aggregate(p)}
	a.Options.BatchSize = replies
	return a
}

// countLinks returns the pipeline that counts, for each id, the documents that refer to
// the document with this id.
func (s *Survey) countLinks(ids ...bson.RawValue) *model.Aggregate[surveyLink] {
	in := bson.D{{Key: "$in", Value: values(ids)}}
	from := s.children
	if s.spec.List != "" {
		from = s.parents
	}
	p := mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: s.path, Value: in}}}},
		{{Key: "$project", Value: bson.D{{Key: "v", Value: s.references()}}}},
		{{Key: "$unwind", Value: "$v"}},
		{{Key: "$match", Value: bson.D{{Key: "v", Value: in}}}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$v"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}},
			{Key: "first", Value: bson.D{{Key: "$min", Value: timeOf("$_id")}}},
			{Key: "last", Value: bson.D{{Key: "$max", Value: timeOf("$_id")}}},
		}}},
	}
	a := &model.Aggregate[surveyLink]{Aggregation: from.aggregate(p)}
	a.Options.BatchSize = replies
	return a
}

// countAdded returns the pipeline that counts new children of each parent in ids. New
// children came in the SurveySpec.Window that ends at windowEnd.
func (s *Survey) countAdded(windowEnd time.Time, ids ...bson.RawValue) *model.Aggregate[surveyLink] {
	in := bson.D{{Key: "$in", Value: values(ids)}}
	since := func(third int) bson.DateTime {
		return bson.NewDateTimeFromTime(windowEnd.Add(-s.spec.Window + time.Duration(third)*(s.spec.Window/3)))
	}
	inWindow := bson.D{{Key: "$match", Value: bson.D{{Key: "t", Value: bson.D{{Key: "$gte", Value: since(0)}}}}}}
	a := new(model.Aggregate[surveyLink])
	var p mongo.Pipeline
	if s.spec.Ref != "" {
		p = mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: s.path, Value: in}}}},
			{{Key: "$project", Value: bson.D{{Key: "t", Value: timeOf("$_id")}, {Key: "v", Value: s.references()}}}},
			inWindow,
			{{Key: "$unwind", Value: "$v"}},
			{{Key: "$match", Value: bson.D{{Key: "v", Value: in}}}},
		}
		a.Aggregation = s.children.aggregate(append(p, grouped("$v", since(1), since(2))))
	} else {
		p = mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: in}}}},
			{{Key: "$project", Value: bson.D{{Key: "t", Value: s.times()}}}},
			{{Key: "$unwind", Value: "$t"}},
			inWindow,
		}
		a.Aggregation = s.parents.aggregate(append(p, grouped("$_id", since(1), since(2))))
		a.Index = "_id_"
	}
	a.Options.BatchSize = replies
	return a
}

// times are the times when a parent's children were added.
func (s *Survey) times() bson.D {
	if s.spec.Embedded != "" {
		return each(listed("$"+s.path+"."+s.spec.At), timeOf("$$this"))
	}
	return each(s.references(), timeOf("$$this"))
}

// references are the ids in a document, each once.
func (s *Survey) references() bson.D {
	list := referred("$" + s.path)
	if s.spec.List != "" {
		list = listed("$" + s.path)
	}
	return bson.D{{Key: "$setUnion", Value: bson.A{list}}}
}

// grouped counts, by an id, the children in a window, and in its first third, which ends
// at middle, and its last third, which begins at late.
func grouped(id string, middle, late bson.DateTime) bson.D {
	count := func(op string, t bson.DateTime) bson.D {
		return bson.D{{Key: "$sum", Value: bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: op, Value: bson.A{"$t", t}}}, int64(1), int64(0)}}}}}
	}
	return bson.D{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: id}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}},
		{Key: "early", Value: count("$lt", middle)}, {Key: "late", Value: count("$gte", late)},
	}}}
}

// findExisting returns the pipeline that finds which of the given ids exist: children's
// _ids with SurveySpec.List, parents' _ids with SurveySpec.Ref.
func (s *Survey) findExisting(ids ...bson.RawValue) *model.Aggregate[surveyLink] {
	to := s.parents
	if s.spec.List != "" {
		to = s.children
	}
	a := &model.Aggregate[surveyLink]{Aggregation: to.aggregate(mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values(ids)}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$literal", Value: int64(1)}}}}}},
	})}
	a.Index, a.Options.BatchSize = "_id_", replies
	return a
}

func values(ids []bson.RawValue) bson.A {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// batch is the number of ids in one query. replies is the number of results in a batch:
// one more, so that the server sees the end.
const batch, replies = 1000, 1001

// linksKept is the number of references of one document to look up.
const linksKept = 10

// linksField returns the first few of a list.
func linksField(list any) bson.E {
	return bson.E{Key: "links", Value: bson.D{{Key: "$slice", Value: bson.A{list, linksKept}}}}
}

// listed is the array at a path, or an empty one.
func listed(path string) bson.D {
	return bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$isArray", Value: path}}, path, bson.A{}}}}
}

// referred is a reference's ids as a list: one, several, or none.
func referred(path string) bson.D {
	return bson.D{{Key: "$switch", Value: bson.D{
		{Key: "branches", Value: bson.A{
			bson.D{{Key: "case", Value: bson.D{{Key: "$isArray", Value: path}}}, {Key: "then", Value: path}},
			bson.D{{Key: "case", Value: bson.D{{Key: "$gt", Value: bson.A{path, nil}}}}, {Key: "then", Value: bson.A{path}}},
		}},
		{Key: "default", Value: bson.A{}},
	}}}
}

func size(v any) bson.D { return bson.D{{Key: "$bsonSize", Value: v}} }

// timeOf is the creation time of an ObjectID, or the date itself; null for other values.
func timeOf(v string) bson.D {
	return bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$in", Value: bson.A{bson.D{{Key: "$type", Value: v}}, bson.A{"objectId", "date"}}}},
		bson.D{{Key: "$toDate", Value: v}}, nil,
	}}}
}

func each(list, in any) bson.D {
	return bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: list}, {Key: "in", Value: in}}}}
}

// countFields count a list, and give the first and last time.
func countFields(list, times bson.D) bson.D {
	return bson.D{
		{Key: "items", Value: bson.D{{Key: "$size", Value: list}}},
		{Key: "first", Value: bson.D{{Key: "$min", Value: times}}},
		{Key: "last", Value: bson.D{{Key: "$max", Value: times}}},
	}
}

// sizeFields measure the array at a path, and its largest element.
func sizeFields(path string) bson.D {
	return bson.D{
		{Key: "array", Value: size(bson.D{{Key: "v", Value: listed(path)}})},
		{Key: "most", Value: bson.D{{Key: "$max", Value: each(listed(path), size(bson.D{{Key: "v", Value: "$$this"}}))}}},
	}
}
