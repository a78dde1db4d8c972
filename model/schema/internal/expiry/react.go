package expiry

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store gives a new document its time, and counts the version up.
func (x *Expiry) Reactions() []model.Reaction {
	r := model.Reaction{Collection: x.Name(), Paths: []string{x.at}, Amend: x.amend}
	if x.version != "" {
		r.Paths = []string{model.Whole}
	}
	return []model.Reaction{r}
}

func (x *Expiry) amend(w model.StoreWrite) (set bson.D, _ error) {
	if at, _ := core.ValueAt(w.After, x.at); x.spec.After > 0 && w.Before == nil && isNoTime(at) {
		set = append(set, bson.E{Key: x.at, Value: bson.NewDateTimeFromTime(w.Time)})
	}
	if x.version == "" {
		return set, nil
	}
	was, now := x.versionOf(w.Before), x.versionOf(w.Given)
	switch {
	case w.Before == nil && now == 0:
		set = append(set, bson.E{Key: x.version, Value: core.FirstVersion(w.Token)})
	case w.Before != nil && now <= was && w.ChangesBeside(x.version):
		set = append(set, bson.E{Key: x.version, Value: was + 1})
	}
	return set, nil
}

// isNoTime reports whether a value is missing, null or Go's zero time.
func isNoTime(v bson.RawValue) bool {
	return v.Type == 0 || v.Type == bson.TypeNull || v.Type == bson.TypeDateTime && v.Time().IsZero()
}

func (x *Expiry) versionOf(doc bson.Raw) int64 {
	v, _ := core.ValueAt(doc, x.version)
	n, _ := v.AsInt64OK()
	return n
}
