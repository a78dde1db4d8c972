package forest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// Fractional keys: strings whose bytewise order is the order of siblings, with another
// one between any two. A key is an integer, whose first letter says how many digits
// follow and on which side of zero it lies, and after it digits of a fraction. Appending
// and prepending count the integer up and down, so that a list that only grows at its
// ends has keys of a few characters: a million elements take five. An insert between two
// neighbours lengthens the fraction by a character about every six inserts at one place.
//
// Source: "Implementing Fractional Indexing", David Greenspan, 2020.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// firstKey is the key of an only child.
const firstKey = "a0"

// firstInteger is the least integer. Alone it isn't a key, because no key sorts before
// it.
var firstInteger = "A" + strings.Repeat("0", 26)

// LongKey is the length from which the siblings get new keys.
const LongKey = 48

// measureInteger returns the length of a key's integer, which depends on its first
// letter: a has one more digit, b two; Z has one, Y two, for integers below zero. Letters
// that stand for more digits sort farther from zero, so that keys of different lengths
// sort as numbers.
func measureInteger(head byte) int {
	switch {
	case head >= 'a' && head <= 'z':
		return int(head-'a') + 2
	case head >= 'A' && head <= 'Z':
		return int('Z'-head) + 2
	}
	return 0
}

// CheckKey returns a [*model.ValueError] for a string that isn't a key. A key must leave
// room for another key before it.
func CheckKey(key string) error {
	refused := func(reason string) error { return &model.ValueError{Field: "order", Value: key, Reason: reason} }
	if key == "" {
		return refused("is empty")
	}
	n := measureInteger(key[0])
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

// MakeKeyBetween returns an order key that sorts after one key and before another. ""
// means no bound. Invalid keys, and keys in the wrong order, give a [*model.ValueError].
func MakeKeyBetween(after, before string) (string, error) {
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
		return makeKeyBefore(before), nil
	case before == "":
		return makeKeyAfter(after)
	}
	n, m := measureInteger(after[0]), measureInteger(before[0])
	// Equal integers: only the fraction can lie between them.
	if after[:n] == before[:m] {
		return after[:n] + makeFraction(after[n:], before[m:]), nil
	}
	if next, ok := addToInteger(after[:n], 1); ok && next < before {
		return next, nil
	}
	return after[:n] + makeFraction(after[n:], ""), nil
}

// makeKeyBefore counts the integer down, or shortens the key to its integer, which sorts
// before its own fractions.
func makeKeyBefore(key string) string {
	n := measureInteger(key[0])
	integer := key[:n]
	if len(key) == n {
		integer, _ = addToInteger(key, -1)
	}
	if integer == firstInteger {
		return integer + makeFraction("", key[n:])
	}
	return integer // which comes before its fractions
}

// makeKeyAfter counts the integer up. The greatest integer gets a fraction.
func makeKeyAfter(key string) (string, error) {
	n := measureInteger(key[0])
	if next, ok := addToInteger(key[:n], 1); ok {
		return next, nil
	}
	return key[:n] + makeFraction(key[n:], ""), nil
}

// addToInteger adds 1 or -1 to an integer, with a carry from digit to digit and at last
// into the letter. ok is false if the result is out of range.
func addToInteger(integer string, by int) (string, bool) {
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
	return string(head) + strings.Repeat(string(fill), measureInteger(head)-1), true
}

// makeFraction returns digits that sort between two fractions. As before, "" means no
// bound. It keeps the common beginning and takes the digit in the middle of the first
// difference. Two neighbouring digits have no middle: the result then gets one more
// digit.
func makeFraction(after, before string) string {
	same := 0
	for same < len(before) && readDigit(after, same) == before[same] {
		same++
	}
	if same > 0 {
		return before[:same] + makeFraction(after[min(same, len(after)):], before[same:])
	}
	low, high := strings.IndexByte(digits, readDigit(after, 0)), len(digits)
	if before != "" {
		high = strings.IndexByte(digits, before[0])
	}
	if high-low > 1 {
		return string(digits[(low+high+1)/2])
	}
	if len(before) > 1 {
		return before[:1]
	}
	return string(digits[low]) + makeFraction(after[min(1, len(after)):], "")
}

// readDigit returns the digit at an index; a fraction goes on with zeros.
func readDigit(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return '0'
}

// SpreadKeys returns n order keys in ascending order, none for n below 1. The keys count
// up, so a million keys have at most five characters each.
func SpreadKeys(n int) []string {
	keys := make([]string, max(0, n))
	next := firstKey
	for i := range keys {
		keys[i] = next
		next, _ = addToInteger(next, 1)
	}
	return keys
}

// MakeKeyBehind returns a key after another one. If the other one isn't a key, it returns
// some string that sorts after it: the caller only sorts by the result.
func MakeKeyBehind(last string) string {
	key, err := MakeKeyBetween(last, "")
	if err != nil {
		return last + digits[len(digits)-1:]
	}
	return key
}

// KeyPattern is a regular expression for the keys that CheckKey accepts, for queries.
// Each letter needs its own number of digits, hence the 52 alternatives. \z is the end of
// the text; $ would also match before a line feed.
var KeyPattern = func() string {
	const digit = "[0-9A-Za-z]"
	var integers []string
	for head := range digits[10:] {
		letter := digits[10+head]
		integers = append(integers, string(letter)+digit+"{"+strconv.Itoa(measureInteger(letter)-1)+"}")
	}
	return "^(?:" + strings.Join(integers, "|") + ")(?:" + digit + "*[1-9A-Za-z])?\\z"
}()
