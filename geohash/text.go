package geohash

// digits has the five bits of each character, in either case, and noDigit for what is none.
var digits = func() (t [256]uint8) {
	for c := range t {
		t[c] = noDigit
	}
	for n, c := range []byte(alphabet) {
		t[c] = uint8(n)
		if c >= 'a' {
			t[c-'a'+'A'] = uint8(n)
		}
	}
	return t
}()

const noDigit = 1 << 7

// Parse returns the cell of a geohash of 1 to 12 characters, of the digits and the letters without a, i, l and o, in either
// case. Anything else is a [*SyntaxError].
func Parse(s string) (Cell, error) {
	if len(s) == MaxChars {
		a, b, c, d, e, f := digits[s[0]], digits[s[1]], digits[s[2]], digits[s[3]], digits[s[4]], digits[s[5]]
		bad := a | b | c | d | e | f
		upper := uint64(a)<<55 | uint64(b)<<50 | uint64(c)<<45 | uint64(d)<<40 | uint64(e)<<35 | uint64(f)<<30
		a, b, c, d, e, f = digits[s[6]], digits[s[7]], digits[s[8]], digits[s[9]], digits[s[10]], digits[s[11]]
		bad |= a | b | c | d | e | f
		lower := uint64(a)<<25 | uint64(b)<<20 | uint64(c)<<15 | uint64(d)<<10 | uint64(e)<<5 | uint64(f)
		if bad&noDigit == 0 {
			return Cell{Key: Key(upper | lower), Bits: MaxBits}, nil
		}
		return Cell{}, syntaxError(s)
	}
	if len(s) < 1 || len(s) > MaxChars {
		return Cell{}, syntaxError(s)
	}
	var key uint64
	var bad uint8
	for i := range len(s) {
		d := digits[s[i]]
		key, bad = key<<5|uint64(d&31), bad|d
	}
	if bad&noDigit != 0 {
		return Cell{}, syntaxError(s)
	}
	return Cell{Key: Key(key << (MaxBits - 5*len(s))), Bits: uint8(5 * len(s))}, nil
}

// syntaxError says what is wrong with a text.
func syntaxError(s string) error {
	const shown = 32
	err := &SyntaxError{Input: s[:min(len(s), shown)]}
	switch {
	case s == "":
		err.Reason = "no characters, must be 1 to 12"
		return err
	case len(s) > MaxChars:
		err.Offset, err.Reason = MaxChars, "more than 12 characters"
		return err
	}
	for digits[s[err.Offset]] != noDigit {
		err.Offset++
	}
	err.Reason = "must be a digit or a letter other than a, i, l and o"
	return err
}

// String returns the geohash of 12 characters.
func (k Key) String() string { return Cell{Key: k, Bits: MaxBits}.String() }

// String returns the geohash of the cell: Bits/5 characters. If its bits aren't a multiple of five, that is the geohash of the
// smallest cell around it that has one; for less than five bits it is empty.
func (c Cell) String() string {
	var text [MaxChars]byte
	chars := min(int(c.Bits), MaxBits) / 5
	for i := range chars {
		text[i] = alphabet[c.Key>>(MaxBits-5-5*i)&31]
	}
	return string(text[:chars])
}
