package attributes

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// setAttributes is the write that sets attributes of the document that id finds.
func (a *untypedAttributes) setAttributes(id model.Query, list bson.D) model.Write {
	values, names := make([]any, len(list)), make([]string, len(list))
	for i, x := range list {
		v, err := a.docs.Encode(x.Value)
		if err == nil {
			_, err = core.CheckNames(v, "")
		}
		if err != nil {
			return model.Refused(a.docs.Name(),
				a.docs.Refuse(fmt.Sprintf("%s[%d].%s", a.path, i, a.value), nil, err.Error()))
		}
		values[i], names[i] = v, x.Key
	}
	if id.Err != nil {
		return model.Refused(a.docs.Name(), id.Err)
	}
	if err := a.checkNames(names); err != nil {
		return model.Refused(a.docs.Name(), err)
	}
	held := mql.IfNull("$"+a.path, bson.A{})
	branches, fresh := bson.A{}, bson.A{held}
	for i, text := range names {
		name, value := mql.Literal(text), mql.E(a.value, mql.Literal(values[i]))
		branches = append(branches, bson.D{
			{Key: "case", Value: mql.Op("$eq", "$$this."+a.name, name)},
			{Key: "then", Value: mql.Op("$mergeObjects", "$$this", bson.D{value})},
		})
		there := mql.Op("$in", name, mql.IfNull("$"+a.namePath(), bson.A{}))
		fresh = append(fresh, mql.Cond(there, bson.A{}, bson.A{bson.D{{Key: a.name, Value: name}, value}}))
	}
	fresh[0] = bson.D{{
		Key: "$map",
		Value: bson.D{{Key: "input", Value: held}, {Key: "in", Value: bson.D{{Key: "$switch", Value: bson.D{
			{Key: "branches", Value: branches}, {Key: "default", Value: "$$this"},
		}}}}},
	}}
	w := commands.UpdateIf(a.docs.Name(), id.Filter, mongo.Pipeline{
		mql.Set(mql.E(a.path, mql.Op("$concatArrays", fresh...))),
	})
	w.Expect = model.One
	return w
}

// unsetAttributes is the update that removes attributes.
func (a *untypedAttributes) unsetAttributes(names []string) (bson.D, error) {
	named := bson.D{{Key: a.name, Value: mql.Op("$in", mql.Array(names))}}
	return mql.Op("$pull", bson.D{{Key: a.path, Value: named}}), a.checkNames(names)
}

// checkNames refuses an empty list, an empty name, and a name that is given twice.
func (a *untypedAttributes) checkNames(names []string) error {
	if len(names) == 0 {
		return a.docs.Refuse(a.path, nil, "no attribute was given: give at least one")
	}
	seen := map[string]bool{}
	for i, n := range names {
		field := fmt.Sprintf("%s[%d].%s", a.path, i, a.name)
		switch {
		case n == "":
			return a.docs.Refuse(field, nil, "the name is empty")
		case seen[n]:
			return a.docs.Refuse(field, n, "is given twice: give each attribute once")
		}
		seen[n] = true
	}
	return nil
}
