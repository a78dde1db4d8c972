package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// mostWrites is the number of documents that an action may write, besides those that only
// counters and copies of other documents write.
const mostWrites = 1000

// storeState is what a store's change has read and decided.
type storeState struct {
	docs    []storedDoc // the caller's documents first
	own     int         // how many documents are the caller's
	answers []answered
	held    []heldDoc
	tx      bool
	named   bool       // a client named the request, and can send it again
	applied bool       // an earlier run of the action wrote the document
	edits   bool       // the values depend on what was read: equal values can be another client's
	ensures bool       // a document that another client inserts meanwhile is read again
	fields  bool       // with ensures: the document was looked for by other fields than its _id
	hidden  bool       // a document of the _id was there, and a read didn't find it: it's another tenant's, or deleted
	resumed bool       // the document tells of the action, whose other writes are missing
	again   bool       // the writes finish another action, so that the change must run again
	running *runctx.Tx // the transaction, if package model runs it
	action  bson.ObjectID
	time    time.Time

	corrects []*reactionCall // outside transactions, the calls whose fetched documents are read again at the end

	chain []*unfinishedError // the unfinished actions that wait for this one

	others map[string]bool // the keys of documents that other actions delete, for which no rule may forbid this one

	// the number of documents that a fetch without a limit finds; negative for all, 0 for an error if there are too many
	most int64

	each []storeState // instead of all others: one state for each of the caller's documents

	looked map[string]bool // the collections that fetches read
	unread []Fetch         // the documents that are deleted without a read

	referred []*referred // the documents of [Store.Referring]
	undone   bool        // nothing is to be written, but first commands have changed referenced documents

	plain *Write // instead of all others: a write that needs no read, and returns the document
}

// storedDoc is a document that an action writes: as it is stored, and as it will be.
type storedDoc struct {
	collection    string
	id            bson.RawValue
	read          bson.Raw      // the stored document, with the store's field
	before, after bson.Raw      // without the store's field
	token         bson.ObjectID // of this write
	deleted       bool          // by a write that isn't weak
	asked         string        // the techniques that ask for the write
	holds         bool          // it is written if nothing changes too
	isWritten     bool          // the transaction has written the document: see changeFirst
	written       bson.Raw      // as it has; nil for a deletion
	hidden        bson.Raw      // as a scope marked it as deleted, if the action restores it
	other         *unfinished   // the action of which the document tells, if this action can't wait for it
}

// answered is the answer to the write of a document of the action.
type answered struct {
	Answer
	doc int
}

// inserts reports whether the action must insert the document.
func (d storedDoc) inserts() bool { return d.before == nil && d.hidden == nil && !d.isWritten }

// was returns the document before the action, also if it was marked as deleted.
func (d storedDoc) was() bson.Raw {
	if d.hidden != nil {
		return d.hidden
	}
	return d.before
}

// result returns the document as the action stores or deletes it.
func (d storedDoc) result() bson.Raw {
	if d.after != nil {
		return d.after
	}
	return d.before
}

// result returns the last of the caller's documents as it is stored or deleted.
func (s storeState) result() bson.Raw {
	switch {
	case s.plain != nil:
		return s.plain.returning.doc
	case len(s.each) > 0:
		return s.each[len(s.each)-1].result()
	case s.own > 0:
		return s.docs[s.own-1].result()
	}
	return nil
}

// prepare calls the reactions for the writes, and for the writes that the reactions ask
// for, until there are no more. It reads the documents that the reactions need.
func (s *store) prepare(ctx context.Context, db DB, writes ...StoreWrite) (storeState, error) {
	return s.prepareAmong(ctx, db, nil, writes)
}

// prepareAmong is prepare, of one of several actions that together delete documents: no rule may
// forbid this action because of a document that another one deletes.
func (s *store) prepareAmong(
	ctx context.Context, db DB, others map[string]bool, writes []StoreWrite,
) (storeState, error) {
	out := newState(ctx, runctx.Token(ctx))
	out.others = others
	err := s.prepareLevels(ctx, db, &out, writes)
	if err == nil {
		err = s.compareReferred(ctx, &out)
	}
	if other := unfinishedIn(err); other != nil {
		return s.finishOther(ctx, db, other)
	}
	return out, err
}

func newState(ctx context.Context, action bson.ObjectID) storeState {
	out := storeState{
		tx: runctx.InTransaction(ctx), running: runctx.TxOf(ctx), named: runctx.IsNamed(ctx),
		action: action, time: runctx.ActionTime(ctx), referred: referredOf(ctx),
	}
	for _, r := range out.referred {
		if r.held {
			out.hold(heldDoc{Fetch{Collection: r.to.Name(), ID: r.id()}, true, ""})
		}
	}
	return out
}

