package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// substrings are operators that take a part of a string, by a position and a length. $substr is an old name of
// $substrBytes. A CP in a name means that both are counted in code points, else in bytes.
//
//	{$substrBytes: ["Héllo", 3, -1]}   →   "llo"
//	{$substrCP: ["Héllo", 1, 2]}       →   "él"
var substrings = table{
	"$substr":      call(3, 3, substrBytes),
	"$substrBytes": call(3, 3, substrBytes),
	"$substrCP":    call(3, 3, substrCP),
}

// searching are operators that find or replace a string in a string. They compare bytes, whatever the collation.
//
//	{$indexOfCP: ["Héllo", "l"]}                                   →   2
//	{$indexOfBytes: ["Héllo", "l"]}                                →   3
//	{$replaceOne: {input: "aXbX", find: "X", replacement: "-"}}    →   "a-bX"
var searching = table{
	"$indexOfCP":    callIfGiven(2, 4, indexOfCP),
	"$indexOfBytes": callIfGiven(2, 4, indexOfBytes),
	"$replaceOne":   parseReplace(1),
	"$replaceAll":   parseReplace(-1),
}

// substrBytes is {$substrBytes: [string, position, length]}. A negative length means to the end. Both ends must be
// between two characters of UTF-8.
func substrBytes(args []any) (any, error) {
	s, err := coerceText(args[0])
	if err != nil {
		return nil, err
	}
	from, ok := bsonval.TruncInt64(args[1])
	if !ok {
		return nil, mongoerr.New(16034, "$substrBytes:  starting index must be a numeric type (is BSON type %s)",
			bsonval.TypeName(args[1]))
	}
	n, ok := bsonval.TruncInt64(args[2])
	if !ok {
		return nil, mongoerr.New(16035, "$substrBytes:  length must be a numeric type (is BSON type %s)",
			bsonval.TypeName(args[2]))
	}
	size := int64(len(s))
	if from < 0 {
		return nil, mongoerr.New(50752, "$substrBytes:  starting index must be non-negative (got: %d)", from)
	}
	if from >= size {
		return "", nil
	}
	to := size
	if n >= 0 && n < size-from {
		to = from + n
	}
	if !utf8.RuneStart(s[from]) {
		return nil, mongoerr.New(28656, "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.")
	}
	if to < size && !utf8.RuneStart(s[to]) {
		return nil, mongoerr.New(28657,
			"$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.")
	}
	return s[from:to], nil
}

// substrCP is {$substrCP: [string, position, length]}. Unlike $substrBytes it refuses a negative length.
func substrCP(args []any) (any, error) {
	s, err := coerceText(args[0])
	if err != nil {
		return nil, err
	}
	// The position has the codes 34450 and 34451, the length 34452 and 34453.
	var numbers [2]int64
	for i, v := range args[1:] {
		what := []string{"starting index", "length"}[i]
		if !bsonval.IsNumber(v) {
			return nil, mongoerr.New(int32(34450+2*i), "$substrCP: %s must be a numeric type (is BSON type %s)",
				what, bsonval.TypeName(v))
		}
		n, ok := toInt32(v)
		if !ok {
			return nil, mongoerr.New(int32(34451+2*i),
				"$substrCP: %s cannot be represented as a 32-bit integral value: %s", what, bsonval.Show(v))
		}
		numbers[i] = n
	}
	from, n := numbers[0], numbers[1]
	switch {
	case n < 0:
		return nil, mongoerr.New(34454, "$substrCP: length must be a nonnegative integer.")
	case from < 0:
		return nil, mongoerr.New(34455, "$substrCP: the starting index must be nonnegative integer.")
	}
	// at counts the code points, i the bytes.
	start, end, at := len(s), len(s), int64(0)
	for i := range s {
		if at == from {
			start = i
		}
		if at == from+n {
			end = i
			break
		}
		at++
	}
	return s[start:max(start, end)], nil
}

