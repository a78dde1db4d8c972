package copies

// This file has the checks and their repair. A repair compares with the values that the
// check found, so that it never overwrites a copy that has changed since.

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the check of different copies, and with KeyPath the check of copies
// without a source.
func (c *untypedCopy) listChecks() []model.Check {
	var paths []string
	for _, f := range c.spec.Fields {
		paths = append(paths, f.To)
	}
	of := fmt.Sprintf("%s.%s: copies of ", c.to.Name(), strings.Join(paths, ", "))
	differ := model.Check{
		Name: of + c.docs.Name() + " that differ", Collection: c.to.Name(),
		Rule:     fmt.Sprintf("each copy has the values of its document of %s", c.docs.Name()),
		Pipeline: c.findDrift(), Tell: found.DescribeRows(drift.describeFinding),
	}
	differ.Mend = found.MendRows(differ.Name, c.to.Name(), c.planRepair)
	if c.key == "" {
		return []model.Check{differ}
	}
	return []model.Check{differ, {
		Name: of + "missing " + c.docs.Name(), Collection: c.to.Name(),
		Rule:     fmt.Sprintf("each copy's document of %s exists", c.docs.Name()),
		Pipeline: c.findGoneSources(), Tell: found.DescribeRows(goneCopy.describeFinding),
	}}
}

// A drift is a copy that differs from its source.
type drift struct {
	Doc    bson.RawValue `bson:"doc"`   // the _id of the document that holds the copy
	Source bson.RawValue `bson:"src"`   // the _id of the source
	Ahead  bool          `bson:"ahead"` // the copy's version is beyond the source's
	// The copied fields, nested as in the document or in the array's element.
	Found         bson.Raw      `bson:"found"`
	Want          bson.Raw      `bson:"want"` // the same by the source
	Version       bson.RawValue `bson:"v"`    // the copy's; of type 0 if it has none
	SourceVersion bson.RawValue `bson:"wv"`   // the source's
}

// describeFinding shows the shortened values, and also the versions if the copy's is
// newer.
func (d drift) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.Doc,
		fmt.Sprintf("copies %s from %s, which has %s", commands.Shorten(model.Shell(d.Found)), model.Shell(d.Source),
			commands.Shorten(model.Shell(d.Want)))
	if d.Ahead {
		f.Problem += fmt.Sprintf(": the copy's version %s is newer than the source's, %s", model.Shell(d.Version),
			model.Shell(d.SourceVersion))
	}
}

// A goneCopy is a copy whose source is missing.
type goneCopy struct {
	Doc    bson.RawValue `bson:"doc"`
	Source bson.RawValue `bson:"src"`
	Found  bson.Raw      `bson:"found"`
}

func (d goneCopy) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.Doc,
		fmt.Sprintf("copies %s from %s, which doesn't exist",
			commands.Shorten(model.Shell(d.Found)), model.Shell(d.Source))
}

// pairWithSources returns the stages that give a row for each copy whose source exists.
// doc is the document's _id, c the element or (without arrays) the document, and src the
// source.
func (c *untypedCopy) pairWithSources() mongo.Pipeline {
	if c.key == "" {
		return append(c.unwindCopies(), mql.Lookup(c.docs.Name(), "doc", c.spec.Listed, "src"), mql.Unwind("$src"))
	}
	return append(c.unwindCopies(), mql.Lookup(c.docs.Name(), "c."+c.key, "_id", "src"), mql.Unwind("$src"))
}

// unwindCopies returns the stages that give a row for each copy, without its source.
func (c *untypedCopy) unwindCopies() mongo.Pipeline {
	at := "$$ROOT"
	if len(c.arrays) > 0 {
		at = "$" + c.arrays[0]
	}
	p := mongo.Pipeline{mql.Project(mql.E("_id", 0), mql.E("doc", "$_id"), mql.E("c", at))}
	p = append(p, c.unwindArrays("c")...)
	if c.key != "" {
		p = append(p, mql.Match(mql.E("c."+c.key, bson.D{{Key: "$ne", Value: nil}})))
	}
	return p
}

// unwindArrays returns the stages that replace a field, which contains the outermost
// array, by each element of the innermost one.
func (c *untypedCopy) unwindArrays(field string) (p mongo.Pipeline) {
	for i := range c.arrays {
		if i > 0 {
			p = append(p, mql.Set(mql.E(field, "$"+field+"."+c.arrays[i])))
		}
		p = append(p, mql.Unwind("$"+field))
	}
	return p
}

// nestFields returns an expression of the copied fields, nested as in a copy. where
// returns the expression of one field.
func (c *untypedCopy) nestFields(where func(Field) string) bson.D {
	paths, from := make([]string, len(c.fields)), map[string]string{}
	for i, f := range c.fields {
		paths[i], from[f.To] = f.To, where(f)
	}
	return stored.NestFields(paths, func(path string) (any, bool) { return from[path], true })
}