// prepareLevels prepares the writes of a level, and of the levels that follow from it. The
// first level has the caller's documents, unless the state has them already.
func (s *store) prepareLevels(ctx context.Context, db DB, out *storeState, writes []StoreWrite) error {
	for depth := pick(out.own > 0, 1, 0); len(writes) > 0; depth++ {
		level, err := out.level(s, writes, depth)
		if err != nil {
			return err
		}
		if len(out.docs) > mostWrites && depth > 0 {
			return &tooManyError{ValueError{
				Collection: s.docs.Name(), Field: "_id", Value: out.docs[0].id, Reason: fmt.Sprintf("has more than %d documents "+
					"that are written with it: delete it by Store.DeleteJob, or run the job of the technique that writes them",
					mostWrites),
			}}
		}
		if depth == 0 && !out.tx {
			if out.applied, err = s.wasApplied(level); out.applied || err != nil {
				out.docs[0].after = out.docs[0].before
				return err
			}
		}
		before := len(out.answers)
		if err := s.react(ctx, db, level, out); err != nil {
			return err
		}
		writes = out.writesOf(before)
	}
	if slices.ContainsFunc(out.docs, func(d storedDoc) bool { return out.deletesUnread(d.collection) }) {
		return s.readFirst(ctx, ErrStale)
	}
	out.leaveDeleted()
	return out.check()
}

// leaveDeleted leaves out updates of documents that the action deletes.
func (s *storeState) leaveDeleted() {
	isDeleted := func(w Write) bool {
		id := idFilter(w.filter())
		return id != nil && slices.ContainsFunc(s.docs, func(d storedDoc) bool {
			return d.after == nil && d.collection == w.Collection && bsondoc.SameValue(d.id, id)
		})
	}
	for i := range s.answers {
		a := &s.answers[i]
		for _, steps := range []*[]Step{&a.First, &a.Undo, &a.Then} {
			*steps = slices.DeleteFunc(*steps, func(step Step) bool {
				w, ok := step.(Write)
				return ok && isDeleted(w)
			})
		}
		a.Once = slices.DeleteFunc(a.Once, isDeleted)
	}
}

// level returns the writes of one level as they are after the writes before them, without
// those that change nothing.
func (s *storeState) level(in *store, writes []StoreWrite, depth int) (level []*StoreWrite, err error) {
	for _, w := range writes {
		w, wanted, err := s.follow(in, w)
		if err != nil {
			return nil, err
		}
		w.Given = w.After
		i := slices.IndexFunc(level, func(x *StoreWrite) bool {
			return x.Collection == w.Collection && bsondoc.SameValue(x.id(), w.id())
		})
		switch {
		case wanted && i >= 0: // reactions see one write of the document
			level[i].After, level[i].Given = w.After, w.After
		case wanted || depth == 0:
			level = append(level, &w)
		}
	}
	if depth == 0 {
		s.own = len(s.docs)
	}
	return level, nil
}

// writesOf returns the writes that the answers from the i-th on ask for.
func (s *storeState) writesOf(i int) (writes []StoreWrite) {
	for _, a := range s.answers[i:] {
		writes = append(writes, a.Writes...)
	}
	return writes
}

// check calls the checks of the answers. No rule can forbid an action that is begun.
func (s *storeState) check() error {
	for _, a := range s.answers {
		if a.Check != nil {
			if err := a.Check(s.deleted); err != nil && !s.resumed {
				return err
			}
		}
	}
	return nil
}

// deleted reports whether a write that isn't weak deletes a document.
func (s *storeState) deleted(collection string, id bson.RawValue) bool {
	i := s.index(collection, id)
	return i >= 0 && s.docs[i].deleted || s.others[documentRef{collection, id}.key()]
}

// index returns the index of a document that the action writes, or -1.
func (s *storeState) index(collection string, id bson.RawValue) int {
	return slices.IndexFunc(s.docs, func(d storedDoc) bool {
		return d.collection == collection && bsonval.EqualRaw(d.id, id)
	})
}

// wasApplied reports whether a document shows that an earlier run of the action wrote it.
func (s *store) wasApplied(level []*StoreWrite) (bool, error) {
	for _, w := range level {
		for _, r := range s.reactions {
			if r.Applied == nil || r.Collection != w.Collection || w.Before == nil || w.After == nil {
				continue
			}
			if is, err := r.Applied(*w); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// reactionCall is a reaction that a write concerns.
// event returns the write as the reaction sees it.
// checkDerived refuses the caller's values that differ from the computed ones.
// mostRounds is how often the amendments of one reaction may concern another one.
// react amends the documents of one level of writes, and collects the answers. An
// amendment may concern other reactions. So it amends in rounds, until nothing changes.
// answer collects the answers to writes.
// label notes in the writes which technique asks for them.
// amend sets the fields that reactions return. All reactions see the same document.
// concerned returns the reactions that the changes since the last round concern, with the
// documents that they fetch. It adds new ones to calls.
// missing returns the error of a document that must exist, and doesn't.
// changedPaths returns the paths whose values differ in an update.
