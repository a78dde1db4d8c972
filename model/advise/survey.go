package advise

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// SurveySpec says which relation is surveyed, and how closely. One of Embedded, List and Ref is required: it says how the relation
// is stored now.
type SurveySpec struct {
	Embedded string // the path of the array in the parents that holds the children; the children's collection is then not read
	List     string // the path in the parents of the children's ids, in an array: "parts", "holdings.stockId"
	Ref      string // the path in the children of their parent's id, or of an array of ids: "host"

	// At is the path, within a child that is embedded, of an ObjectID or a date that tells when it was added; by default "_id". Other
	// children tell by their own _id.
	At string

	// Scan has the server read every document and choose among them. By default it may choose before it reads: MongoDB then picks
	// documents here and there, but DocumentDB takes neighbours, whole pages of them, so that intervals don't hold there.
	Scan bool

	// Window is how far back growth is measured from the latest child of all, at least 3 days; by default 90 days. See [Growth].
	Window time.Duration

	Sample     int64   // how many documents of each collection are read; by default 1000. A collection that has no more is read whole
	Confidence float64 // of the intervals that are told for quantiles; by default 0.95
}

// A Survey measures a relation in a live database and fills in what [Choose] asks for: sizes, how many children parents have, how
// fast they become more ([Growth]), how many parents a child has, and which references lead nowhere. It reads a sample of each
// collection by $sample, so that it costs the same on any number of documents unless that scans; and it says how sure it is, if the
// sample is one of documents (SurveySpec.Scan).
//
// A collection doesn't tell how often documents are read, and from where: the application fills in Alone, Shows and the ratios of reads
// of both ends.
//
// Source: rules 3 and 6 ask for figures (seed 004); $sample, $bsonSize:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sample/. Intervals: order statistics,
// https://en.wikipedia.org/wiki/Binomial_distribution.
type Survey struct {
	spec              SurveySpec
	parents, children side
	path              string // of the relation, in the side that stores it
}

// side is a collection of the relation.
type side struct {
	name      string
	estimate  func(context.Context, *mongo.Database) (int64, error)
	all       *model.Query
	aggregate func(mongo.Pipeline) model.Aggregation
}

// count is what the server keeps count of. Where that is none, as it may be after a crash, or of more than a scope shows, it is counted.
func (s side) count(ctx context.Context, db model.DB) (int64, error) {
	if !core.Scoped(db) {
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

// A SurveyDocument is what is read of one document.
type SurveyDocument struct {
	ID    bson.RawValue   `bson:"_id"`
	Bytes int64           `bson:"bytes"` // of the document in BSON
	At    *time.Time      `bson:"at"`    // when it was made, by its ObjectID; else nil
	Items int64           `bson:"items"` // how many it holds, lists or refers to; of ids each once
	Array int64           `bson:"array"` // the array's bytes in BSON, as the field v of a document
	Most  int64           `bson:"most"`  // bytes of its largest element, likewise
	First *time.Time      `bson:"first"` // when its first element was added
	Last  *time.Time      `bson:"last"`
	Links []bson.RawValue `bson:"links"` // the first few ids that it refers to
}

// A SurveyLink is how often a document is referred to.
type SurveyLink struct {
	ID    bson.RawValue `bson:"_id"`
	N     int64         `bson:"n"`
	First *time.Time    `bson:"first"` // when the first of those that refer to it was made, by its ObjectID
	Last  *time.Time    `bson:"last"`

	Early int64 `bson:"early"` // with [Survey.Added]: how many of N came in the first third of the window
	Late  int64 `bson:"late"`  // and in the last
}

// NewSurvey declares the survey of a relation between two collections, by SurveySpec.List or Ref. For children that are embedded,
// children is the parents' collection once more. It panics with a [*model.DeclarationError] when the spec names none or several of
// the paths, or a path that the documents don't have or that isn't what it should be.
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

// mustArray refuses paths through several arrays, and, where a list is needed, through none.
func (s *Survey) mustArray(f core.Field, needed bool) {
	if f.Arrays > 1 || needed && f.Arrays == 0 && !f.Open {
		s.place().Fail("path \""+f.Path+"\" doesn't go through one array", "name the array of the children, or of their ids")
	}
}

// Parents returns what is measured of a sample of the parents; of all of them if whole is true.
//
// Cost: one command, and one for each further batch. Up to a twentieth of a large collection is read by random access; more, or
// less than a hundred documents, and with SurveySpec.Scan, by reading the collection
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/sample/).
func (s *Survey) Parents(whole bool) *model.Aggregate[SurveyDocument] {
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

// Children returns what is measured of a sample of the children; of all of them if whole is true. Embedded children are measured
// with their parents, and refused here.
//
// Cost: as [Survey.Parents].
func (s *Survey) Children(whole bool) *model.Aggregate[SurveyDocument] {
	fields := bson.D{{Key: "bytes", Value: size("$$ROOT")}, {Key: "at", Value: timeOf("$_id")}}
	if s.spec.Ref != "" {
		fields = append(fields, bson.E{Key: "items", Value: bson.D{{Key: "$size", Value: s.references()}}}, linksField(referred("$"+s.path)))
	}
	a := s.measured(s.children, whole, fields)
	if s.spec.Embedded != "" {
		a.Err = &model.ValueError{Collection: s.parents.name, Field: s.path, Reason: "can't be measured: the children are embedded; use Parents"}
	}
	return a
}

func (s *Survey) measured(of side, whole bool, fields bson.D) *model.Aggregate[SurveyDocument] {
	var p mongo.Pipeline
	if !whole && s.spec.Scan {
		p = append(p, bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$exists", Value: true}}}}}})
	}
	if !whole {
		p = append(p, bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: s.spec.Sample}}}})
	}
	a := &model.Aggregate[SurveyDocument]{Aggregation: of.aggregate(append(p, bson.D{{Key: "$project", Value: fields}}))}
	a.Options.BatchSize = replies
	return a
}

