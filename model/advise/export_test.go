package advise

import (
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decide is Choose's choice and its parent, without reasons and flips; none for a relation that is refused.
func Decide(r Relation) (Choice, string) {
	f, err := r.facts()
	if err != nil {
		return 0, ""
	}
	d := f.decide(false)
	return d.choice, d.Parent.Name
}

// Assumed is what Choose assumes.
func Assumed(r Relation) []Assumption {
	f, err := r.facts()
	if err != nil {
		return nil
	}
	return f.assumed
}

// Advised is Choose's advice without flips.
func Advised(r Relation) Advice {
	f, err := r.facts()
	if err != nil {
		return Advice{Err: err}
	}
	d := f.decide(true)
	return Advice{Relation: r, Choice: d.choice, Parent: d.Parent.Name, Reasons: d.reasons, Uses: d.uses()}
}

// At points at a field.
func (r *Relation) At(field string) any { return r.at(field) }

// ArrayBytes is the size of an array of n elements.
func ArrayBytes(n, each int64) int64 { return arrayBytes(n, each) }

// Size is the size in BSON of a document or an array, as the driver stores it by default.
func Size(v any) (int64, error) { return sizeOf(&core.Docs{}, v) }

// GrowthOf concludes from what parents gained in the thirds of a window.
func GrowthOf(gained [][3]int64, days, confidence float64) Growth {
	return growthOf(gained, days, confidence)
}

// SurveyLink is what a pipeline of a survey counts for one document.
type SurveyLink = surveyLink

// MeasureParents is the pipeline by which a survey measures parents.
func (s *Survey) MeasureParents(whole bool) *model.Aggregate[surveyDocument] {
	return s.measureParents(whole)
}

// MeasureChildren is the pipeline by which a survey measures children.
func (s *Survey) MeasureChildren(whole bool) *model.Aggregate[surveyDocument] {
	return s.measureChildren(whole)
}

// CountLinks is the pipeline by which a survey counts references to documents.
func (s *Survey) CountLinks(ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
	return s.countLinks(ids...)
}

// CountAdded is the pipeline by which a survey counts the children that parents gained.
func (s *Survey) CountAdded(end time.Time, ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
	return s.countAdded(end, ids...)
}

// FindExisting is the pipeline by which a survey finds references to missing documents.
func (s *Survey) FindExisting(ids ...bson.RawValue) *model.Aggregate[SurveyLink] {
	return s.findExisting(ids...)
}
