package model

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DeleteJob returns the job that deletes documents, and everything that techniques delete or
// change with them, in many actions. Use it if [Store.Delete] refuses a document because
// more than 1,000 others are written with it. The document itself is deleted last. If it is
// missing, the job deletes what refers to it. After a crash, run the job again.
//
// First the job finds all documents that are deleted. If a rule forbids the
// deletion of one, the job gives the rule's error and writes nothing. The job has one batch.
// [JobOptions].BatchSize is the number of documents in an action, by default 500.
//
// Cost: the reads that find the documents, and the actions.
func (s *Store[D, K]) DeleteJob(ids ...K) Job {
	roots := make([]bson.RawValue, len(ids))
	job := Job{Name: "store " + s.in.docs.Name() + ": delete", Err: s.checkUnguarded()}
	if len(s.refs) > 0 && job.Err == nil {
		job.Err = s.docs.Docs().
			Refuse(s.refs[0].path, nil, "has a filter by Store.Referring: a job deletes documents by their _ids")
	}
	if len(ids) == 0 && job.Err == nil {
		job.Err = s.docs.Docs().Refuse("_id", nil, "no id was given: give at least one")
	}
	for i, id := range ids {
		var err error
		roots[i], err = s.docs.Docs().RawID("_id", id)
		job.Err = cmp.Or(job.Err, err)
	}
	job.Stages = []Stage{{
		Name: "delete", Collection: s.in.docs.Name(), acts: true,
		Do: func(ctx context.Context, b *Batch) error {
			return s.in.deleteAll(ctx, b, roots)
		},
	}}
	return job
}

// tooManyError says that an action would write more documents than it may.
type tooManyError struct{ ValueError }

func (e *tooManyError) Unwrap() error { return &e.ValueError }

func isTooMany(err error) bool { return errors.As(err, new(*tooManyError)) }

// A documentRef names a document.
type documentRef struct {
	collection string
	id         bson.RawValue
}

func (r documentRef) key() string { return r.collection + "\x00" + bsonval.Key(r.id) }

// refOf returns the document that a write is about.
func refOf(w StoreWrite) documentRef { return documentRef{w.Collection, bsonval.Clone(w.id())} }

func (w StoreWrite) deletes() bool { return w.After == nil && w.Change == nil }

// sampled returns a fetch with the state's limit. A fetch of all documents needs only their
// _ids.
func (s *storeState) sampled(f Fetch) Fetch {
	switch {
	case f.Query != nil && s.most != 0 && f.Query.Limit == 0:
		q := *f.Query
		q.Limit = s.most
		f.Query = &q
	case f.By != "" && s.most < 0:
		f.Limit, f.Paths = s.most, []string{"_id"}
	case f.By != "" && s.most > 0 && f.Limit == 0:
		f.Limit = s.most
	}
	return f
}

// related returns the answers of the reactions to the deletion of documents, and how many of
// the documents are stored. A related document is one that the reactions delete or change. most is
// the number of related documents that a fetch finds at most. With -1 it finds all, but reads only
// their _ids, to look what the deletion would reach.
func (s *store) related(
	ctx context.Context, db DB, docs []documentRef, most int64,
) (out storeState, stored int, err error) {
	out = newState(ctx, runctx.Token(ctx))
	out.most = most
	writes, err := s.readRefs(ctx, db, docs)
	if err != nil {
		return out, 0, err
	}
	stored = len(writes)
	for i := range writes {
		if most < 0 { // only looks
			writes[i].Before = s.fieldOf(writes[i].Collection).RemoveFrom(writes[i].Before)
		}
	}
	for _, r := range docs { // others can refer to a missing document
		if !slices.ContainsFunc(writes, func(w StoreWrite) bool {
			return w.Collection == r.collection && bsondoc.SameValue(w.id(), r.id)
		}) {
			doc, err := bson.Marshal(bson.D{{Key: "_id", Value: r.id}})
			if err != nil {
				return out, 0, err
			}
			writes = append(writes, StoreWrite{Collection: r.collection, Before: doc})
		}
	}
	return out, stored, s.answerDeletions(ctx, db, &out, writes)
}

