package twosided

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// link is a versioned link as it is stored.
func link(id any, v int64, op bson.ObjectID) bson.D {
	return bson.D{{Key: "id", Value: id}, {Key: "v", Value: v}, {Key: "op", Value: op}}
}

// ended is a single reference that holds nothing any more.
func ended(v int64, op bson.ObjectID) bson.D { return append(link(nil, v, op), mql.E("ended", true)) }

// exactly is the condition of one operation's link at one version.
func exactly(id any, v int64, op bson.ObjectID) bson.D { return link(model.Eq(id), v, op) }

// versions is the condition of the links to a document whose versions compare so.
func versions(id any, compare string, v int64) bson.D {
	return bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: mql.Op(compare, v)}}
}

// atVersion finds the document of an _id whose version is as it was read; 0 is also a version that is missing.
func atVersion(id any, path string, v int64) bson.D {
	stored := any(v)
	if v == 0 {
		stored = stmt.In(bson.A{nil, int64(0)})
	}
	return append(commands.ByID(id), mql.E(path, stored))
}

// element is the condition of a list that holds such an element.
func element(link bson.D) bson.D { return mql.Op("$elemMatch", link) }

// reserve is the write that lists a link before the other side decides, if there is room. It removes the links to the same document
// below the version: no operation can decide for them any more. A first link has none below it.
func (e End) reserve(holder, id any, v int64, token bson.ObjectID) model.Write {
	own := element(exactly(id, v, token))
	filter := append(commands.ByID(holder), mql.E(e.Path, mql.Op("$not", own)))
	var update any
	if v == 1 {
		filter, update = model.And(filter, e.room()), stmt.Operator("$push", e.Path, link(id, v, token))
	} else {
		if e.Max > 0 {
			filter = append(filter, mql.E("$or", bson.A{e.room(), bson.D{{Key: e.Path, Value: element(versions(id, "$lt", v))}}}))
		}
		others := stmt.Filtered(mql.IfNull("$"+e.Path, bson.A{}), "l",
			mql.Op("$or", mql.Op("$ne", "$$l.id", mql.Literal(id)), mql.Op("$gte", "$$l.v", v)))
		update = mongo.Pipeline{stmt.Set(e.Path, mql.Op("$concatArrays", others, bson.A{mql.Literal(link(id, v, token))}))}
	}
	w := commands.UpdateOne(e.Docs.Name(), filter, update)
	w.Once, w.Reasons, w.Done = true, e.full(holder), append(commands.ByID(holder), mql.E(e.Path, own))
	return w
}

// add is the write that lists a bare id, if there is room.
func (e End) add(holder, id any) model.Write {
	w := commands.UpdateOne(e.Docs.Name(), commands.ByID(holder), stmt.Operator("$addToSet", e.Path, id))
	if e.Max > 0 {
		m := w.Model.(*mongo.UpdateOneModel)
		m.Filter = model.And(m.Filter.(bson.D), bson.D{{Key: "$or", Value: bson.A{stmt.Is(e.Path, id), e.room()}}})
		w.Once, w.Reasons = true, e.full(holder)
	}
	return w
}

// pull is the write that removes elements from a list, if its document is there.
func (e End) pull(holder, cond any) model.Write {
	return commands.UpdateIf(e.Docs.Name(), commands.ByID(holder), stmt.Operator("$pull", e.Path, cond))
}

// unbounded is the end for mending: no list is too full to be made right.
func (e End) unbounded() End {
	e.Max = 0
	return e
}

// last is the path of the element that a full list has.
func (e End) last() string { return fmt.Sprintf("%s.%d", e.Path, e.Max-1) }

// room is the condition that a list has room, or nothing for no bound.
func (e End) room() bson.D {
	if e.Max == 0 {
		return nil
	}
	return stmt.Exists(e.last(), false)
}

// full is the reason that a list without room matches nothing.
func (e End) full(id any) []model.Reason {
	if e.Max == 0 {
		return nil
	}
	return []model.Reason{{
		If:  append(commands.ByID(id), stmt.Exists(e.last(), true)...),
		Err: e.fullError(id),
	}}
}

func (e End) fullError(id any) error {
	return fmt.Errorf("docmodel: %s of %s %s has %d links already: %w", e.Path, e.Docs.Name(), model.Shell(id), e.Max, model.ErrFull)
}

// checkOp refuses the operation token that the form of the links doesn't take.
func (e End) checkOp(op bson.ObjectID) error {
	switch {
	case e.Links && op.IsZero():
		return e.Docs.Refuse("token", nil, "is the zero ObjectID: pass bson.NewObjectID(), and the same token when the operation is run again")
	case !e.Links && !op.IsZero():
		return e.Docs.Refuse("token", op, "isn't stored with bare ids: pass bson.NilObjectID")
	}
	return nil
}
