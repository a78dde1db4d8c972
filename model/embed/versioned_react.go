package embed

import (
	"fmt"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reactions returns how a store's writes count the version up. The store compares the
// document with the one that it read. So a version in the caller's document is only
// compared.
func (v *versioning) reactions() []model.Reaction {
	return []model.Reaction{{
		Collection: v.docs.Name(), Paths: []string{model.Whole}, Amend: v.amend, Applied: v.appliedIn,
	}}
}

// amend returns the first or the next version, and outside transactions the tokens.
func (v *versioning) amend(w model.StoreWrite) (bson.D, error) {
	now, err := v.stored(w.Given)
	if err != nil {
		return nil, err
	}
	if w.Before == nil {
		if now != 0 {
			return nil, v.docs.Refuse(v.version, now, "must be 0 in a new document: the store makes its version")
		}
		return v.stampOf(w, core.FirstVersion(w.Token))
	}
	was, err := v.stored(w.Before)
	switch {
	case err != nil:
		return nil, err
	case now != was:
		return nil, core.Final(fmt.Errorf("%w (%s %s: %s is %d, not %d)", ErrVersion, v.docs.Name(),
			model.Shell(w.Before.Lookup("_id")), v.version, was, now))
	case !w.ChangesBeside(slices.Concat(v.spared, []string{v.version})...):
		return nil, nil
	}
	if err := v.checkVersion(was); err != nil {
		return nil, err
	}
	return v.stampOf(w, was+1)
}

// stampOf returns the fields with a version and the write's token.
func (v *versioning) stampOf(w model.StoreWrite, version int64) (bson.D, error) {
	set := bson.D{{Key: v.version, Value: version}}
	if v.ops == "" || w.Tx {
		return set, nil
	}
	before, err := v.tokens(w.Before)
	if err != nil {
		return nil, err
	}
	return append(set, bson.E{Key: v.ops, Value: v.withToken(before, w.Token)}), nil
}

// stored returns the version of a stored document.
func (v *versioning) stored(doc bson.Raw) (int64, error) {
	n, inArray := core.ValueAt(doc, v.version)
	if n.Type == 0 || n.Type == bson.TypeNull {
		return 0, nil
	}
	i, ok := n.AsInt64OK()
	if d, isDouble := n.DoubleOK(); isDouble {
		ok = d == math.Trunc(d)
	}
	if inArray || !ok {
		return 0, v.docs.Refuse(v.version, n, "isn't a version")
	}
	return i, nil
}

// appliedIn reports whether a stored document contains the write's token.
func (v *versioning) appliedIn(w model.StoreWrite) (bool, error) {
	if v.ops == "" {
		return false, nil
	}
	return v.hasToken(w.Before, w.Token)
}
