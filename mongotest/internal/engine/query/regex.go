package query

// This file has regular expressions: beside a field name, in $in and $all, and as $regex with $options. Package pcre
// compiles them. https://www.mongodb.com/docs/manual/reference/operator/query/regex/

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// pattern is the predicate of a regular expression. It passes for strings that the regular expression matches, and for
// the same regular expression stored as a value. No collation changes what it matches.
type pattern struct {
	re     pcre.Regexp
	source bson.Regex // as it was given
	// collated is set if the filter has a collation. A string's key under it doesn't begin as the string does, so the
	// pattern has no bounds.
	collated bool
}

// compilePattern returns the predicate of a regular expression, or MongoDB's error for a wrong one.

func (p *parser) compilePattern(source, options string) (pattern, error) {
	re, err := pcre.Compile(source, options)
	return pattern{re: re, source: bson.Regex{Pattern: source, Options: options}, collated: p.by != nil}, err
}

func (p *parser) parsePattern(source, options string) (cond, error) {
	re, err := p.compilePattern(source, options)
	if err != nil {
		return nil, err
	}
	return leaf{re}, nil
}

// test takes symbols for strings, as MongoDB does.
func (p pattern) test(v any, _ *int) bool {
	switch v := v.(type) {
	case string:
		return p.matches(v)
	case bson.Symbol:
		return p.matches(string(v))
	case bson.Regex:
		return v == p.source
	}
	return false
}

func (pattern) takesArrays() bool { return false }

// matches is false where the search reaches PCRE2's limits for backtracking. MongoDB doesn't report them either.
func (p pattern) matches(s string) bool {
	ok, _ := p.re.MatchString(s)
	return ok
}

// parseRegexOperator parses {$regex: "^x", $options: "i"}, in any order, and {$regex: /^x/i}. all is the document.
func parseRegexOperator(p *parser, arg any, all bson.D) (cond, error) {
	var source, options string
	switch x := arg.(type) {
	case string:
		source = x
	case bson.Regex:
		source, options = x.Pattern, x.Options
	default:
		return nil, mongoerr.New(mongoerr.BadValue, "$regex has to be a string")
	}
	if v, ok := bsonval.Get(all, "$options"); ok {
		s, isString := v.(string)
		switch {
		case !isString:
			return nil, mongoerr.New(mongoerr.BadValue, "$options has to be a string")
		case options != "":
			return nil, mongoerr.New(51075, "options set in both $regex and $options")
		}
		options = s
	}
	return p.parsePattern(source, options)
}

// parseOptions checks that $options has a $regex beside it, which reads the options. It returns no cond.
func parseOptions(_ *parser, _ any, all bson.D) (cond, error) {
	if _, ok := bsonval.Get(all, "$regex"); !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$options needs a $regex")
	}
	return nil, nil
}
