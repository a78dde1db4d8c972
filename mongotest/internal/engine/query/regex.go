package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pcre"
)

// pattern passes for strings that the regular expression matches, and for the
// same regular expression stored as a value.
type pattern struct {
	re     pcre.Regexp
	source bson.Regex
	// collated says that index keys are those of a collation, which don't tell how a string begins.
	collated bool
}

func (p *parser) compilePattern(source, options string) (pattern, error) {
	re, err := pcre.Compile(source, options)
	return pattern{re, bson.Regex{Pattern: source, Options: options}, p.by != nil}, err
}

func (p *parser) parsePattern(source, options string) (cond, error) {
	re, err := p.compilePattern(source, options)
	if err != nil {
		return nil, err
	}
	return leaf{re}, nil
}

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

func (pattern) whole() bool { return false }

// matches is false, as MongoDB's is, where the search reaches PCRE2's limits.
func (p pattern) matches(s string) bool {
	ok, _ := p.re.MatchString(s)
	return ok
}

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

func parseOptions(_ *parser, _ any, all bson.D) (cond, error) {
	if _, ok := bsonval.Get(all, "$regex"); !ok {
		return nil, mongoerr.New(mongoerr.BadValue, "$options needs a $regex")
	}
	return nil, nil
}
