package expr

// This file parses arguments that are an object with named parts: {$trim: {input: "$s", chars: "."}}. MongoDB's
// operators refuse a wrong argument in different words, and so the errors of each operator are listed here.

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// partErrors are an operator's errors for an argument with named parts. In the texts %[1]s is the operator's name.
// %[2]s is the part's name, or for an argument that isn't an object the type of the argument. The errors of $dateAdd,
// for {$dateAdd: 5}, {$dateAdd: {when: "$d"}} and {$dateAdd: {unit: "day"}}:
//
//	5166400  $dateAdd expects an object as its argument.found: int
//	5166401  Unrecognized argument to $dateAdd: when
//	5166402  $dateAdd requires startDate, unit, and amount to be present
type partErrors struct {
	object, unknown, missing string           // texts: not an object, an unknown part, a missing part
	notObject, notKnown      int32            // codes: not an object, an unknown part
	absent                   map[string]int32 // codes: a missing part, by its name
}

// Texts that several operators have.
const (
	onlyObject   = "%[1]s only supports an object as its argument"
	unrecognized = "Unrecognized argument to %[1]s: %[2]s"
	missingPart  = "Missing '%[2]s' parameter to %[1]s"
	unknownPart  = "%[1]s found an unknown argument: %[2]s"
	requiresPart = "%[1]s requires '%[2]s' to be specified"
	namedParts   = "%[1]s expects an object of named arguments but found: %[2]s"
	objectFound  = "%[1]s requires an object as an argument, found: %[2]s"
)

// The errors of the operators, by their names. datePartErrors are for $year and all others of dateparts.go,
// regexErrors, replaceErrors and trimErrors for three operators each.
var (
	convertErrors = partErrors{
		object: namedParts, unknown: unknownPart, missing: missingPart,
		notObject: mongoerr.FailedToParse, notKnown: mongoerr.FailedToParse,
		absent: map[string]int32{"input": mongoerr.FailedToParse, "to": mongoerr.FailedToParse},
	}
	dateToStringErrors = partErrors{
		object: onlyObject, unknown: unrecognized, missing: missingPart, notObject: 18629, notKnown: 18534,
		absent: map[string]int32{"date": 18628},
	}
	dateFromPartsErrors = partErrors{
		object: onlyObject, unknown: unrecognized,
		missing:   "%[1]s requires either 'year' or 'isoWeekYear' to be present",
		notObject: 40519, notKnown: 40518,
		absent: map[string]int32{"year": 40516},
	}
	dateAddErrors = partErrors{
		object: "%[1]s expects an object as its argument.found: %[2]s", unknown: unrecognized,
		missing:   "%[1]s requires startDate, unit, and amount to be present",
		notObject: 5166400, notKnown: 5166401,
		absent: map[string]int32{"startDate": 5166402, "unit": 5166402, "amount": 5166402},
	}
	dateDiffErrors = partErrors{
		object: onlyObject, unknown: unrecognized, missing: missingPart, notObject: 5166301, notKnown: 5166302,
		absent: map[string]int32{"startDate": 5166303, "endDate": 5166304, "unit": 5166305},
	}
	dateTruncErrors = partErrors{
		object: onlyObject, unknown: unrecognized, missing: missingPart, notObject: 5439007, notKnown: 5439008,
		absent: map[string]int32{"date": 5439009, "unit": 5439010},
	}
	datePartErrors = partErrors{
		object: onlyObject, unknown: `unrecognized option to %[1]s: "%[2]s"`,
		missing:   "missing 'date' argument to %[1]s",
		notObject: 40539, notKnown: 40535,
		absent: map[string]int32{"date": 40539},
	}
	dateFromStringErrors = partErrors{
		object:  "%[1]s only supports an object as an argument, found: %[2]s",
		unknown: unrecognized, missing: missingPart, notObject: 40540, notKnown: 40541,
		absent: map[string]int32{"dateString": 40542},
	}
	dateToPartsErrors = partErrors{
		object: onlyObject, unknown: unrecognized, missing: missingPart, notObject: 40524, notKnown: 40520,
		absent: map[string]int32{"date": 40522},
	}
	setFieldErrors = partErrors{
		object: onlyObject, unknown: unknownPart, missing: requiresPart, notObject: 4161100, notKnown: 4161101,
		absent: map[string]int32{"field": 4161102, "input": 4161109, "value": 4161103},
	}
	regexErrors = partErrors{
		object: namedParts, unknown: "%[1]s found unknown argument: %[2]s",
		missing:   "%[1]s requires '%[2]s' parameter",
		notObject: 51103, notKnown: 31024,
		absent: map[string]int32{"input": 31022, "regex": 31023},
	}
	replaceErrors = partErrors{
		object: objectFound, unknown: unknownPart, missing: requiresPart, notObject: 51751, notKnown: 51750,
		absent: map[string]int32{"input": 51749, "find": 51748, "replacement": 51747},
	}
	trimErrors = partErrors{
		object:  "%[1]s only supports an object as an argument, found %[2]s",
		unknown: unknownPart, missing: "%[1]s requires an '%[2]s' field", notObject: 50696, notKnown: 50694,
		absent: map[string]int32{"input": 50695},
	}
)

// newPartError returns the error of a code, with one of an operator's texts. The verbs with the width 0 use both
// arguments without printing them, because a text may leave one out.
func newPartError(code int32, format, name, part string) error {
	text := fmt.Sprintf(format+"%.0[1]s%.0[2]s", name, part)
	return mongoerr.New(code, "%s", text)
}

// parseParts parses an operator whose argument is an object with named parts. A name in names that ends with "!" is a
// required part: parseParts(name, arg, s, trimErrors, "input!", "chars"). The result has no entry for a part that isn't
// given, so that parts["chars"] is nil. Parts are parsed in the order in which the command has them.
func parseParts(name string, arg any, s Scope, r partErrors, names ...string) (map[string]Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, newPartError(r.notObject, r.object, name, bsonval.TypeName(arg))
	}
	parts := map[string]Expr{}
	for _, f := range d {
		if !slices.Contains(names, f.Key) && !slices.Contains(names, f.Key+"!") {
			return nil, newPartError(r.notKnown, r.unknown, name, f.Key)
		}
		e, err := Parse(f.Value, s)
		if err != nil {
			return nil, err
		}
		parts[f.Key] = e
	}
	for _, n := range names {
		if required, ok := strings.CutSuffix(n, "!"); ok && parts[required] == nil {
			return nil, newPartError(r.absent[required], r.missing, name, required)
		}
	}
	return parts, nil
}

// evalPart evaluates a named part, or returns otherwise if the part isn't given.
func evalPart(c *Context, e Expr, otherwise any) (any, error) {
	if e == nil {
		return otherwise, nil
	}
	return e.Eval(c)
}
