// Regular expressions in MongoDB's syntax, as far as Go's package regexp can match them, and the literal begin of one,
// by which a query uses an index. The engine's package pcre calls CompileRegex first, because package regexp is fast,
// and matches the other expressions itself.

package bsonval

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// CompileRegex compiles a regular expression in MongoDB's syntax, which is the syntax of PCRE, with options among i,
// m, s, x and u. An invalid expression gives an error of code 51091, an unknown option one of code 51108. An
// expression that package regexp can't match gives an error of code 51091 too: lookaround, backreferences, possessive
// quantifiers, repeats above 1000.
func CompileRegex(pattern, options string) (*regexp.Regexp, error) {
	flags := ""
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'x', 'u': // x is translated below, and Go's expressions always are of Unicode
		default:
			return nil, mongoerr.New(51108, "invalid flag in regex options: %c", o)
		}
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	t := translation{rest: pattern, extended: strings.Contains(options, "x"), multiline: strings.Contains(options, "m")}
	text := t.translate()
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	re, err := compileCached(text)
	if err != nil {
		return nil, mongoerr.New(51091,
			"Regular expression is invalid, or uses what this engine's regular expressions lack: %v", err)
	}
	return re, nil
}

// recent has the expressions that were compiled last, by their text in Go's syntax. Programs use a few expressions
// again and again.
var recent = struct {
	sync.Mutex
	byText map[string]*regexp.Regexp
}{byText: map[string]*regexp.Regexp{}}

// compileCached compiles an expression in Go's syntax, unless it was compiled lately. A full cache is emptied as a
// whole.
func compileCached(text string) (*regexp.Regexp, error) {
	recent.Lock()
	defer recent.Unlock()
	if re, ok := recent.byText[text]; ok {
		return re, nil
	}
	// Under the lock, because programs compile few expressions.
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if len(recent.byText) >= 200 {
		clear(recent.byText)
	}
	recent.byText[text] = re
	return re, nil
}

// translation rewrites an expression of PCRE in Go's syntax, where the same signs mean something else.
type translation struct {
	rest      string // not yet translated
	out       strings.Builder
	extended  bool // option x: white space and comments don't count
	multiline bool // option m: ^ and $ match at lines
	class     bool // inside [...]
}

// translate returns the expression in Go's syntax. An invalid expression stays invalid, and Go reports it.
func (t *translation) translate() string {
	for t.rest != "" {
		_, n := utf8.DecodeRuneInString(t.rest)
		c := t.rest[:n]
		switch {
		case c == `\`:
			t.translateEscape()
			continue
		case t.class:
			t.translateInClass(c)
			continue
		case c == "[":
			t.openClass()
			continue
		case c == "$" && !t.multiline:
			t.out.WriteString(`(?:\n?\z)`) // PCRE's $ also matches before a final newline
		case t.extended && strings.ContainsAny(c, " \t\n\v\f\r"): // left out
		case t.extended && c == "#":
			_, t.rest, _ = strings.Cut(t.rest, "\n")
			continue
		default:
			t.out.WriteString(c)
		}
		t.rest = t.rest[n:]
	}
	return t.out.String()
}

// translateEscape translates a backslash and what belongs to it. Differences from Go: \Q needs no \E, \s includes the
// vertical tab, \Z matches before a last newline, and each character that isn't a letter, a digit or _ can be escaped.
func (t *translation) translateEscape() {
	if strings.HasPrefix(t.rest, `\Q`) {
		literal, rest, _ := strings.Cut(t.rest[2:], `\E`)
		t.out.WriteString(regexp.QuoteMeta(literal))
		t.rest = rest
		return
	}
	if len(t.rest) < 2 {
		t.out.WriteString(t.rest)
		t.rest = ""
		return
	}
	_, n := utf8.DecodeRuneInString(t.rest[1:])
	pair := t.rest[:1+n]
	t.rest = t.rest[1+n:]
	switch {
	case pair == `\s` && t.class:
		pair = `\t\n\v\f\r `
	case pair == `\s`:
		pair = `[\t\n\v\f\r ]`
	case pair == `\S` && !t.class:
		pair = `[^\t\n\v\f\r ]`
	case pair == `\Z`:
		pair = `(?:\n?\z)`
	case len(pair) == 2 && pair[1] < 0x80 && !isWord(pair[1]) || n > 1:
		// An escaped character stands for itself. In a class Go needs the backslash before ASCII, and refuses it before
		// other characters.
		pair = regexp.QuoteMeta(pair[1:])
		if t.class {
			pair = `\` + pair[len(pair)-n:]
			if n > 1 {
				pair = pair[1:]
			}
		}
	}
	t.out.WriteString(pair)
}

// isWord reports whether an escape of the character can have a meaning, such as \d.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// openClass begins a class. A ] right after [ or [^ is a character of the class.
func (t *translation) openClass() {
	t.class = true
	t.out.WriteByte('[')
	t.rest = t.rest[1:]
	for _, first := range []string{"^", "]"} {
		if strings.HasPrefix(t.rest, first) {
			t.out.WriteString(first)
			t.rest = t.rest[1:]
		}
	}
}

// translateInClass copies one character of a class, or a named class such as [:alpha:], whose ] doesn't end the class.
func (t *translation) translateInClass(c string) {
	if c == "[" && strings.HasPrefix(t.rest, "[:") {
		if end := strings.Index(t.rest, ":]"); end > 0 {
			t.out.WriteString(t.rest[:end+2])
			t.rest = t.rest[end+2:]
			return
		}
	}
	if c == "]" {
		t.class = false
	}
	t.out.WriteString(c)
	t.rest = t.rest[len(c):]
}

// RegexPrefix returns the string with which every match of the regular expression begins: "ab" for /^ab.*c/. The
// engine reads the part of an index between the string and the strings after it. It reports false if the expression
// isn't anchored at the start of the text, or begins with something that isn't literal. Then the whole index must be
// read.
func RegexPrefix(pattern, options string) (string, bool) {
	// With i, m, x, alternatives or (?i) the first characters don't say how a match begins.
	if strings.ContainsAny(options, "imx") || strings.ContainsAny(pattern, "|") || strings.Contains(pattern, "(?") {
		return "", false
	}
	rest, anchored := strings.CutPrefix(pattern, "^")
	if !anchored {
		if rest, anchored = strings.CutPrefix(pattern, `\A`); !anchored {
			return "", false
		}
	}
	prefix, last := "", 0 // last is the number of bytes of the prefix's last character
	for rest != "" {
		_, n := utf8.DecodeRuneInString(rest)
		c := rest[:n]
		switch {
		case strings.ContainsAny(c, "*?{"): // the last character may be missing in a match
			return prefix[:len(prefix)-last], len(prefix) > last
		case strings.ContainsAny(c, ".+()[]^$}"):
			return prefix, prefix != ""
		case c == `\`:
			if len(rest) < 2 || isWord(rest[1]) || rest[1] >= 0x80 {
				return prefix, prefix != ""
			}
			c, n = rest[1:2], 2
		}
		prefix, last, rest = prefix+c, len(c), rest[n:]
	}
	return prefix, prefix != ""
}
