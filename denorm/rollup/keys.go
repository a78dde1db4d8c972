package rollup

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// describeKeys says how a bin with an old _id is joined to the tenant's.
func (r *untypedRollup) describeKeys() model.KeyedDocs {
	return model.KeyedDocs{Collection: r.bins.Name(), Join: r.joinBins}
}

// joinBins adds the numbers of a bin to another one of the same group and time. If both
// have a common batch, its numbers can't be separated, so such bins aren't joined.
func (r *untypedRollup) joinBins(old, now bson.Raw) (bson.D, bool) {
	ops := core.Elements(old.Lookup("ops"))
	for _, v := range ops {
		if op, ok := v.ObjectIDOK(); !ok || hasToken(now, op) {
			return nil, false
		}
	}
	t := r.decodeBin(old)
	inc, low, high := bson.D{mql.E("n", t.n)}, bson.D{}, bson.D{}
	for i, p := range t.parts {
		at := "values." + r.sources[i].flatName() + "."
		if p.n != 0 {
			inc = append(inc, mql.E(at+"n", p.n))
		}
		if p.sum != nil {
			inc = append(inc, mql.E(at+"sum", p.sum))
		}
		if p.min != nil {
			low = append(low, mql.E(at+"min", p.min))
		}
		if p.max != nil {
			high = append(high, mql.E(at+"max", p.max))
		}
	}
	// The old bin's tokens come first, so that $slice removes them before newer ones.
	push := bson.D{mql.E("$each", mql.Array(ops)), mql.E("$position", 0), mql.E("$slice", -r.keep)}
	return commands.JoinOperators(mql.E("$inc", inc), mql.E("$min", low), mql.E("$max", high),
		mql.E("$push", bson.D{mql.E("ops", push)})), true
}
