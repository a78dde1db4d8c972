package history

// This file removes a person's data, and finds what is left of it.

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// eraseSubject is the job that removes a subject's personal fields from documents and
// revisions.
func (h *untypedHistory) eraseSubject(subject any, note revisionNote, op bson.ObjectID) model.Job {
	job := model.Job{Name: "erase from " + h.docs.Name()}
	s, err := h.encodeSubject(subject)
	if err == nil {
		err = h.checkNote(note, op)
	}
	if err != nil {
		job.Err = err
		return job
	}
	// A revision's _id is enough: running the $unset again changes nothing.
	blank := h.unsetPersonal("doc.")
	revisions := model.Stage{
		Name: "revisions", Collection: h.revisions.Name(), Filter: h.matchTraces(s, "doc."),
		Projection: bson.D{mql.E("_id", 1)},
		Plan: commands.PlanBatches("some revisions erased; the next run of the job erases the others",
			func(row bson.Raw) ([]model.Step, error) {
				return []model.Step{
					commands.UpdateIf(h.revisions.Name(), commands.MatchID(row.Lookup("_id")), blank),
				}, nil
			}),
	}
	documents := model.Stage{
		Name: "documents", Collection: h.docs.Name(), Filter: h.matchTraces(s, ""),
		Plan: commands.PlanBatches(leavesRow, func(doc bson.Raw) ([]model.Step, error) {
			return h.eraseDocument(doc, note, op)
		}),
	}
	// First the revisions, so that no change of a document restores one; and again, for
	// those that others stored meanwhile.
	again := revisions
	again.Name = "revisions of changes meanwhile"
	job.Stages = []model.Stage{revisions, documents, again}
	// The subject as the actor of changes is not among the personal fields.
	for _, name := range []string{h.docs.Name(), h.revisions.Name()} {
		if actor, path, ok := h.matchActor(s, name); ok {
			job.Stages = append(job.Stages, model.Stage{
				Name: "changes by the subject in " + name, Collection: name, Filter: actor,
				Projection: bson.D{mql.E("_id", 1)},
				Plan: commands.PlanBatches("some changes without their actor; the next run of the job removes the "+
					"others",
					func(doc bson.Raw) ([]model.Step, error) {
						return []model.Step{
							commands.UpdateIf(name, bsondoc.JoinFilters(commands.MatchID(doc.Lookup("_id")), actor),
								mql.Op("$set", bson.D{mql.E(path, "")})),
						}, nil
					}),
			})
		}
	}
	return job
}

// encodeSubject encodes the value of a subject.
func (h *untypedHistory) encodeSubject(subject any) (bson.RawValue, error) {
	if h.subject == "" {
		return bson.RawValue{},
			h.docs.Refuse("subject", subject, "the spec has no Subject: declare Subject and Personal")
	}
	f, err := h.docs.Field(h.subject)
	if err != nil {
		return bson.RawValue{}, err
	}
	v, err := h.docs.FieldValue(f, subject, false)
	if err == nil && (v.Type == bson.TypeNull || v.Type == bson.TypeRegex) {
		err = h.docs.Refuse(h.subject, subject, "can't be a subject: give a value that Subject holds")
	}
	return v, err
}

// matchTraces matches documents of a subject that have personal fields.
func (h *untypedHistory) matchTraces(subject bson.RawValue, prefix string) bson.D {
	holds := bson.A{}
	for i, path := range h.personal {
		holds = append(holds, bson.D{mql.E(prefix+path, h.blank[i])})
	}
	return bson.D{mql.E(prefix+h.subject, mql.Eq(subject)), mql.E("$or", holds)}
}

// matchActor matches documents of a collection that the subject changed. Revised.By is a
// name, so ok is false for a subject that isn't a string.
func (h *untypedHistory) matchActor(subject bson.RawValue, collection string) (filter bson.D, path string, ok bool) {
	path = h.revised + ".by"
	if collection == h.revisions.Name() {
		path = "doc." + path
	}
	by, ok := subject.StringValueOK()
	return bson.D{mql.E(path, by)}, path, ok && by != ""
}

// unsetPersonal is the update that removes the personal fields, at paths below a prefix.
func (h *untypedHistory) unsetPersonal(prefix string) bson.D {
	var fields bson.D
	for _, path := range h.personal {
		fields = append(fields, mql.E(prefix+path, ""))
	}
	return bson.D{mql.E("$unset", fields)}
}

// eraseDocument is a change that removes the personal fields. The revision of the version
// before has none either.
func (h *untypedHistory) eraseDocument(doc bson.Raw, note revisionNote, op bson.ObjectID) ([]model.Step, error) {
	v, err := h.readVersion(doc)
	if err != nil {
		return nil, err
	}
	c := changing{note: note, reading: reading{op: op}}
	if c.document, err = h.checkID(doc.Lookup("_id")); err != nil {
		return nil, err
	}
	at, _, gone := h.readNote(doc)
	if gone {
		return h.finishDeletion(c.document, v, doc), nil
	}
	if note.At.Before(at) {
		c.note.At = at // erasing doesn't wait for a clock
	}
	kept, err := rawdoc.RemoveFields(doc, h.personal...)
	if err != nil {
		return nil, err
	}
	update := append(h.unsetPersonal(""),
		mql.E("$set", bson.D{mql.E(h.version, v+1), mql.E(h.revised, c.note.encodeNote(op, false))}))
	plan, err := h.planNextVersion(&c, doc, v, kept, func(filter bson.D) mongo.WriteModel {
		return &mongo.UpdateOneModel{Filter: filter, Update: update}
	})
	return plan.Steps, err
}

// checkTraces returns the checks that find what is stored of a subject.
func (h *untypedHistory) checkTraces(subject any) []model.Check {
	s, err := h.encodeSubject(subject)
	out := make([]model.Check, 2)
	for i, part := range []struct{ name, prefix, index string }{
		{h.docs.Name(), "", model.NewIndex("", bson.D{mql.E(h.subject, 1), mql.E("_id", 1)}).Name},
		{h.revisions.Name(), "doc.", model.NewIndex("", bson.D{mql.E("doc."+h.subject, 1), mql.E("_id", 1)}).Name},
	} {
		c := model.Check{
			Name: part.name + ": personal fields of a subject", Collection: part.name, Err: err,
			Rule: "no document holds personal fields of the subject, and no change names the subject as its actor",
		}
		if err == nil {
			filter := h.matchTraces(s, part.prefix)
			if actor, _, ok := h.matchActor(s, part.name); ok {
				filter = bson.D{mql.E("$or", bson.A{filter, actor})}
			} else if c.Index = part.index; h.subject == "_id" && part.prefix == "" {
				c.Index = model.IDIndex
			}
			c.Pipeline, c.Tell = found.FindMatching(filter),
				found.DescribeDocuments(fmt.Sprintf("still names %s", model.Shell(s)))
		}
		out[i] = c
	}
	return out
}
