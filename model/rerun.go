package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A transaction stores all writes of a plan or nothing. If one write of a plan that only
// runs in transactions was applied before, an earlier run applied the plan. The writes
// that can't be repeated must not be sent again. The transaction is aborted, and its
// owner returns a Result whose steps are [Already].
//
// A plan that can also run without a transaction may have been interrupted. The write
// that was applied before is left out, and the rest runs again.

// errRanBefore ends the transaction of a plan that an earlier run applied.
var errRanBefore = fmt.Errorf("docmodel: an earlier run applied this plan, so abort the transaction: %w", ErrTaken)

// whole reports whether an earlier run of the plan applied all steps or no step, because
// the plan needs a transaction. An AllowPartial plan may have been interrupted.
func (p Plan) whole() bool {
	if p.Options.AllowPartial {
		return false
	}
	return p.Transactional || !p.rerunnable()
}

// rerunnable reports whether the steps can be run again after an interruption.
func (p Plan) rerunnable() bool {
	_, why := unrepeatable(p.Steps)
	return why == ""
}

// proves reports whether the write belongs to one operation only: it has a token, or
// inserts a document that is the operation's own. Other writes can be applied before by
// another operation, such as a link that is there already.
func (w Write) proves() bool {
	_, insert := w.Model.(*mongo.InsertOneModel)
	return !w.Token.IsZero() || insert && (w.Done == nil || len(guardOf(w.Done)) > 0)
}

// endRerun ends the transaction of a whole plan one step of which was applied before.
// Other plans continue.
func (r *runner) endRerun(ctx context.Context, step int, w Write) error {
	if len(r.plan.Steps) < 2 || !w.proves() || !runctx.InTransaction(ctx) || !r.plan.whole() {
		return nil
	}
	err := &StepError{Step: step, Err: errRanBefore}
	if tx := runctx.TxOf(ctx); tx != nil {
		tx.Spoiled = err
	}
	return err
}

// ranBefore reports whether an earlier run applied a whole plan. It is true if a write's
// token is stored, or if the plan inserts documents without a token and all of them are
// stored. isKnown says whether the step known was applied.
func (r *runner) ranBefore(ctx context.Context, known int, isKnown bool) (bool, error) {
	inserts, found := 0, 0
	for i, s := range r.plan.Steps {
		w, ok := s.(Write)
		if !ok || !w.proves() {
			continue
		}
		applied, err := isKnown, error(nil)
		if i != known {
			applied, err = r.applied(ctx, i, w)
		}
		switch {
		case err != nil || applied && !w.Token.IsZero():
			return applied, err
		case w.Token.IsZero():
			inserts++
		}
		if applied {
			found++
		}
	}
	return inserts > 0 && found == inserts, nil
}

// hasTokens reports whether a stored token can tell that the plan was run before.
func (p Plan) hasTokens() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		w, ok := s.(Write)
		return ok && !w.Token.IsZero()
	})
}

// appliedBefore returns the result of a plan that an earlier run applied.
func (p Plan) appliedBefore() Result {
	r := newResult(p)
	r.mark(0, len(r.Steps), Already)
	return r
}

// ownSteps are the steps of a [Change] that an earlier run applied, with their documents
// if they insert.
type ownSteps map[string]bson.Raw

// add adds a step. It returns false if the step is there already.
func (o *ownSteps) add(s Step) bool {
	if *o == nil {
		*o = ownSteps{}
	}
	key, doc := stepKey(s)
	if _, known := (*o)[key]; known {
		return false
	}
	(*o)[key] = doc
	return true
}

// leaveOut returns the plan without the steps. If the change reads and decides again, it
// may insert another document with the same _id. This insert stays.
func (o ownSteps) leaveOut(p Plan) Plan {
	if len(o) == 0 {
		return p
	}
	for i, s := range p.Steps {
		key, doc := stepKey(s)
		if own, known := o[key]; known && sameDocument(own, doc) {
			p.own = append(p.own[:len(p.own):len(p.own)], i)
		}
	}
	return p
}

// stepKey identifies a step if the change reads and decides again. An insert is known by
// its _id, and stepKey also returns its document.
func stepKey(s Step) (key string, doc bson.Raw) {
	w, _ := s.(Write)
	m, ok := w.Model.(*mongo.InsertOneModel)
	if !ok {
		return s.String(), nil
	}
	doc, err := encodedOnce(m.Document)
	if err != nil {
		return s.String(), nil
	}
	return w.Collection + " " + bsonval.Key(doc.Lookup("_id")), doc
}

// sameDocument compares documents and ignores the order of fields.
func sameDocument(a, b bson.Raw) bool {
	return equalUnordered(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: a},
		bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: b})
}