// Links returns how often documents are referred to, by their ids: with SurveySpec.Ref parents, which is how many children they
// have; with List children, which is how many parents list them. A document that refers to another several times is one. Those to
// which nothing refers are not among the results.
//
// Cost: one command; an index on the path serves it.
func (s *Survey) Links(ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
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
	a := &model.Aggregate[SurveyLink]{Aggregation: from.aggregate(p)}
	a.Options.BatchSize = replies
	if s.spec.Embedded != "" {
		a.Err = &model.ValueError{Collection: s.parents.name, Field: s.path, Reason: "can't be measured: nothing refers to embedded children"}
	}
	return a
}

// Added returns how many children came to parents in the window that ends then, by their ids: in all, and in its first and
// last third. Those to which none came are not among the results.
//
// Cost: one command. With SurveySpec.Ref it reads the parents' children, served by an index on the path; else the parents,
// by _id.
func (s *Survey) Added(until time.Time, ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
	in := bson.D{{Key: "$in", Value: values(ids)}}
	since := func(third int) bson.DateTime {
		return bson.NewDateTimeFromTime(until.Add(-s.spec.Window + time.Duration(third)*(s.spec.Window/3)))
	}
	inWindow := bson.D{{Key: "$match", Value: bson.D{{Key: "t", Value: bson.D{{Key: "$gte", Value: since(0)}}}}}}
	a := new(model.Aggregate[SurveyLink])
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

// times are when the children were added that a parent holds or lists.
func (s *Survey) times() bson.D {
	if s.spec.Embedded != "" {
		return each(listed("$"+s.path+"."+s.spec.At), timeOf("$$this"))
	}
	return each(s.references(), timeOf("$$this"))
}

// references are the ids that a document lists or refers to, each once.
func (s *Survey) references() bson.D {
	list := referred("$" + s.path)
	if s.spec.List != "" {
		list = listed("$" + s.path)
	}
	return bson.D{{Key: "$setUnion", Value: bson.A{list}}}
}

// grouped counts by an id what came in a window, and in the first and the last third of it, which end and begin then.
func grouped(id string, middle, late bson.DateTime) bson.D {
	count := func(op string, t bson.DateTime) bson.D {
		return bson.D{{Key: "$sum", Value: bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: op, Value: bson.A{"$t", t}}}, int64(1), int64(0)}}}}}
	}
	return bson.D{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: id}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}},
		{Key: "early", Value: count("$lt", middle)}, {Key: "late", Value: count("$gte", late)},
	}}}
}

// Existing returns which of the ids that were referred to are there: with SurveySpec.List among the children, with Ref among the
// parents.
//
// Cost: one command, served by the _id index.
func (s *Survey) Existing(ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
	to := s.parents
	if s.spec.List != "" {
		to = s.children
	}
	a := &model.Aggregate[SurveyLink]{Aggregation: to.aggregate(mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values(ids)}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$literal", Value: int64(1)}}}}}},
	})}
	a.Index, a.Options.BatchSize = "_id_", replies
	if s.spec.Embedded != "" {
		a.Err = &model.ValueError{Collection: s.parents.name, Field: s.path, Reason: "can't be measured: nothing refers to embedded children"}
	}
	return a
}

func values(ids []bson.RawValue) bson.A {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// batch is how many ids are asked for at once, and replies how many results come in one batch: one more than there are, so that
// the server sees the end of them.
const batch, replies = 1000, 1001

// linksKept is how many references of one document are looked up.
const linksKept = 10

// linksField are the first few of a list.
func linksField(list any) bson.E {
	return bson.E{Key: "links", Value: bson.D{{Key: "$slice", Value: bson.A{list, linksKept}}}}
}

// listed is the array at a path, or an empty one.
func listed(path string) bson.D {
	return bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$isArray", Value: path}}, path, bson.A{}}}}
}

// referred is the list of what a reference holds: one id, several, or none.
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

// timeOf is when an ObjectID was made, a date itself, and null for anything else.
func timeOf(v string) bson.D {
	return bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$in", Value: bson.A{bson.D{{Key: "$type", Value: v}}, bson.A{"objectId", "date"}}}},
		bson.D{{Key: "$toDate", Value: v}}, nil,
	}}}
}

func each(list, in any) bson.D {
	return bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: list}, {Key: "in", Value: in}}}}
}

// countFields count a list, and tell the first and last of some times.
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
