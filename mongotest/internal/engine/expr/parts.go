package expr

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// partErrors are an operator's errors for an argument with named parts. In the texts %[1]s is the operator, %[2]s the
// part, or what was found where an object must be.
type partErrors struct {
	object, unknown, missing string
	notObject, notKnown      int32
	absent                   map[string]int32 // by part
}

const (
	onlyObject   = "%[1]s only supports an object as its argument"
	unrecognized = "Unrecognized argument to %[1]s: %[2]s"
	missingPart  = "Missing '%[2]s' parameter to %[1]s"
	unknownPart  = "%[1]s found an unknown argument: %[2]s"
	requiresPart = "%[1]s requires '%[2]s' to be specified"
	namedParts   = "%[1]s expects an object of named arguments but found: %[2]s"
	objectFound  = "%[1]s requires an object as an argument, found: %[2]s"
)

var (
	convertErrors = partErrors{namedParts, unknownPart, missingPart, mongoerr.FailedToParse, mongoerr.FailedToParse,
		map[string]int32{"input": mongoerr.FailedToParse, "to": mongoerr.FailedToParse}}
	dateToStringErrors  = partErrors{onlyObject, unrecognized, missingPart, 18629, 18534, map[string]int32{"date": 18628}}
	dateFromPartsErrors = partErrors{
		object: onlyObject, unknown: unrecognized,
		missing:   "%[1]s requires either 'year' or 'isoWeekYear' to be present",
		notObject: 40519, notKnown: 40518,
		absent: map[string]int32{"year": 40516},
	}
	dateAddErrors = partErrors{"%[1]s expects an object as its argument.found: %[2]s", unrecognized,
		"%[1]s requires startDate, unit, and amount to be present", 5166400, 5166401,
		map[string]int32{"startDate": 5166402, "unit": 5166402, "amount": 5166402}}
	dateDiffErrors = partErrors{onlyObject, unrecognized, missingPart, 5166301, 5166302,
		map[string]int32{"startDate": 5166303, "endDate": 5166304, "unit": 5166305}}
	dateTruncErrors = partErrors{
		object: onlyObject, unknown: unrecognized, missing: missingPart, notObject: 5439007, notKnown: 5439008,
		absent: map[string]int32{"date": 5439009, "unit": 5439010},
	}
	datePartErrors = partErrors{
		object: onlyObject, unknown: `unrecognized option to %[1]s: "%[2]s"`, missing: "missing 'date' argument to %[1]s",
		notObject: 40539, notKnown: 40535,
		absent: map[string]int32{"date": 40539},
	}
	setFieldErrors = partErrors{onlyObject, unknownPart, requiresPart, 4161100, 4161101,
		map[string]int32{"field": 4161102, "input": 4161109, "value": 4161103}}
	regexErrors = partErrors{namedParts, "%[1]s found unknown argument: %[2]s", "%[1]s requires '%[2]s' parameter", 51103, 31024,
		map[string]int32{"input": 31022, "regex": 31023}}
	replaceErrors = partErrors{objectFound, unknownPart, requiresPart, 51751, 51750,
		map[string]int32{"input": 51749, "find": 51748, "replacement": 51747}}
	trimErrors = partErrors{
		object:  "%[1]s only supports an object as an argument, found %[2]s",
		unknown: unknownPart, missing: "%[1]s requires an '%[2]s' field", notObject: 50696, notKnown: 50694,

		absent: map[string]int32{"input": 50695},
	}
)

func (r partErrors) refuse(code int32, format, name, part string) error {
	text := fmt.Sprintf(format+"%.0[1]s%.0[2]s", name, part)
	return mongoerr.New(code, "%s", text)
}

// parseParts parses an operator whose argument is an object with named parts. Names that end in "!" must be there. The
// result has nil for a part that isn't there.
func parseParts(name string, arg any, s Scope, r partErrors, names ...string) (map[string]Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, r.refuse(r.notObject, r.object, name, bsonval.TypeName(arg))
	}
	parts := map[string]Expr{}
	for _, f := range d {
		if !slices.Contains(names, f.Key) && !slices.Contains(names, f.Key+"!") {
			return nil, r.refuse(r.notKnown, r.unknown, name, f.Key)
		}
		e, err := Parse(f.Value, s)
		if err != nil {
			return nil, err
		}
		parts[f.Key] = e
	}
	for _, n := range names {
		if required, ok := strings.CutSuffix(n, "!"); ok && parts[required] == nil {
			return nil, r.refuse(r.absent[required], r.missing, name, required)
		}
	}
	return parts, nil
}

// evalPart evaluates a named part, or returns the default if the part isn't there.
func evalPart(c *Context, e Expr, otherwise any) (any, error) {
	if e == nil {
		return otherwise, nil
	}
	return e.Eval(c)
}
