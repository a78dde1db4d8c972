package attributes

import (
	"cmp"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Equal is the filter of the documents whose attribute has a value.
func (a *List) Equal(name string, value any) (bson.D, error) {
	v, err := a.docs.Encode(value)
	if err != nil {
		err = a.docs.Refuse(a.values(), nil, err.Error())
	}
	return a.elem(name, mql.Eq(v)), cmp.Or(a.checkName(name), err)
}

// Match is the filter of the documents whose attribute fulfils a condition. A condition that is refused is compared as a
// value, so that it is no command where the filter is used nevertheless.
func (a *List) Match(name string, condition bson.D) (bson.D, error) {
	held, err := any(condition), a.checkCondition(condition)
	if v, encErr := a.docs.Encode(condition); encErr == nil { // else running the query refuses it
		held = v
	}
	if err != nil {
		held = mql.Eq(held)
	}
	return a.elem(name, held), cmp.Or(a.checkName(name), err)
}

// Has is the filter of the documents that have an attribute.
func (a *List) Has(name string) (bson.D, error) {
	return bson.D{{Key: a.names(), Value: name}}, a.checkName(name)
}

func (a *List) checkName(name string) error {
	if name == "" {
		return a.docs.Refuse(a.names(), nil, "the name is empty")
	}
	return nil
}

func (a *List) elem(name string, condition any) bson.D {
	return bson.D{{Key: a.path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: a.name, Value: name}, {Key: a.value, Value: condition}}}}}}
}

func (a *List) checkCondition(condition bson.D) error {
	for _, e := range condition {
		if !strings.HasPrefix(e.Key, "$") {
			return a.docs.Refuse(e.Key, nil, "isn't an operator: use Equal for a value that is a document")
		}
	}
	if len(condition) == 0 {
		return a.docs.Refuse(a.values(), nil, "the condition is empty: use Has")
	}
	return nil
}

// Survey is the pipeline that counts names by the types of their values.
func (a *List) Survey() mongo.Pipeline {
	return append(a.each(), append(commands.Uses("$a."+a.name, "$a."+a.value), mql.Sort(mql.E("name", 1), mql.E("type", 1)))...)
}

// each is one result for each attribute of each document.
func (a *List) each() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("a", "$"+a.path)),
		mql.Unwind("$a"),
		mql.Match(mql.E("a."+a.name, bson.D{{Key: "$type", Value: "string"}})),
	}
}