// answerDeletions adds the answers of the reactions to deletions to the state.
func (s *store) answerDeletions(ctx context.Context, db DB, out *storeState, writes []StoreWrite) error {
	level, err := out.level(s, writes, 0)
	if err != nil {
		return err
	}
	seen := make([]bson.Raw, len(level))
	for i, w := range level {
		seen[i] = w.Before
	}
	var calls []*reactionCall
	if _, err := s.concerned(ctx, db, level, seen, &calls, out); err != nil {
		return err
	}
	if out.most >= 0 {
		return out.answer(calls)
	}
	for _, c := range calls { // a reaction that needs more than the _ids answers when the document is deleted
		if c.reaction.React != nil {
			if a, err := c.reaction.React(c.event()); err == nil {
				out.answers = append(out.answers, answered{a, out.index(c.write.Collection, c.write.id())})
			}
		}
	}
	return nil
}

// readRefs returns the deletions of documents, without missing ones. It reads the documents of
// a collection together.
func (s *store) readRefs(ctx context.Context, db DB, refs []documentRef) (out []StoreWrite, err error) {
	var names []string
	ids := map[string]bson.A{}
	for _, r := range refs {
		if ids[r.collection] == nil {
			names = append(names, r.collection)
		}
		ids[r.collection] = append(ids[r.collection], r.id)
	}
	for _, name := range names {
		q := Query{
			Collection: name, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids[name]}}}},
			Index: IDIndex, Keyed: s.keyed[name],
		}
		docs, err := (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			out = append(out, StoreWrite{Collection: name, Before: doc})
		}
	}
	return out, nil
}

// mostVisited is the number of documents whose related documents are read together.
const mostVisited = 100

// checkDeletion returns the keys of the documents that are deleted with others, and how many
// are stored. If a rule forbids the deletion, it returns the rule's error. The value of a key
// is false for a document that is only tidied up.
func (s *store) checkDeletion(
	ctx context.Context, db DB, queue []documentRef,
) (deleted map[string]bool, n int64, err error) {
	deleted = map[string]bool{}
	var checks []func(deleted func(collection string, id bson.RawValue) bool) error
	for _, r := range queue {
		deleted[r.key()] = true
	}
	for len(queue) > 0 {
		some := queue[:min(len(queue), mostVisited)]
		queue = queue[len(some):]
		out, stored, err := s.related(ctx, db, some, -1)
		if err != nil {
			return nil, n, err
		}
		n += int64(stored)
		for _, a := range out.answers {
			if a.Check != nil {
				checks = append(checks, a.Check)
			}
			for _, w := range a.Writes {
				r := refOf(w)
				strong, known := deleted[r.key()]
				if w.deletes() {
					deleted[r.key()] = strong || !w.Weak
				}
				if w.deletes() && !known {
					queue = append(queue, r)
				}
			}
		}
	}
	is := func(collection string, id bson.RawValue) bool { return deleted[documentRef{collection, id}.key()] }
	for _, check := range checks {
		if err := check(is); err != nil {
			return nil, n, err
		}
	}
	return deleted, n, nil
}

// deleteAll deletes documents, each with what is deleted with it.
func (s *store) deleteAll(ctx context.Context, b *Batch, ids []bson.RawValue) (err error) {
	roots := make([]documentRef, len(ids))
	for i, id := range ids {
		roots[i] = documentRef{s.docs.Name(), id}
	}
	d := deletion{store: s, size: int64(cmp.Or(b.Size, 500))}
	if d.deleted, b.Documents, err = s.checkDeletion(ctx, b.DB, roots); err != nil {
		return err
	}
	if b.Done = b.DryRun; b.Done {
		b.Writes = b.Documents
		return nil
	}
	for _, r := range roots {
		for done := false; !done && err == nil; {
			done, err = d.step(ctx, b.DB, r)
		}
	}
	b.Modified, b.Writes, b.Done = d.modified, d.modified, err == nil
	return err
}

