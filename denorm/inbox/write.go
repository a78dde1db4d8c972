// Inside package inbox: documents that apply each
// event once. The public type gives the Go types. It has no indexes and checks: all writes are
// by _id.
//
// # Stored form
//
// An account that has applied two events, with its receipts, oldest first:
//
//	accounts {_id: 7, balance: 30, receipts: [
//	  {t: ObjectId("…1"), sum: NumberLong(…)},
//	  {t: ObjectId("…2"), sum: NumberLong(…)},
//	]}
//
// t is the event's token, sum the first eight bytes of the SHA-256 digest of the encoded
// event. A document keeps the newest Inbox.keep receipts: a repeat of an older event is
// applied again.
//
// # Protocol
//
// handleEvent is one update, which is atomic in MongoDB:
//
//  1. The filter requires that no receipt has the token.
//  2. The update applies the event, and pushes the receipt with $slice.
//  3. If nothing matches, Write.Done finds a receipt with the same token and digest: the event
//     was applied before. A receipt with the same token and another digest is ErrToken.
//
// insertDocument is an insert with the first receipt. A duplicate key is judged in the
// same way. storeReceipt stores only a receipt, as the first write of a plan in a
// transaction. For a repeated event it gives ErrHandled, so that the transaction writes
// nothing.
//
// # What a crash leaves
//
// Nothing: the effect and the receipt are in one write. If the client doesn't know
// whether it was applied, it repeats the write.

package inbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An untypedInbox is the Inbox without its Go types.
type untypedInbox struct {
	docs *core.Docs
	// Path of the receipts.
	path string
	// Number of receipts that a document keeps.
	keep int
}

// declareInbox panics with a model.DeclarationError if documents can't store receipts.
// receipt is the type Receipt.
func declareInbox(docs *core.Docs, path string, keep int, receipt reflect.Type) *untypedInbox {
	in := &untypedInbox{docs, path, cmp.Or(keep, 100)}
	f, place := docs.CheckArray(path), core.Place(fmt.Sprintf("inbox.New of %s.%s", docs.Name(), path))
	switch {
	case !f.Untyped && f.Type != receipt:
		place.Fail(fmt.Sprintf("the receipts at %q are of type %s", path, f.Type),
			"declare them as []inbox.Receipt, tagged omitempty")
	case core.Overlap(path, "_id"):
		place.Fail("the receipts are in the _id, which can't change", "name another field")
	case in.keep < 1 || in.keep > 10_000:
		place.Fail(fmt.Sprintf("Keep is %d", keep), "give 1 to 10,000")
	}
	return in
}

// listFootprints are the paths that are used.
func (in *untypedInbox) listFootprints() []model.Footprint {
	return slices.Concat(model.Writes.In(in.docs.Name(), model.Whole), model.Owns.In(in.docs.Name(), in.path))
}

// makeReceipt returns the receipt of an event. The digest covers the type of the value
// too, so that equal bytes of two types differ.
func (in *untypedInbox) makeReceipt(event any, op bson.ObjectID) (bson.D, error) {
	if op.IsZero() {
		return nil, in.docs.Refuse(in.path, nil, commands.NoToken)
	}
	v, err := in.docs.AsStored().Raw(event)
	if err != nil {
		return nil, in.docs.Refuse("event", nil, err.Error())
	}
	sum := sha256.Sum256(append([]byte{byte(v.Type)}, v.Value...))
	return bson.D{mql.E("t", op), mql.E("sum", int64(binary.LittleEndian.Uint64(sum[:8])))}, nil
}

// recognizeRepeat sets how a write finds out that its event was applied before, or that
// its token belongs to another event.
func (in *untypedInbox) recognizeRepeat(w *model.Write, byID, receipt bson.D) {
	of := func(d bson.D) bson.D {
		return bsondoc.JoinFilters(byID, bson.D{mql.E(in.path, mql.Op("$elemMatch", d))})
	}
	w.Done, w.Token = of(receipt), receipt[0].Value.(bson.ObjectID)
	w.Reasons = append(w.Reasons, model.Reason{
		If: of(bson.D{receipt[0], mql.E("sum", mql.Op("$ne", receipt[1].Value))}), Err: stored.ErrToken,
	})
}

// ErrHandled says that [Inbox.Once] got an event that was handled before. ErrHandled
// wraps model.ErrTaken.
var ErrHandled = fmt.Errorf("docmodel: the event was handled before: %w", model.ErrTaken)

