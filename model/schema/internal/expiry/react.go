package expiry

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeReactions returns how a store gives a new document its time, and increases the version. The shell passes it to
// model.Parts.WithReactions. Every change increases the version, so with a version the reaction looks at the whole
// document.
func (x *Expiry) MakeReactions() []model.Reaction {
	r := model.Reaction{Collection: x.Name(), Paths: []string{x.at}, Amend: x.amendTimeAndVersion}
	if x.version != "" {
		r.Paths = []string{model.Whole}
	}
	return []model.Reaction{r}
}

// amendTimeAndVersion returns the fields that the store sets. A caller's own greater version stays. An update that
// changes only the version isn't a change.
func (x *Expiry) amendTimeAndVersion(w model.StoreWrite) (set bson.D, _ error) {
	if at, _ := core.ValueAt(w.After, x.at); x.spec.After > 0 && w.Before == nil && isNoTime(at) {
		set = append(set, bson.E{Key: x.at, Value: bson.NewDateTimeFromTime(w.Time)})
	}
	if x.version == "" {
		return set, nil
	}
	was, now := x.readVersion(w.Before), x.readVersion(w.Given)
	switch {
	case w.Before == nil && now == 0:
		set = append(set, bson.E{Key: x.version, Value: core.FirstVersion(w.Token)})
	case w.Before != nil && now <= was && w.ChangesBeside(x.version):
		set = append(set, bson.E{Key: x.version, Value: was + 1})
	}
	return set, nil
}

// isNoTime reports whether a document has no time: missing, null or Go's zero time.
func isNoTime(v bson.RawValue) bool {
	return v.Type == 0 || v.Type == bson.TypeNull || v.Type == bson.TypeDateTime && v.Time().IsZero()
}

// readVersion returns the version of a document. A missing or invalid version is 0.
func (x *Expiry) readVersion(doc bson.Raw) int64 {
	v, _ := core.ValueAt(doc, x.version)
	n, _ := v.AsInt64OK()
	return n
}
