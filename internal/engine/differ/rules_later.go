package differ

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// laterRules are of expressions too.
var laterRules = []rule{
	{
		"a constant is computed though an operand before it is null",
		"MongoDB's manual doesn't say when an expression without fields is computed.",
		func(x difference) bool {
			return x.kind == OnlyServer && x.server.computing() && constantAfterField(x.Command)
		},
	},
}

// stopAtNull are the operators whose operands are computed one after the other, up to the first that is null.
var stopAtNull = map[string]bool{
	"$add": true, "$multiply": true, "$concat": true, "$concatArrays": true, "$setUnion": true, "$setIntersection": true,
	"$indexOfArray": true, "$indexOfCP": true, "$indexOfBytes": true,
}

// constantAfterField reports whether such an operator has an operator of constants after another operand.
func constantAfterField(command bson.D) bool {
	found := false
	walk(command, func(key string, v any) {
		list, _ := v.(bson.A)
		for i := 1; stopAtNull[key] && i < len(list); i++ {
			found = found || hasConstantOperator(list[i])
		}
	})
	return found
}

// hasConstantOperator reports whether a value is, or has inside, an operator without any field of the input.
func hasConstantOperator(v any) bool {
	found := false
	values(v, func(v any) {
		doc, ok := v.(bson.D)
		found = found || ok && len(doc) == 1 && strings.HasPrefix(doc[0].Key, "$") && doc[0].Key != "$literal" && !mentions(doc, "$")
	})
	return found
}