// A deletion deletes documents in several actions.
type deletion struct {
	store    *store
	deleted  map[string]bool // the keys of all documents that are deleted
	size     int64           // the number of related documents in an action
	modified int64
	stored   bool // the document was stored when its related documents were read
	missed   bool // it was missing when it was to be deleted
}

// step runs one action: it writes as many related documents as an action may, or deletes the document
// if fewer are left. An action with too many documents gives a tooManyError: a related document has too
// many of its own. Then step goes on with the related documents. It returns false until the document is
// deleted.
func (d *deletion) step(ctx context.Context, db DB, r documentRef) (done bool, err error) {
	before := d.modified
	part, err := d.run(ctx, db, r, true)
	if err == nil && d.modified > before {
		return false, nil
	}
	if err == nil {
		if _, err = d.run(ctx, db, r, false); err == nil {
			return !d.stored || !d.missed, nil // another client may have deleted it, without the related documents
		}
	}
	if !isTooMany(err) {
		return false, err
	}
	if len(part) == 0 {
		some, _, err := d.store.related(ctx, db, []documentRef{r}, d.size)
		if err != nil {
			return false, err
		}
		part = some.writesOf(0)
	}
	return false, d.deleteRelated(ctx, db, part, err)
}

// deleteRelated deletes related documents which have too many related documents themselves.
// If there are none, it returns the error tooMany, because nothing else would make progress.
func (d *deletion) deleteRelated(ctx context.Context, db DB, related []StoreWrite, tooMany error) error {
	for _, w := range related {
		if !w.deletes() {
			continue
		}
		tooMany = nil
		for done := false; !done; {
			var err error
			if done, err = d.step(ctx, db, refOf(w)); err != nil {
				return err
			}
		}
	}
	return tooMany
}

// run runs an action: it deletes a document, or writes a part of the related documents, if
// there are as many as an action may write. It returns the writes of the part.
func (d *deletion) run(ctx context.Context, db DB, r documentRef, parts bool) (part []StoreWrite, err error) {
	name := "store " + r.collection + ": delete"
	change := ChangeOf[storeState]{
		Name: name, Attempts: 100, action: &action{name + " " + shell(r.id)},
		again: func(out storeState) bool { return out.again },
		Read: func(ctx context.Context, db DB) (storeState, error) {
			if !parts {
				writes, err := d.store.readRefs(ctx, db, []documentRef{r})
				d.missed = len(writes) == 0
				if err != nil || len(writes) == 0 {
					return storeState{applied: true}, err
				}
				return d.store.prepareAmong(ctx, db, d.deleted, writes)
			}
			some, stored, err := d.store.related(ctx, db, []documentRef{r}, d.size)
			if err != nil {
				if other := unfinishedIn(err); other != nil {
					return d.store.finishOther(ctx, db, other)
				}
				return storeState{}, err
			}
			d.stored = stored > 0
			part = slices.DeleteFunc(some.writesOf(0), func(w StoreWrite) bool {
				return !w.deletes() && d.deleted[refOf(w).key()]
			})
			if len(part) == 0 || stored > 0 && int64(len(part)) < d.size {
				part = nil
				return storeState{}, nil
			}
			out, err := d.store.prepareAmong(ctx, db, d.deleted, part)
			if err != nil || !out.divides() {
				return out, err
			}
			return eachState(ctx, part, func(i int) (storeState, error) {
				return d.store.prepareAmong(ctx, db, d.deleted, part[i:i+1])
			})
		},
		Decide: func(out storeState) (Plan, error) { return d.store.plan(out), nil },
	}
	_, result, err := change.Run(ctx, db)
	d.modified += result.Modified()
	return part, err
}
