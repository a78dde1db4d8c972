package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A SurveyResult is the result of a [Survey]. Before you pass Relation to [Choose], set
// the fields that a survey can't measure, such as Alone and Shows of each [End].
type SurveyResult struct {
	Relation Relation  // the relation, with only the measured fields
	Measured []Measure // how each field of Relation was measured

	Parents, Children Share  // how many documents were read, of how many
	PerParent         Spread // number of children per parent
	PerChild          Spread // number of parents per child; empty for embedded children
	ParentBytes       Spread // parent sizes, without embedded children
	ChildBytes        Spread // child sizes (if embedded, each parent's largest child)

	Growth  Growth  // growth of the fastest-growing parent
	Daily   float64 // children added per day to all parents; 0 if unknown
	Missing Share   // unset references, and references to missing documents
}

// A Measure is the value that a survey measured for one field of a [Relation].
type Measure struct {
	Field string // path of the field, as in [Change]
	Value any    // the measured value, an int64 or float64
	How   string // how it was measured: "p99 of all 1,000 read"
}

// A Share is N of Of: how many documents were read of all, or how many values have a property.
type Share struct {
	N, Of int64
}

// text returns "3 of 1,000".
func (s Share) text() string { return countText(s.N) + " of " + countText(s.Of) }

// String returns the result as text.
func (r SurveyResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s; %s: %s\n", r.Relation.Parent.Name, r.Parents.sampledText(),
		r.Relation.Child.Name, r.Children.sampledText())
	line := func(name, text string) { fmt.Fprintf(&b, "  %s: %s\n", name, text) }
	line("children of a parent", r.PerParent.text())
	if r.PerChild.N > 0 {
		line("parents of a child", r.PerChild.text())
	}
	line("bytes of a parent", r.ParentBytes.text())
	line("bytes of a child", r.ChildBytes.text())
	growth := r.Growth.text()
	if r.Daily > 0 {
		growth = ratioText(r.Daily) + " in all, " + growth
	}
	line("children added a day", growth)
	if r.Missing.Of > 0 {
		line("references that lead nowhere", r.Missing.text())
	}
	for _, m := range r.Measured {
		line(m.Field+" "+valueText(m.Value), m.How)
	}
	return b.String()
}

// surveying is a run.
type surveying struct {
	*Survey
	ctx    context.Context
	db     model.DB
	result SurveyResult

	parentDocs, childDocs []surveyDocument
	perParent             []family // of each parent read
	perChild              []int64
}

// family is a parent's children.
type family struct {
	id          bson.RawValue
	n           int64
	first, last *time.Time
}

// Run measures the relation. An empty collection gives a [*model.ValueError]. Run can
// count concurrent writes twice or not at all.
//
// Cost: up to two counts and two samples. More commands find related documents, by up to
// 1,000 ids each. If the path SurveySpec.Ref or SurveySpec.List has no index, a command
// can read a whole collection.
func (s *Survey) Run(ctx context.Context, db model.DB) (SurveyResult, error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return SurveyResult{}, err
	}
	r := &surveying{Survey: s, ctx: ctx, db: db}
	steps := []func() error{r.readParents, r.readChildren, r.readLinks, r.readMissing, r.readGrowth}
	if s.spec.Embedded != "" {
		steps = []func() error{r.readParents, r.readEmbedded, r.readGrowth}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return SurveyResult{}, err
		}
	}
	r.conclude()
	return r.result, nil
}

// read samples one end, each document once, because $sample may repeat a document.
func (r *surveying) read(
	of side, sample func(whole bool) *model.Aggregate[surveyDocument],
) (docs []surveyDocument, s Share, err error) {
	total, err := of.count(r.ctx, r.db)
	if err != nil {
		return nil, s, err
	}
	if total == 0 {
		return nil, s, &model.ValueError{
			Collection: of.name, Field: "_id",
			Reason: "can't be measured: the collection has no documents",
		}
	}
	seen := map[string]bool{}
	for doc, err := range sample(total <= r.spec.Sample).Each(r.ctx, r.db) {
		if err != nil {
			return nil, s, err
		}
		if key := bsonval.Key(doc.ID); !seen[key] {
			seen[key] = true
			docs = append(docs, doc)
		}
	}
	n := int64(len(docs))
	return docs, Share{n, max(n, total)}, nil
}

