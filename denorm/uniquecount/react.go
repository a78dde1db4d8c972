package uniquecount

import (
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns how a store makes the _id and the period of a new visit. Counts
// are read from the documents, so a deletion needs no reaction.
func (u *untypedCount) makeReactions() []model.Reaction {
	return []model.Reaction{{
		Collection: u.docs.Name(), Paths: []string{"group", "member", "period", "from"}, Derives: []string{"period"},
		Amend: u.amendVisit, ID: u.makeStoredID,
	}}
}

// makeStoredID returns the _id of a new visit. The caller may have set the same _id.
func (u *untypedCount) makeStoredID(doc bson.Raw) (bson.RawValue, error) {
	v, err := u.readVisit(doc)
	given, id := doc.Lookup("_id"), core.MustRawValue(v.id)
	if text, _ := given.StringValueOK(); err == nil && text != "" && text != v.id {
		err = u.docs.Refuse("_id", given, "isn't the key of the visit, which is "+model.Shell(id)+": leave it empty")
	}
	return id, err
}

// readVisit returns the visit that a document describes, at the time of its field from.
func (u *untypedCount) readVisit(doc bson.Raw) (v visit, err error) {
	group, ok := keytext.EncodeStoredKey(doc.Lookup("group"))
	if !ok {
		return v, u.docs.Refuse("group", nil, "is empty: give the group to count")
	}
	member, ok := keytext.EncodeStoredKey(doc.Lookup("member"))
	if !ok {
		return v, u.docs.Refuse("member", nil, "is empty: give the member to count")
	}
	var at time.Time
	if from := doc.Lookup("from"); from.Type == bson.TypeDateTime {
		at = from.Time()
	}
	if u.period == keytext.None {
		if !at.IsZero() {
			return v, u.docs.Refuse("from", at, "must be empty: the spec has no Period")
		}
		v.id = group + "#" + member
		return v, nil
	}
	period, err := u.formatPeriod("from", at)
	v.id = group + "#" + period + "#" + member
	v.fields = bson.D{mql.E("period", period), mql.E("from", u.period.StartOf(at, u.spec.Location))}
	return v, err
}

// amendVisit returns the period of a visit. It refuses an update that changes a part of
// the _id.
func (u *untypedCount) amendVisit(w model.StoreWrite) (bson.D, error) {
	v, err := u.readVisit(w.After)
	if err != nil || w.Before == nil || v.id == w.After.Lookup("_id").StringValue() {
		return v.fields, err
	}
	for _, path := range []string{"group", "member", "from"} {
		if now := w.After.Lookup(path); !bsonval.EqualRaw(now, w.Before.Lookup(path)) {
			return nil, u.docs.Refuse(path, now, "is a part of the _id: delete the document, and insert another")
		}
	}
	return v.fields, nil
}
