package expr

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// texts are operators on whole strings. substring.go has the operators on parts of strings, regex.go the operators with
// regular expressions. Operators named CP count code points, operators named Bytes count bytes of UTF-8.
//
//	{$concat: ["a", "!"]}                       →   "a!"
//	{$strLenCP: "Héllo"}                        →   5
//	{$strLenBytes: "Héllo"}                     →   6
//	{$split: ["a,b", ","]}                      →   ["a", "b"]
//	{$toUpper: "Héllo"}                         →   "HéLLO"
//	{$ltrim: {input: "xxy", chars: "x"}}        →   "y"
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

// maxText is how many bytes a string may have that $concat makes. It is MongoDB's limit of a buffer.
const maxText = 64 << 20

// concat is {$concat: [string, …]}.
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

// strLen returns the function of $strLenCP or $strLenBytes, which refuse null. code is for a value of another type.
func strLen(name string, code int32, length func(s string) int) values {
	return func(args []any) (any, error) {
		s, ok := args[0].(string)
		if !ok {
			return nil, mongoerr.New(code, "%s requires a string argument, found: %s", name, bsonval.TypeName(args[0]))
		}
		return int32(length(s)), nil
	}
}

// split is {$split: [string, separator]}: an array with one string more than there are separators.
func split(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) || bsonval.IsNullish(args[1]) {
		return nil, nil
	}
	s, ok := args[0].(string)
	if !ok {
		return nil, mongoerr.New(40085,
			"$split requires an expression that evaluates to a string as a first argument, found: %s",
			bsonval.TypeName(args[0]))
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

// changeCase returns the function of $toLower or $toUpper. It adds by to the letters between from and to. Only ASCII
// letters change, as the manual says.
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

// strcasecmp is {$strcasecmp: [a, b]}: -1, 0 or 1, the order of the two in capital letters. It knows no collation.
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

// coerceText converts an argument to a string, as $toLower, $toUpper, $strcasecmp and $substr do: a nullish value is
// empty, a number or a date is rendered. Other operators refuse values that aren't strings.
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

// whitespace are the characters that $trim removes if it has no chars. The manual of $trim lists them.
const whitespace = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

// parseTrim returns the parser of $trim, $ltrim or $rtrim: {$trim: {input: " x ", chars: " "}}. left and right say at
// which ends characters are removed. chars is a set of characters.
func parseTrim(left, right bool) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, trimErrors, "input!", "chars")
		if err != nil {
			return nil, err
		}
		evalTrim := func(c *Context) (any, error) {
			text, cut, null, err := evalTrimParts(c, name, parts)
			if null || err != nil {
				return nil, err
			}
			if left {
				text = strings.TrimLeft(text, cut)
			}
			if right {
				text = strings.TrimRight(text, cut)
			}
			return text, nil
		}
		return function(evalTrim), nil
	}
}

// evalTrimParts evaluates the string and the characters of $trim. null reports that one of them is nullish. The
// characters aren't evaluated for a nullish string.
func evalTrimParts(c *Context, name string, parts map[string]Expr) (text, cut string, null bool, err error) {
	input, err := parts["input"].Eval(c)
	if err != nil || bsonval.IsNullish(input) {
		return "", "", true, err
	}
	text, ok := input.(string)
	if !ok {
		return "", "", false, mongoerr.New(50699,
			"%s requires its input to be a string, got %s (of type %s) instead.", name,
			bsonval.Show(input), bsonval.TypeName(input))
	}
	chars, err := evalPart(c, parts["chars"], whitespace)
	if err != nil || bsonval.IsNullish(chars) {
		return "", "", true, err
	}
	cut, ok = chars.(string)
	if !ok {
		return "", "", false, mongoerr.New(50700,
			"%s requires 'chars' to be a string, got %s (of type %s) instead.", name,
			bsonval.Show(chars), bsonval.TypeName(chars))
	}
	return text, cut, false, nil
}
