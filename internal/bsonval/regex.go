package bsonval

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// CompileRegex compiles a regular expression in MongoDB's syntax, which is
// PCRE's, with options among i, m, s, x and u. What Go's package can't do
// (lookaround, backreferences, possessive quantifiers, repeats beyond 1000) is
// an error of code 51091, as what is invalid, an unknown option one of code 51108.
// The engine's package pcre does that, too.
func CompileRegex(pattern, options string) (*regexp.Regexp, error) {
	flags := ""
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'x', 'u':
		default:
			return nil, mongoerr.New(51108, "invalid flag in regex options: %c", o)
		}
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	t := translation{rest: pattern, extended: strings.Contains(options, "x"), multiline: strings.Contains(options, "m")}
	text := t.run()
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	re, err := compiled(text)
	if err != nil {
		return nil, mongoerr.New(51091,
			"Regular expression is invalid, or uses what this engine's regular expressions lack: %v", err)
	}
	return re, nil
}

// recent holds the expressions that were compiled last: the same few are asked for again and again.
var recent = struct {
	sync.Mutex
	of map[string]*regexp.Regexp
}{of: map[string]*regexp.Regexp{}}

func compiled(text string) (*regexp.Regexp, error) {
	recent.Lock()
	defer recent.Unlock()
	if re, ok := recent.of[text]; ok {
		return re, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if len(recent.of) >= 200 {
		clear(recent.of)
	}
	recent.of[text] = re
	return re, nil
}

// translation rewrites PCRE syntax where Go's has the same signs for something else.
type translation struct {
	rest                string
	out                 strings.Builder
	extended, multiline bool
	class               bool // inside [...]
}

func (t *translation) run() string {
	for t.rest != "" {
		_, n := utf8.DecodeRuneInString(t.rest)
		c := t.rest[:n]
		switch {
		case c == `\`:
			t.escape()
			continue
		case t.class:
			t.inClass(c)
			continue
		case c == "[":
			t.openClass()
			continue
		case c == "$" && !t.multiline:
			t.out.WriteString(`(?:\n?\z)`) // PCRE's $ also matches before a final newline
		case t.extended && strings.ContainsAny(c, " \t\n\v\f\r"):
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

func (t *translation) escape() {
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

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

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

func (t *translation) inClass(c string) {
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

// RegexPrefix returns the string with which everything begins that the regular
// expression matches, when it is anchored at the start and says so literally.
func RegexPrefix(pattern, options string) (string, bool) {
	if strings.ContainsAny(options, "imx") || strings.ContainsAny(pattern, "|") || strings.Contains(pattern, "(?") {
		return "", false
	}
	rest, anchored := strings.CutPrefix(pattern, "^")
	if !anchored {
		if rest, anchored = strings.CutPrefix(pattern, `\A`); !anchored {
			return "", false
		}
	}
	prefix, last := "", 0 // last is the length of the prefix's last character
	for rest != "" {
		_, n := utf8.DecodeRuneInString(rest)
		c := rest[:n]
		switch {
		case strings.ContainsAny(c, "*?{"):
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