// readSearchStrings reads the first two arguments of $indexOfCP or $indexOfBytes: the string to search in, and the
// string to search for. code is the error's for the first argument, code+1 for the second. null reports that the first
// argument is nullish.
func readSearchStrings(name string, code int32, args []any) (s, sub string, null bool, err error) {
	if bsonval.IsNullish(args[0]) {
		return "", "", true, nil
	}
	s, ok := args[0].(string)
	if !ok {
		return "", "", false, mongoerr.New(code, "%s requires a string as the first argument, found: %s", name,
			bsonval.TypeName(args[0]))
	}
	sub, ok = args[1].(string)
	if !ok {
		return "", "", false, mongoerr.New(code+1, "%s requires a string as the second argument, found: %s", name,
			bsonval.TypeName(args[1]))
	}
	return s, sub, false, nil
}

// indexOfCP is {$indexOfCP: [string, sub, start, end]}: the position of the first sub, -1 if there is none.
func indexOfCP(args []any) (any, error) {
	s, sub, null, err := readSearchStrings("$indexOfCP", 40093, args)
	if null || err != nil {
		return nil, err
	}
	runes := []rune(s)
	from, to, err := readSearchRange("$indexOfCP", args, int64(len(runes)))
	if err != nil || from > to {
		return int32(-1), err
	}
	i := strings.Index(string(runes[from:to]), sub)
	if i < 0 {
		return int32(-1), nil
	}
	return int32(int(from) + utf8.RuneCountInString(string(runes[from:to])[:i])), nil
}

// indexOfBytes is {$indexOfBytes: [string, sub, start, end]}. It may begin or end within a character.
func indexOfBytes(args []any) (any, error) {
	s, sub, null, err := readSearchStrings("$indexOfBytes", 40091, args)
	if null || err != nil {
		return nil, err
	}
	from, to, err := readSearchRange("$indexOfBytes", args, int64(len(s)))
	if err != nil || from > to {
		return int32(-1), err
	}
	i := strings.Index(s[from:to], sub)
	if i < 0 {
		return int32(-1), nil
	}
	return int32(int(from) + i), nil
}

// insertBetween inserts a text before each byte of s and at its end: {$replaceAll: {find: ""}} finds the empty string
// there in MongoDB, also within a character. Go's strings.Replace finds it only between characters.
func insertBetween(s, between string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(between)
		b.WriteByte(s[i])
	}
	b.WriteString(between)
	return b.String()
}

// parseReplace returns the parser of {$replaceOne: {input: string, find: string, replacement: string}}, where times is
// 1, or of $replaceAll, where times is -1.
func parseReplace(times int) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, replaceErrors, "input!", "find!", "replacement!")
		if err != nil {
			return nil, err
		}
		evalReplace := func(c *Context) (any, error) {
			texts, null, err := evalReplaceParts(c, name, parts)
			switch {
			case null || err != nil:
				return nil, err
			case texts[1] == "" && times < 0:
				return insertBetween(texts[0], texts[2]), nil
			}
			return strings.Replace(texts[0], texts[1], texts[2], times), nil
		}
		return function(evalReplace), nil
	}
}

// evalReplaceParts evaluates the three strings: input, find, replacement. null reports that one of them is nullish. All
// are evaluated, because a wrong type is an error even beside null. The codes are 51746, 51745 and 51744.
func evalReplaceParts(c *Context, name string, parts map[string]Expr) (texts [3]string, null bool, err error) {
	for i, part := range []string{"input", "find", "replacement"} {
		v, err := parts[part].Eval(c)
		if err != nil {
			return texts, false, err
		}
		if bsonval.IsNullish(v) {
			null = true
			continue
		}
		t, ok := v.(string)
		if !ok {
			return texts, false, mongoerr.New(int32(51746-i),
				"%s requires that '%s' be a string, found: %s", name, part, bsonval.Show(v))
		}
		texts[i] = t
	}
	return texts, null, nil
}