func (r *surveying) readParents() (err error) {
	r.parentDocs, r.result.Parents, err = r.read(r.parents, r.measureParents)
	return err
}

func (r *surveying) readChildren() (err error) {
	r.childDocs, r.result.Children, err = r.read(r.children, r.measureChildren)
	return err
}

// readEmbedded takes the children from their parents.
func (r *surveying) readEmbedded() error {
	var sampled int64
	for _, d := range r.parentDocs {
		r.perParent = append(r.perParent, family{d.ID, d.Items, d.First, d.Last})
		sampled += d.Items
	}
	p := r.result.Parents
	r.result.Children = Share{sampled, int64(float64(sampled) / float64(p.N) * float64(p.Of))}
	return nil
}

// readLinks counts the children of each parent, and the parents of each child.
func (r *surveying) readLinks() error {
	counted, to := r.parentDocs, r.childDocs // the documents that are referred to
	if r.spec.List != "" {
		counted, to = r.childDocs, r.parentDocs
	}
	links := map[string]surveyLink{}
	ids := make([]bson.RawValue, len(counted))
	for i, d := range counted {
		ids[i] = d.ID
	}
	err := inThousands(ids, func(some []bson.RawValue) error {
		return r.collect(r.countLinks(some...), links)
	})
	if err != nil {
		return err
	}
	if r.spec.List != "" {
		for _, d := range to {
			r.perParent = append(r.perParent, family{d.ID, d.Items, d.First, d.Last})
		}
		for _, d := range counted {
			if n := links[bsonval.Key(d.ID)].N; n > 0 { // an unlisted child says nothing about the number of its parents
				r.perChild = append(r.perChild, n)
			}
		}
		return nil
	}
	for _, d := range counted {
		l := links[bsonval.Key(d.ID)]
		r.perParent = append(r.perParent, family{d.ID, l.N, l.First, l.Last})
	}
	for _, d := range to {
		if d.Items > 0 {
			r.perChild = append(r.perChild, d.Items)
		}
	}
	return nil
}

func (r *surveying) collect(a *model.Aggregate[surveyLink], into map[string]surveyLink) error {
	for l, err := range a.Each(r.ctx, r.db) {
		if err != nil {
			return err
		}
		into[bsonval.Key(l.ID)] = l
	}
	return nil
}

// readMissing looks up the references of the sampled documents.
func (r *surveying) readMissing() error {
	from := r.childDocs
	if r.spec.List != "" {
		from = r.parentDocs
	}
	var ids []bson.RawValue
	asked, found := map[string]bool{}, map[string]surveyLink{}
	for _, d := range from {
		for _, id := range d.Links {
			if key := bsonval.Key(id); !asked[key] && canBeID(id) {
				asked[key] = true
				ids = append(ids, id)
			}
		}
	}
	if err := inThousands(ids, func(some []bson.RawValue) error {
		return r.collect(r.findExisting(some...), found)
	}); err != nil {
		return err
	}
	for _, d := range from {
		if len(d.Links) == 0 && r.spec.Ref != "" {
			r.result.Missing.N++
			r.result.Missing.Of++
		}
		for _, id := range d.Links {
			r.result.Missing.Of++
			if _, ok := found[bsonval.Key(id)]; !ok {
				r.result.Missing.N++
			}
		}
	}
	return nil
}

// canBeID reports whether v can be an _id. A query operator among references can't, and
// isn't sent.
func canBeID(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeRegex, bson.TypeArray, bson.TypeUndefined:
		return false
	case bson.TypeEmbeddedDocument:
		fields, err := bson.Raw(v.Value).Elements()
		return err == nil &&
			!slices.ContainsFunc(fields, func(e bson.RawElement) bool { return strings.HasPrefix(e.Key(), "$") })
	}
	return true
}

func inThousands(ids []bson.RawValue, f func([]bson.RawValue) error) error {
	for len(ids) > 0 {
		n := min(batch, len(ids))
		if err := f(ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
