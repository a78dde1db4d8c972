package expr

import (
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// regexes match strings; see package pcre for their syntax.
var regexes = table{
	"$regexMatch":   parseMatching(isMatch, false),
	"$regexFind":    parseMatching(findFirst, nil),
	"$regexFindAll": parseMatching(findAll, bson.A{}),
}

func parseMatching(f func(re pcre.Regexp, s string) (any, error), ofNull any) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, regexErrors, "input!", "regex!", "options")
		if err != nil {
			return nil, err
		}
		compiled, err := readConstantRegex(name, parts)
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			input, err := parts["input"].Eval(c)
			if err != nil {
				return nil, err
			}
			re := compiled
			if re == nil {
				source, err := parts["regex"].Eval(c)
				if err != nil {
					return nil, err
				}
				options, err := evalPart(c, parts["options"], nil)
				if err != nil {
					return nil, err
				}
				if re, err = compileParts(name, source, options); err != nil {
					return nil, err
				}
			}
			if re == nil || bsonval.IsNullish(input) {
				return ofNull, nil
			}
			text, ok := input.(string)
			if !ok {
				return nil, mongoerr.New(51104, "%s needs 'input' to be of type string", name)
			}
			out, err := f(re, text)
			if err != nil {
				err = mongoerr.New(51156, "Error occurred while executing the regular expression in %s. Result code: %v", name, err)
			}
			return out, err
		}), nil
	}
}

// readConstantRegex compiles once what doesn't depend on the document; nil when it does.
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

// compileParts returns nil for a null regular expression.
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
			return nil, mongoerr.New(51107, "%s: found regex option(s) specified in both 'regex' and 'option' fields", name)
		}
		flags = o
	}
	re, err := pcre.Compile(text, flags)
	if err != nil {
		return nil, mongoerr.New(51111, "Invalid Regex in %s: %s", name, mongoerr.Convert(err).Message)
	}
	return re, nil
}

func isMatch(re pcre.Regexp, s string) (any, error) { return re.MatchString(s) }

func findFirst(re pcre.Regexp, s string) (any, error) {
	all, err := re.FindAll(s, 1)
	if len(all) == 0 || err != nil {
		return nil, err
	}
	return describeMatch(s, all[0]), nil
}

func findAll(re pcre.Regexp, s string) (any, error) {
	all, err := re.FindAll(s, -1)
	out := make(bson.A, len(all))
	for i, at := range all {
		out[i] = describeMatch(s, at)
	}
	return out, err
}

// describeMatch returns what $regexFind tells of a match.
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
