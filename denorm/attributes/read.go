package attributes

import (
	"cmp"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// matchEqual is the filter of the documents whose attribute has exactly this value.
func (a *untypedAttributes) matchEqual(name string, value any) (bson.D, error) {
	v, err := a.docs.Encode(value)
	if err != nil {
		err = a.docs.Refuse(a.valuePath(), nil, err.Error())
	}
	return a.matchElement(name, mql.Eq(v)), cmp.Or(a.checkName(name), err)
}

// matchCondition is the filter of the documents whose attribute matches a condition. A
// refused condition is compared as a value, so that it isn't a command if the filter is
// used in spite of the error.
func (a *untypedAttributes) matchCondition(name string, condition bson.D) (bson.D, error) {
	held, err := any(condition), a.checkCondition(condition)
	if v, encErr := a.docs.Encode(condition); encErr == nil { // else running the query refuses it
		held = v
	}
	if err != nil {
		held = mql.Eq(held)
	}
	return a.matchElement(name, held), cmp.Or(a.checkName(name), err)
}

// matchName is the filter of the documents that have an attribute.
func (a *untypedAttributes) matchName(name string) (bson.D, error) {
	return bson.D{{Key: a.namePath(), Value: name}}, a.checkName(name)
}

func (a *untypedAttributes) checkName(name string) error {
	if name == "" {
		return a.docs.Refuse(a.namePath(), nil, "the name is empty")
	}
	return nil
}

// matchElement matches name and condition in the same element, by $elemMatch.
func (a *untypedAttributes) matchElement(name string, condition any) bson.D {
	return bson.D{{
		Key:   a.path,
		Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: a.name, Value: name}, {Key: a.value, Value: condition}}}},
	}}
}

// checkCondition refuses conditions that MongoDB would compare as a document.
func (a *untypedAttributes) checkCondition(condition bson.D) error {
	for _, e := range condition {
		if !strings.HasPrefix(e.Key, "$") {
			return a.docs.Refuse(e.Key, nil, "isn't an operator: use Equal for a value that is a document")
		}
	}
	if len(condition) == 0 {
		return a.docs.Refuse(a.valuePath(), nil, "the condition is empty: use Has")
	}
	return nil
}

// countUses is the pipeline that counts names by the types of their values.
func (a *untypedAttributes) countUses() mongo.Pipeline {
	return append(a.unwindAttributes(),
		append(commands.CountUses("$a."+a.name, "$a."+a.value), mql.Sort(mql.E("name", 1), mql.E("type", 1)))...)
}

// unwindAttributes returns the stages that give one result for each attribute of each
// document.
func (a *untypedAttributes) unwindAttributes() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("a", "$"+a.path)),
		mql.Unwind("$a"),
		mql.Match(mql.E("a."+a.name, bson.D{{Key: "$type", Value: "string"}})),
	}
}
