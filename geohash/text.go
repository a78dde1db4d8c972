package geohash

// digits maps each character, in either case, to its five bits, and every other byte to
// noDigit.
var digits = func() (t [256]uint64) {
	for c := range t {
		t[c] = noDigit
	}
	for n, c := range []byte(alphabet) {
		t[c] = uint64(n)
		if c >= 'a' {
			t[c-'a'+'A'] = uint64(n)
		}
	}
	return t
}()

// noDigit is a bit above six digits side by side. Shifting the first digit doesn't lose
// it.
const noDigit = 1 << 38

// Parse returns the cell of a geohash. A geohash has 1 to 12 digits and letters, in upper
// or lower case. The letters a, i, l and o, and any other text, give a [*SyntaxError].
func Parse(s string) (Cell, error) {
	if len(s) == MaxChars {
		upper := digits[s[0]]<<25 | digits[s[1]]<<20 | digits[s[2]]<<15 | digits[s[3]]<<10 | digits[s[4]]<<5 | digits[s[5]]
		lower := digits[s[6]]<<25 | digits[s[7]]<<20 | digits[s[8]]<<15 | digits[s[9]]<<10 | digits[s[10]]<<5 | digits[s[11]]
		if (upper|lower)>>30 == 0 {
			return Cell{Key: Key(upper<<30 | lower), Bits: MaxBits}, nil
		}
		return Cell{}, syntaxError(s)
	}
	if len(s) < 1 || len(s) > MaxChars {
		return Cell{}, syntaxError(s)
	}
	var key, all uint64
	for i := range len(s) {
		d := digits[s[i]]
		key, all = key<<5|d, all|d
	}
	if all >= noDigit {
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
		err.Reason = "no characters: must be 1 to 12"
		return err
	case len(s) > MaxChars:
		err.Offset, err.Reason = MaxChars, "too long: must be 1 to 12 characters"
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

// String returns the cell's geohash, which has Bits/5 characters. If Bits isn't a
// multiple of 5, String rounds down, and returns a larger cell's geohash. If Bits is
// below 5, String returns "".
func (c Cell) String() string {
	var text [MaxChars]byte
	chars := min(int(c.Bits), MaxBits) / 5
	for i := range chars {
		text[i] = alphabet[c.Key>>(MaxBits-5-5*i)&31]
	}
	return string(text[:chars])
}
