package collation

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/unicode/norm"
)

// worker makes keys, one at a time.
type worker struct {
	table  *collate.Collator
	buf    collate.Buffer
	levels levels
}

// takeWorker returns a worker of the pool, or a new one. Its caller puts it back.
func (c *Collator) takeWorker() *worker {
	if w, ok := c.workers.Get().(*worker); ok {
		return w
	}
	return &worker{table: collate.New(c.spec.tag())}
}

// Key returns the key of a string. Keys compare byte by byte as their strings do under the
// collation, and two keys are equal exactly if their strings are.
func (c *Collator) Key(s string) string {
	if c == nil {
		return s
	}
	w := c.takeWorker()
	w.levels.resetLevels()
	if c.spec.numericOrdering {
		w.addWithNumbers(s)
	} else {
		w.addWeights(s)
	}
	key := string(w.levels.joinLevels(&c.spec, s))
	c.workers.Put(w)
	return key
}

// levels are the weights of a string: one list for each level of comparison.
type levels struct {
	primary    []byte // weights of 2 bytes, of 3 if the first bit is set, and numbers
	secondary  []byte // weights of 2 bytes
	tertiary   []byte // weights of 1 byte
	quaternary []byte // 0xff or a primary weight; only for alternate "shifted"
	out        []byte
}

// resetLevels empties the lists and keeps their memory.
func (l *levels) resetLevels() {
	l.primary, l.secondary, l.tertiary, l.quaternary = l.primary[:0], l.secondary[:0], l.tertiary[:0], l.quaternary[:0]
}

// addWeights appends the weights of a string. The table's key has the levels one after the other: the
// first two end with a weight of 0, the third with a 0 byte or the key.
func (w *worker) addWeights(s string) {
	if s == "" {
		return
	}
	w.buf.Reset()
	k := w.table.KeyFromString(&w.buf, s)
	i := 0
	for k[i] != 0 || k[i+1] != 0 {
		i += 2
		if k[i-2]&0x80 != 0 {
			i++
		}
	}
	w.levels.primary = append(w.levels.primary, k[:i]...)
	k, i = k[i+2:], 0
	for k[i] != 0 || k[i+1] != 0 {
		i += 2
	}
	w.levels.secondary = append(w.levels.secondary, k[:i]...)
	k = k[i+2:]
	if i = slices.Index(k, 0); i < 0 {
		i = len(k)
	}
	w.levels.tertiary = append(w.levels.tertiary, k[:i]...)
	if i < len(k) {
		w.levels.quaternary = append(w.levels.quaternary, k[i+1:]...)
	}
}

// addWithNumbers appends the weights of a string whose digits make numbers.
func (w *worker) addWithNumbers(s string) {
	for s != "" {
		n := countDigits(s, false)
		w.addWeights(s[:n])
		s = s[n:]
		n = countDigits(s, true)
		w.addNumber(s[:n])
		s = s[n:]
	}
}

// countDigits returns how many bytes of digits s begins with; with no digits, how many of others.
func countDigits(s string, wanted bool) int {
	for i, r := range s {
		if unicode.Is(unicode.Nd, r) != wanted {
			return i
		}
	}
	return len(s)
}

const (
	common    = 0x20 // the secondary weight of a letter without an accent
	lower     = 2    // the tertiary weight of a lower case letter
	maxDigits = 254  // as many digits make a number in ICU; what follows is another
)

// zero is the primary weight of the digit 0: a number sorts where the digits do.
var zero = [2]byte{0x14, 0xe6}

// addNumber appends the weights of digits: how many they are without leading zeros, and each.
func (w *worker) addNumber(s string) {
	var values []byte
	for _, r := range s {
		values = append(values, digitValue(r))
	}
	for more := len(values) > 0; more; more = len(values) > 0 {
		for len(values) > 0 && values[0] == 0 {
			values = values[1:]
		}
		n := min(len(values), maxDigits)
		l := &w.levels
		l.primary = append(l.primary, zero[0], zero[1], 0, byte(n+1))
		for _, v := range values[:n] {
			l.primary = append(l.primary, v+1)
		}
		values = values[n:]
		l.secondary = append(l.secondary, 0, common)
		l.tertiary = append(l.tertiary, lower)
		l.quaternary = append(l.quaternary, 0xff)
	}
}

// digitValue returns the value of a decimal digit. Unicode has them in rows from 0 to 9.
func digitValue(r rune) byte {
	if r < utf8.RuneSelf {
		return byte(r - '0')
	}
	for _, x := range unicode.Nd.R16 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10)
		}
	}
	for _, x := range unicode.Nd.R32 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10)
		}
	}
	return 0
}

// joinLevels puts the levels that count one after the other, with a weight of 0 in between.
func (l *levels) joinLevels(o *spec, s string) []byte {
	out := append(l.out[:0], l.primary...)
	if o.strength >= 2 {
		out = append(out, 0, 0)
		if o.backwards {
			for i := len(l.secondary) - 2; i >= 0; i -= 2 {
				out = append(out, l.secondary[i], l.secondary[i+1])
			}
		} else {
			out = append(out, l.secondary...)
		}
	}
	if o.caseLevel {
		out = l.appendCases(append(out, 0, 0), o)
	}
	if o.strength >= 3 {
		out = append(out, 0, 0)
		for _, t := range l.tertiary {
			if o.caseFirst != off && !o.caseLevel {
				out = append(out, o.caseOf(t))
			}
			out = append(out, t)
		}
	}
	if o.strength >= 4 && o.alternate == shifted {
		out = append(append(out, 0, 0), l.quaternary...)
	}
	if o.strength == 5 {
		out = norm.NFD.AppendString(append(out, 0, 0), s)
	}
	l.out = out
	return out
}

// appendCases appends the case level: of all weights, but at strength 1 of letters alone, whose
// secondary weight is the common one.
func (l *levels) appendCases(out []byte, o *spec) []byte {
	for i, t := range l.tertiary {
		if o.strength > 1 || l.secondary[2*i] == 0 && l.secondary[2*i+1] == common {
			out = append(out, o.caseOf(t))
		}
	}
	return out
}

// caseOf returns the rank of a tertiary weight's case: of letters that aren't upper case 1, which
// is before upper case unless that comes first. The weights are those of Unicode's table.
func (o *spec) caseOf(t byte) byte {
	isUpper := t >= 0x08 && t <= 0x0c || t == 0x0e || t == 0x11 || t == 0x12 || t == 0x1d
	if isUpper == (o.caseFirst == upperFirst) {
		return 1
	}
	return 2
}
