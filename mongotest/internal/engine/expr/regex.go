package expr

import (
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// regexes are operators that match a string with a regular expression: {$regexMatch: {input: "$s", regex: "^h",
// options: "i"}}. Package pcre compiles and runs the expressions.
//
//	{$regexMatch: {input: "Héllo", regex: "^h", options: "i"}}   →   true
//	{$regexFind: {input: "Héllo", regex: "(l)(o)?"}}             →   {match: "l", idx: 2, captures: ["l", null]}
//	{$regexFindAll: {input: "Héllo", regex: "x"}}                →   []
var regexes = table{
	"$regexMatch":   parseMatching(isMatch, false),
	"$regexFind":    parseMatching(findFirst, nil),
	"$regexFindAll": parseMatching(findAll, bson.A{}),
}

// match is the function of an operator: it returns whether, or how, a regular expression matches a string.
type match func(re pcre.Regexp, s string) (any, error)

// parseMatching returns the parser of an operator. ofNull is the value for a nullish input or a nullish expression. An
// expression that doesn't depend on the document is compiled once, here.
func parseMatching(f match, ofNull any) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, regexErrors, "input!", "regex!", "options")
		if err != nil {
			return nil, err
		}
		compiled, err := readConstantRegex(name, parts)
		if err != nil {
			return nil, err
		}
		evalMatching := func(c *Context) (any, error) {
			text, re, null, err := evalRegexParts(c, name, parts, compiled)
			switch {
			case err != nil:
				return nil, err
			case null:
				return ofNull, nil
			}
			out, err := f(re, text)
			if err != nil {
				err = mongoerr.New(51156,
					"Error occurred while executing the regular expression in %s. Result code: %v", name, err)
			}
			return out, err
		}
		return function(evalMatching), nil
	}
}

// evalRegexParts evaluates the input and the expression, which it compiles unless compiled has it already. null reports
// that one of them is nullish.
func evalRegexParts(c *Context, name string, parts map[string]Expr, compiled pcre.Regexp) (
	text string, re pcre.Regexp, null bool, err error,
) {
	input, err := parts["input"].Eval(c)
	if err != nil {
		return "", nil, false, err
	}
	re = compiled
	if re == nil {
		source, err := parts["regex"].Eval(c)
		if err != nil {
			return "", nil, false, err
		}
		options, err := evalPart(c, parts["options"], nil)
		if err != nil {
			return "", nil, false, err
		}
		if re, err = compileParts(name, source, options); err != nil {
			return "", nil, false, err
		}
	}
	if re == nil || bsonval.IsNullish(input) {
		return "", nil, true, nil
	}
	text, ok := input.(string)
	if !ok {
		return "", nil, false, mongoerr.New(51104, "%s needs 'input' to be of type string", name)
	}
	return text, re, false, nil
}

// readConstantRegex compiles an expression whose parts are constant. It returns nil if they depend on the document.
func readConstantRegex(name string, parts map[string]Expr) (pcre.Regexp, error) {
	source, ok := Literal(parts["regex"])
	if !ok {
		return nil, nil
	}
	var options any
	if e := parts["options"]; e != nil {
		if options, ok = Literal(e); !ok {
			return nil, nil
		}
	}
	return compileParts(name, source, options)
}

// compileParts compiles an expression, a string or a BSON regular expression. A BSON regular expression may have its
// own options, and the part options must then be absent. It returns nil for a nullish expression.
func compileParts(name string, source, options any) (pcre.Regexp, error) {
	text, flags := "", ""
	switch x := source.(type) {
	case string:
		text = x
	case bson.Regex:
		text, flags = x.Pattern, x.Options
	default:
		if bsonval.IsNullish(source) {
			return nil, nil
		}
		return nil, mongoerr.New(51105, "%s needs 'regex' to be of type string or regex", name)
	}
	if !bsonval.IsNullish(options) {
		o, ok := options.(string)
		switch {
		case !ok:
			return nil, mongoerr.New(51106, "%s needs 'options' to be of type string", name)
		case flags != "":
			return nil, mongoerr.New(51107,
				"%s: found regex option(s) specified in both 'regex' and 'option' fields", name)
		}
		flags = o
	}
	re, err := pcre.Compile(text, flags)
	if err != nil {
		return nil, mongoerr.New(51111, "Invalid Regex in %s: %s", name, mongoerr.Convert(err).Message)
	}
	return re, nil
}

// isMatch is $regexMatch.
func isMatch(re pcre.Regexp, s string) (any, error) { return re.MatchString(s) }

// findFirst is $regexFind. Without a match it is null.
func findFirst(re pcre.Regexp, s string) (any, error) {
	all, err := re.FindAll(s, 1)
	if len(all) == 0 || err != nil {
		return nil, err
	}
	return describeMatch(s, all[0]), nil
}

// findAll is $regexFindAll. Without a match it is an empty array.
func findAll(re pcre.Regexp, s string) (any, error) {
	all, err := re.FindAll(s, -1)
	out := make(bson.A, len(all))
	for i, at := range all {
		out[i] = describeMatch(s, at)
	}
	return out, err
}

// describeMatch returns the document of a match. idx is the position in code points. captures has the text of each
// group, null for a group that took no part. at has byte offsets: the begin and the end of the match, then of each
// group.
//
//	{match: "ll", idx: 2, captures: ["l", null]}
func describeMatch(s string, at []int) bson.D {
	captures := bson.A{}
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			captures = append(captures, nil)
		} else {
			captures = append(captures, s[at[i]:at[i+1]])
		}
	}
	return bson.D{{Key: "match", Value: s[at[0]:at[1]]},
		{Key: "idx", Value: int32(utf8.RuneCountInString(s[:at[0]]))},
		{Key: "captures", Value: captures}}
}
