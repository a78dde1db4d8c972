package geohash_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/docmodel/docmodel/geohash"
)

func TestParse(t *testing.T) {
	r := newPoints(4)
	for range 20_000 {
		k := r.key()
		text := k.String()
		chars := 1 + r.IntN(MaxChars)
		want := k.Cell(5 * chars)
		for _, s := range []string{text[:chars], strings.ToUpper(text[:chars])} {
			if got, err := Parse(s); err != nil || got != want || got.String() != text[:chars] {
				t.Fatalf("%q is %v, %v, not %v", s, got, err, want)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		reason, in string
		offset     int
	}{
		{"nothing", "", 0},
		{"one too many", "0123456789bcd", 12},
		{"a great many", strings.Repeat("0", 1<<20), 12},
		{"an a", "a", 0},
		{"an A", "eA", 1},
		{"an i", "ezi42", 2},
		{"an l", "ezs4l", 4},
		{"an o", "ezs4o2", 4},
		{"an O, in twelve", "00000000000O", 11},
		{"an a, in twelve", "a00000000000", 0},
		{"a space", "ezs42 ", 5},
		{"a NUL", "\x00", 0},
		{"beyond ASCII", "ezé", 2},
		{"beyond ASCII, in twelve", "ezs42ezs42é", 10},
		{"invalid UTF-8", "e\xff", 1},
	}
	for _, tt := range tests {
		c, err := Parse(tt.in)
		var e *SyntaxError
		if c != (Cell{}) || !is[*SyntaxError](err) || !errors.As(err, &e) || e.Offset != tt.offset || len(err.Error()) > 250 {
			t.Errorf("%s: %v, %v", tt.reason, c, err)
		}
	}
	// Every byte at every place is either a character or refused.
	for n := 1; n <= MaxChars; n++ {
		for i := range n {
			for b := range 256 {
				text := []byte(strings.Repeat("7", n))
				text[i] = byte(b)
				_, err := Parse(string(text))
				valid := b < 128 && strings.ContainsRune("0123456789bcdefghjkmnpqrstuvwxyzBCDEFGHJKMNPQRSTUVWXYZ", rune(b))
				if (err == nil) != valid {
					t.Fatalf("%q: %v", text, err)
				}
			}
		}
	}
}

func TestCellString(t *testing.T) {
	k := mustParse("u4pruydqqvj8").Key
	for bits := range MaxBits + 1 {
		if got := k.Cell(bits).String(); got != "u4pruydqqvj8"[:bits/5] {
			t.Errorf("%d bits: %q", bits, got)
		}
	}
	if got := (Cell{Key: k, Bits: 200}).String(); got != "u4pruydqqvj8" {
		t.Errorf("more bits than there are: %q", got)
	}
}

// is reports whether an error is one of a type.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func mustParse(s string) Cell {
	c, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return c
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "ezs42", "EZS42", "u4pruydqqvj8", "0", "zzzzzzzzzzzz", "a", "ilo", "0123456789bcd", "é", "\x00", "ezs42ezs42é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		valid := len(s) >= 1 && len(s) <= MaxChars &&
			strings.Trim(s, "0123456789bcdefghjkmnpqrstuvwxyzBCDEFGHJKMNPQRSTUVWXYZ") == ""
		switch {
		case valid != (err == nil), err != nil && (c != Cell{} || !is[*SyntaxError](err)):
			t.Fatalf("%q: %v, %v", s, c, err)
		case err != nil:
			return
		}
		if c.String() != strings.ToLower(s) || int(c.Bits) != 5*len(s) {
			t.Fatalf("%q is %v of %d bits", s, c, c.Bits)
		}
		text, err := AppendEncode(nil, c.Center(), len(s))
		if err != nil || string(text) != c.String() {
			t.Fatalf("the centre of %q is in %s, %v", s, text, err)
		}
	})
}