// findDrift returns the stages that find different copies, and copies with a newer
// version than the source.
func (c *untypedCopy) findDrift() mongo.Pipeline {
	row := bson.D{
		{Key: "doc", Value: 1}, {Key: "src", Value: "$src._id"},
		{Key: "found", Value: c.nestFields(func(f Field) string { return "$c." + f.To })},
		{Key: "want", Value: c.nestFields(func(f Field) string { return "$src." + f.From })},
	}
	if c.key != "" {
		row[1].Value = "$c." + c.key
	}
	wrong, ahead := mql.Op("$ne", "$found", "$want"), any(false)
	if c.version != "" {
		// A missing version counts as 0 (see readVersion) if no version is a time. Null
		// is below every value otherwise.
		none := any(nil)
		if c.counts && !c.times {
			none = int64(0)
		}
		row = append(row, bson.E{Key: "v", Value: "$c." + c.version}, bson.E{
			Key: "wv", Value: mql.IfNull("$src."+c.spec.Version, none),
		})
		wrong, ahead = mql.Op("$or", "$ahead", wrong), mql.Op("$gt", "$v", "$wv")
	}
	return append(c.pairWithSources(),
		mql.Project(row...),
		mql.Set(mql.E("ahead", ahead)),
		mql.Match(mql.E("$expr", wrong)),
		mql.Sort(mql.E("doc", 1), mql.E("src", 1)),
	)
}

// findGoneSources returns the stages that find copies without a source.
func (c *untypedCopy) findGoneSources() mongo.Pipeline {
	return append(c.unwindCopies(),
		mql.Lookup(c.docs.Name(), "c."+c.key, "_id", "src"),
		mql.Match(mql.E("src", bson.D{{Key: "$size", Value: 0}})),
		mql.Project(mql.E("doc", 1), mql.E("src", "$c."+c.key),
			mql.E("found", c.nestFields(func(f Field) string { return "$c." + f.To }))),
		mql.Sort(mql.E("doc", 1), mql.E("src", 1)),
	)
}

// planRepair corrects different copies. It sets only the copied fields: elements that
// were pushed meanwhile, and other fields, stay.
func (c *untypedCopy) planRepair(rows []drift) model.Plan {
	mend := func(i int, d drift) model.Write {
		if !stored.IsKey(d.Doc) || !stored.IsKey(d.Source) {
			return found.RefuseFinding(c.to.Name(), i, "document or no source")
		}
		w, err := c.mendCopy(d)
		if err != nil {
			return model.Refused(c.to.Name(), err)
		}
		return w
	}
	return found.PlanWrites(rows, "some copies corrected; the next check finds the others", mend)
}

// mendCopy sets one copy, if it is as it was found.
func (c *untypedCopy) mendCopy(d drift) (w model.Write, err error) {
	was, now := source{id: d.Source, version: d.Version}, source{id: d.Source}
	for _, f := range c.fields {
		found, err := stored.ValueAt(c.to, d.Found, f.To)
		if err != nil {
			return w, err
		}
		want, err := stored.ValueAt(c.to, d.Want, f.To)
		if err != nil {
			return w, err
		}
		was.values, now.values = append(was.values, found), append(now.values, want)
	}
	if c.version != "" {
		if now.version = d.SourceVersion; now.version.Type == bson.TypeNull {
			now.version = bson.RawValue{}
		}
	}
	return c.replaceCopy(d.Doc, was, now), nil
}

// An unfolded is a source that foldSources must keep.
type unfolded struct {
	ID     bson.RawValue `bson:"_id"`
	Copied bool          `bson:"copied"` // a document holds a copy of it
	Stale  bool          `bson:"stale"`  // a copy has other values
	Extra  []string      `bson:"extra"`  // its fields that are not copied
}

// describeFinding gives all reasons, because each needs another remedy.
func (u unfolded) describeFinding(f *model.Finding) {
	var why []string
	if !u.Copied {
		why = append(why, "no document holds a copy of it")
	}
	if u.Stale {
		why = append(why, "a copy has other values than the source")
	}
	if len(u.Extra) > 0 {
		why = append(why, "its fields "+strings.Join(u.Extra, ", ")+" aren't copied")
	}
	f.ID, f.Problem = u.ID, strings.Join(why, "; ")
}

// checkUnfolded is the check of the sources that foldSources keeps.
func (c *untypedCopy) checkUnfolded(drop []string) model.Check {
	stages, err := c.judgeSources(drop)
	return model.Check{
		Name:       fmt.Sprintf("%s: documents that can't be folded into %s", c.docs.Name(), c.to.Name()),
		Collection: c.docs.Name(), Err: err,
		Rule: fmt.Sprintf("the copies in %s contain every field of each document", c.to.Name()),
		Pipeline: append(stages,
			mql.Match(mql.E("$or", bson.A{
				bson.D{{Key: "copied", Value: false}}, bson.D{{Key: "stale", Value: true}},
				bson.D{{Key: "extra", Value: bson.D{{Key: "$ne", Value: bson.A{}}}}},
			})),
			mql.SortID(), mql.Op("$unset", "source"),
		),
		Tell: found.DescribeRows(unfolded.describeFinding),
	}
}