// storeReceipt is the write that stores an event's receipt, and fails if it was stored
// before. So it has no Done: a repeat must end the transaction instead of passing as
// applied.
func (in *untypedInbox) storeReceipt(id, event any, op bson.ObjectID) model.Write {
	receipt, err := in.makeReceipt(event, op)
	if err != nil {
		return model.Refused(in.docs.Name(), err)
	}
	byID, err := in.docs.ByID(id)
	if err != nil {
		return model.Refused(in.docs.Name(), err)
	}
	push := bson.D{mql.E("$each", bson.A{receipt}), mql.E("$slice", -in.keep)}
	w := in.updateOnce(byID, bson.D{mql.E("$push", bson.D{mql.E(in.path, push)})}, receipt)
	w.Reasons = append(w.Reasons, model.Reason{If: w.Done, Err: ErrHandled})
	w.Done, w.Token = nil, bson.NilObjectID
	return w
}

// handleEvent is the write that applies an update and stores the event's receipt. The
// caller's own $push is joined with the push of the receipt, because an update can't have
// an operator twice.
func (in *untypedInbox) handleEvent(id any, update bson.D, event any, op bson.ObjectID) model.Write {
	refused := func(err error) model.Write { return model.Refused(in.docs.Name(), err) }
	receipt, err := in.makeReceipt(event, op)
	if err != nil {
		return refused(err)
	}
	byID, err := in.docs.ByID(id)
	if err != nil {
		return refused(err)
	}
	u, err := in.docs.Operators(update)
	if err == nil {
		err = in.docs.CheckUpdate(u)
	}
	if err != nil {
		return refused(err)
	}
	push := bson.E{Key: in.path, Value: bson.D{mql.E("$each", bson.A{receipt}), mql.E("$slice", -in.keep)}}
	pushed := false
	for i, e := range u {
		fields, ok := e.Value.(bson.D)
		if !ok || slices.ContainsFunc(u[:i], func(x bson.E) bool { return x.Key == e.Key }) {
			return refused(in.docs.Refuse(e.Key, nil, "must be given once, with a bson.D of fields"))
		}
		for _, f := range fields {
			to, _ := f.Value.(string)
			if core.Overlap(f.Key, in.path) || e.Key == "$rename" && core.Overlap(to, in.path) {
				return refused(in.docs.Refuse(f.Key, nil, "can't be written: the technique writes it"))
			}
		}
		if e.Key == "$push" {
			u[i].Value, pushed = append(slices.Clone(fields), push), true
		}
	}
	if !pushed {
		u = append(u, mql.E("$push", bson.D{push}))
	}
	return in.updateOnce(byID, u, receipt)
}

// updateOnce is an update that also stores a receipt, which isn't stored yet.
func (in *untypedInbox) updateOnce(byID, u, receipt bson.D) model.Write {
	w := model.Write{
		Collection: in.docs.Name(), Index: model.IDIndex, Expect: model.One, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: bsondoc.JoinFilters(byID, bson.D{mql.E(in.path+".t", mql.Op("$ne", receipt[0].Value))}),
			Update: u,
		},
	}
	in.recognizeRepeat(&w, byID, receipt)
	return w
}

// insertDocument is the write that stores a document as the effect of an event. ptr
// points to it.
func (in *untypedInbox) insertDocument(ptr, event any, op bson.ObjectID) model.Write {
	receipt, err := in.makeReceipt(event, op)
	if err != nil {
		return model.Refused(in.docs.Name(), err)
	}
	raw, id, err := in.docs.EncodeChecked(ptr)
	if err == nil {
		if held, _ := core.ValueAt(raw, in.path); len(core.Elements(held)) > 0 {
			err = in.docs.Refuse(in.path, held, "can't be written: the technique writes it")
		}
	}
	if err != nil {
		return model.Refused(in.docs.Name(), err)
	}
	if raw, err = core.SetFields(raw, bson.D{mql.E(in.path, bson.A{receipt})}); err != nil {
		return model.Refused(in.docs.Name(), in.docs.Refuse("document", nil, err.Error()))
	}
	byID := commands.MatchID(id)
	w := model.Write{Collection: in.docs.Name(), Index: model.IDIndex, Model: &mongo.InsertOneModel{Document: raw}}
	in.recognizeRepeat(&w, byID, receipt)
	w.Reasons = append(w.Reasons, model.Reason{If: byID, Err: commands.NewTakenError(in.docs.Name(), id, false)})
	return w
}
