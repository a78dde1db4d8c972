package forest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// Fractional keys: strings whose bytewise order is the order of siblings, with another one between any two. A key is an integer,
// whose first letter says how many digits follow and on which side of zero it lies, and after it digits of a fraction. Appending
// and prepending count the integer up and down, so that a list that only grows at its ends has keys of a few characters: a million
// elements take five. An insert between two neighbours lengthens the fraction by a character about every six inserts at one place.
//
// Source: "Implementing Fractional Indexing", David Greenspan, 2020.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// firstKey is the key of an only child.
const firstKey = "a0"

// firstInteger is the least. It is no key without a fraction: nothing would come before it.
var firstInteger = "A" + strings.Repeat("0", 26)

// LongKey is the length from which siblings get new keys.
const LongKey = 48

// integerLength is the length of a key's integer, which its first letter tells: a has one digit, b two; Z has one, Y two, on the
// other side of zero.
func integerLength(head byte) int {
	switch {
	case head >= 'a' && head <= 'z':
		return int(head-'a') + 2
	case head >= 'A' && head <= 'Z':
		return int('Z'-head) + 2
	}
	return 0
}

// CheckKey says why a string is no key.
func CheckKey(key string) error {
	refused := func(reason string) error { return &model.ValueError{Field: "order", Value: key, Reason: reason} }
	if key == "" {
		return refused("is empty")
	}
	n := integerLength(key[0])
	switch {
	case n == 0 || len(key) < n:
		return refused("isn't an order key of this package")
	case strings.Trim(key, digits) != "":
		return refused("has a character that can't be in an order key")
	case key == firstInteger:
		return refused("is the smallest order key: nothing can be placed before it")
	case len(key) > n && key[len(key)-1] == '0':
		return refused("ends with the digit 0: nothing can be placed before it")
	}
	return nil
}

// Between returns an order key that sorts after one and before another. "" stands for the beginning and the end. It returns a
// [*model.ValueError] when one is no key, or they are not in order.
func Between(after, before string) (string, error) {
	for _, k := range []string{after, before} {
		if k != "" {
			if err := CheckKey(k); err != nil {
				return "", err
			}
		}
	}
	switch {
	case after != "" && before != "" && after >= before:
		return "", &model.ValueError{Field: "order", Value: after, Reason: fmt.Sprintf("must be before %q", before)}
	case after == "" && before == "":
		return firstKey, nil
	case after == "":
		return keyBefore(before), nil
	case before == "":
		return keyAfter(after)
	}
	n, m := integerLength(after[0]), integerLength(before[0])
	if after[:n] == before[:m] {
		return after[:n] + fraction(after[n:], before[m:]), nil
	}
	if next, ok := count(after[:n], 1); ok && next < before {
		return next, nil
	}
	return after[:n] + fraction(after[n:], ""), nil
}

func keyBefore(key string) string {
	n := integerLength(key[0])
	integer := key[:n]
	if len(key) == n {
		integer, _ = count(key, -1)
	}
	if integer == firstInteger {
		return integer + fraction("", key[n:])
	}
	return integer // which comes before its fractions
}

func keyAfter(key string) (string, error) {
	n := integerLength(key[0])
	if next, ok := count(key[:n], 1); ok {
		return next, nil
	}
	return key[:n] + fraction(key[n:], ""), nil
}

// count adds 1 or -1 to an integer; false where it would leave the range.
func count(integer string, by int) (string, bool) {
	d := []byte(integer)
	for i := len(d) - 1; i > 0; i-- {
		at := strings.IndexByte(digits, d[i]) + by
		if at >= 0 && at < len(digits) {
			d[i] = digits[at]
			return string(d), true
		}
		d[i] = digits[(at+len(digits))%len(digits)]
	}
	head, fill := d[0], byte('0')
	switch {
	case by > 0 && head == 'Z':
		head = 'a'
	case by < 0 && head == 'a':
		head, fill = 'Z', 'z'
	case by > 0 && head == 'z' || by < 0 && head == 'A':
		return "", false
	default:
		head = byte(int(head) + by)
		if by < 0 {
			fill = 'z'
		}
	}
	return string(head) + strings.Repeat(string(fill), integerLength(head)-1), true
}

// fraction is digits between two fractions; "" after means no end.
func fraction(after, before string) string {
	same := 0
	for same < len(before) && digitAt(after, same) == before[same] {
		same++
	}
	if same > 0 {
		return before[:same] + fraction(after[min(same, len(after)):], before[same:])
	}
	low, high := strings.IndexByte(digits, digitAt(after, 0)), len(digits)
	if before != "" {
		high = strings.IndexByte(digits, before[0])
	}
	if high-low > 1 {
		return string(digits[(low+high+1)/2])
	}
	if len(before) > 1 {
		return before[:1]
	}
	return string(digits[low]) + fraction(after[min(1, len(after)):], "")
}

func digitAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return '0'
}

// Spread returns n order keys in their order, none for n below 1: for children that are stored together, and to give siblings new
// keys when inserts at one place have made them long. They are short: those of a million have up to five characters.
func Spread(n int) []string {
	keys := make([]string, max(0, n))
	next := firstKey
	for i := range keys {
		keys[i] = next
		next, _ = count(next, 1)
	}
	return keys
}

// Behind returns a key after another, or a string that sorts after one that isn't a key.
func Behind(last string) string {
	key, err := Between(last, "")
	if err != nil {
		return last + digits[len(digits)-1:]
	}
	return key
}

// KeyPattern matches what CheckKey takes.
var KeyPattern = func() string {
	const digit = "[0-9A-Za-z]"
	var integers []string
	for head := range digits[10:] {
		letter := digits[10+head]
		integers = append(integers, string(letter)+digit+"{"+strconv.Itoa(integerLength(letter)-1)+"}")
	}
	return "^(?:" + strings.Join(integers, "|") + ")(?:" + digit + "*[1-9A-Za-z])?\\z"
}()
