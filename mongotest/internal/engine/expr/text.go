package expr

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// texts work on whole strings.
var texts = table{
	"$concat":      callToNull(0, -1, concat),
	"$strLenCP":    call(1, 1, strLen("$strLenCP", 34471, utf8.RuneCountInString)),
	"$strLenBytes": call(1, 1, strLen("$strLenBytes", 34473, func(s string) int { return len(s) })),
	"$split":       call(2, 2, split),
	"$toLower":     call(1, 1, changeCase('A', 'Z', 'a'-'A')),
	"$toUpper":     call(1, 1, changeCase('a', 'z', 'A'-'a')),
	"$strcasecmp":  call(2, 2, strcasecmp),
	"$trim":        parseTrim(true, true),
	"$ltrim":       parseTrim(true, false),
	"$rtrim":       parseTrim(false, true),
}

// maxText is how long a text may become.
const maxText = 64 << 20

func concat(args []any) (any, error) {
	var b strings.Builder
	for _, v := range args {
		if bsonval.IsNullish(v) {
			return nil, nil
		}
		s, ok := v.(string)
		if !ok {
			return nil, mongoerr.New(16702, "$concat only supports strings, not %s", bsonval.TypeName(v))
		}
		if n := b.Len() + len(s); n > maxText {
			return nil, mongoerr.New(13548, "BufBuilder attempted to grow() to %d bytes, past the 64MB limit.", n)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func strLen(name string, code int32, length func(s string) int) values {
	return func(args []any) (any, error) {
		s, ok := args[0].(string)
		if !ok {
			return nil, mongoerr.New(code, "%s requires a string argument, found: %s", name, bsonval.TypeName(args[0]))
		}
		return int32(length(s)), nil
	}
}

func split(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) || bsonval.IsNullish(args[1]) {
		return nil, nil
	}
	s, ok := args[0].(string)
	if !ok {
		return nil, mongoerr.New(40085,
			"$split requires an expression that evaluates to a string as a first argument, found: %s", bsonval.TypeName(args[0]))
	}
	sep, ok := args[1].(string)
	switch {
	case !ok:
		return nil, mongoerr.New(40086,
			"$split requires an expression that evaluates to a string as a second argument, found: %s",
			bsonval.TypeName(args[1]))
	case sep == "":
		return nil, mongoerr.New(40087, "$split requires a non-empty separator")
	}
	out := bson.A{}
	for part := range strings.SplitSeq(s, sep) {
		out = append(out, part)
	}
	return out, nil
}

// changeCase moves ASCII letters only, as the manual says.
func changeCase(from, to byte, by int) values {
	return func(args []any) (any, error) {
		s, err := coerceText(args[0])
		if err != nil {
			return nil, err
		}
		b := []byte(s)
		for i, c := range b {
			if c >= from && c <= to {
				b[i] = byte(int(c) + by)
			}
		}
		return string(b), nil
	}
}

func strcasecmp(args []any) (any, error) {
	upper := changeCase('a', 'z', 'A'-'a')
	a, err := upper(args[:1])
	if err != nil {
		return nil, err
	}
	b, err := upper(args[1:])
	if err != nil {
		return nil, err
	}
	return int32(strings.Compare(a.(string), b.(string))), nil
}

// coerceText is the implicit conversion to a string: null is empty.
func coerceText(v any) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case bson.Symbol:
		return string(x), nil
	case bson.JavaScript:
		return string(x), nil
	case int32, int64, float64, bson.Decimal128, bson.DateTime:
		return renderText(v), nil
	}
	if bsonval.IsNullish(v) {
		return "", nil
	}
	return "", mongoerr.New(16007, "can't convert from BSON type %s to String", bsonval.TypeName(v))
}

const whitespace = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

func parseTrim(left, right bool) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, trimErrors, "input!", "chars")
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			input, err := parts["input"].Eval(c)
			if err != nil || bsonval.IsNullish(input) {
				return nil, err
			}
			text, ok := input.(string)
			if !ok {
				return nil, mongoerr.New(50699, "%s requires its input to be a string, got %s (of type %s) instead.", name,
					Show(input), bsonval.TypeName(input))
			}
			chars, err := evalPart(c, parts["chars"], whitespace)
			if err != nil || bsonval.IsNullish(chars) {
				return nil, err
			}
			cut, ok := chars.(string)
			if !ok {
				return nil, mongoerr.New(50700, "%s requires 'chars' to be a string, got %s (of type %s) instead.", name,
					Show(chars), bsonval.TypeName(chars))
			}
			if left {
				text = strings.TrimLeft(text, cut)
			}
			if right {
				text = strings.TrimRight(text, cut)
			}
			return text, nil
		}), nil
	}
}
