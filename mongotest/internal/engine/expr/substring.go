package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// substrings take parts of strings.
var substrings = table{
	"$substr":      call(3, 3, substrBytes),
	"$substrBytes": call(3, 3, substrBytes),
	"$substrCP":    call(3, 3, substrCP),
}

// searching finds and replaces strings in strings.
var searching = table{
	"$indexOfCP":    callIfGiven(2, 4, indexOfCP),
	"$indexOfBytes": callIfGiven(2, 4, indexOfBytes),
	"$replaceOne":   parseReplace(1),
	"$replaceAll":   parseReplace(-1),
}

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
		return nil, mongoerr.New(28657, "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.")
	}
	return s[from:to], nil
}

func substrCP(args []any) (any, error) {
	s, err := coerceText(args[0])
	if err != nil {
		return nil, err
	}
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
				"$substrCP: %s cannot be represented as a 32-bit integral value: %s", what, Show(v))
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

// readSearchStrings returns the first two arguments; its errors have the code, and the next.
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

// insertBetween inserts a text before each byte of s and at its end: MongoDB finds the empty string there.
func insertBetween(s, between string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(between)
		b.WriteByte(s[i])
	}
	b.WriteString(between)
	return b.String()
}

func parseReplace(times int) parser {
	return func(name string, arg any, s Scope) (Expr, error) {
		parts, err := parseParts(name, arg, s, replaceErrors, "input!", "find!", "replacement!")
		if err != nil {
			return nil, err
		}
		return function(func(c *Context) (any, error) {
			var texts [3]string
			null := false
			for i, part := range []string{"input", "find", "replacement"} {
				v, err := parts[part].Eval(c)
				if err != nil {
					return nil, err
				}
				if bsonval.IsNullish(v) {
					null = true
					continue
				}
				t, ok := v.(string)
				if !ok {
					return nil, mongoerr.New(int32(51746-i), "%s requires that '%s' be a string, found: %s", name, part, Show(v))
				}
				texts[i] = t
			}
			if null {
				return nil, nil
			}
			if texts[1] == "" && times < 0 {
				return insertBetween(texts[0], texts[2]), nil
			}
			return strings.Replace(texts[0], texts[1], texts[2], times), nil
		}), nil
	}
}
