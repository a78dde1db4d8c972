package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readChildren reads the children of some parents, in order, by the parent's key.
func (v *inversion) readChildren(b *batchReader, parents []bson.Raw) (map[string][]bson.Raw, error) {
	return b.readGrouped(
		v.Children, v.Ref, readIDs(parents, "_id"), commands.ProjectFields(v.Ref, v.Position), v.sortChildren(),
	)
}

// An unheldIDs has the ids of a list whose children don't refer to the parent: they refer
// to another one (held) or to none (free), or don't exist (dangling).
type unheldIDs struct{ held, free, dangling []bson.RawValue }

// readUnheld reads them for a batch of parents. With FirstWins, children that refer to an
// earlier parent are left out.
func (v *inversion) readUnheld(b *batchReader, parents []bson.Raw, mine map[string][]bson.Raw) ([]unheldIDs, error) {
	rest := make([][]bson.RawValue, len(parents))
	var all []bson.RawValue
	for i, p := range parents {
		id := p.Lookup("_id")
		_, rest[i] = partByValues(
			removeDuplicates(core.Elements(readValue(p, v.List))), readIDs(mine[bsonval.Key(id)], "_id"),
		)
		all = append(all, rest[i]...)
	}
	docs, err := b.readByID(v.Children, all, commands.ProjectFields(v.Ref))
	if err != nil {
		return nil, err
	}
	out := make([]unheldIDs, len(parents))
	for i, p := range parents {
		for _, child := range rest[i] {
			doc, ok := docs[bsonval.Key(child)]
			ref := readValue(doc, v.Ref)
			switch {
			case !ok:
				out[i].dangling = append(out[i].dangling, child)
			case !isID(ref):
				out[i].free = append(out[i].free, child)
			// An earlier parent has the child, as FirstWins wants it.
			case v.FirstWins && bsonval.CompareRaw(ref, p.Lookup("_id")) < 0:
			default:
				out[i].held = append(out[i].held, child)
			}
		}
	}
	return out, nil
}
