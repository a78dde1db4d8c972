package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// childrenOf reads the children of some parents, in order, by the key of the parent.
func (v *Inversion) childrenOf(b *batchReader, parents []bson.Raw) (map[string][]bson.Raw, error) {
	return b.by(v.Children, v.Ref, idsOf(parents, "_id"), commands.Fields(v.Ref, v.Position), v.order())
}

// unheldIDs are the ids in a list whose children don't hold the parent: they hold another or none, or don't exist.
type unheldIDs struct{ held, free, dangling []bson.RawValue }

// unheld looks them up, for a batch of parents. Under FirstWins a child that holds an earlier parent is left out.
func (v *Inversion) unheld(b *batchReader, parents []bson.Raw, mine map[string][]bson.Raw) ([]unheldIDs, error) {
	rest := make([][]bson.RawValue, len(parents))
	var all []bson.RawValue
	for i, p := range parents {
		id := p.Lookup("_id")
		_, rest[i] = partBy(uniqueValues(core.Elements(valueAt(p, v.List))), idsOf(mine[bsonval.Key(id)], "_id"))
		all = append(all, rest[i]...)
	}
	docs, err := b.byID(v.Children, all, commands.Fields(v.Ref))
	if err != nil {
		return nil, err
	}
	out := make([]unheldIDs, len(parents))
	for i, p := range parents {
		for _, child := range rest[i] {
			doc, ok := docs[bsonval.Key(child)]
			ref := valueAt(doc, v.Ref)
			switch {
			case !ok:
				out[i].dangling = append(out[i].dangling, child)
			case !isID(ref):
				out[i].free = append(out[i].free, child)
			case v.FirstWins && bsonval.CompareRaw(ref, p.Lookup("_id")) < 0:
			default:
				out[i].held = append(out[i].held, child)
			}
		}
	}
	return out, nil
}
