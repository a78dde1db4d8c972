package pcre

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// show prints a match and its groups, - for a group that took no part.
func show(s string, at []int) string {
	if at == nil {
		return "none"
	}
	var parts []string
	for i := 0; i < len(at); i += 2 {
		if at[i] < 0 {
			parts = append(parts, "-")
		} else {
			parts = append(parts, fmt.Sprintf("%q", s[at[i]:at[i+1]]))
		}
	}
	return strings.Join(parts, " ")
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct{ reason, pattern, options, text, want string }{
		{"lookahead", `foo(?=bar)`, "", "foofoobar", `"foo"`},
		{"negative lookahead", `^(?!.*secret).*$`, "", "no s here", `"no s here"`},
		{"negative lookahead, refused", `^(?!.*secret).*$`, "", "a secret", "none"},
		{"a password's rules", `^(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s]).{8,}$`, "", "Passw0rd!", `"Passw0rd!"`},
		{"lookbehind", `(?<=\$)\d+`, "", "a 1 $23", `"23"`},
		{"negative lookbehind", `(?<!\$)\b\d+`, "", "$23 45", `"45"`},
		{"lookbehind with alternatives of several widths", `(?<=é|ab)x`, "", "éx", `"x"`},
		{"a group in a lookahead stays", `(?=(a+))a`, "", "aaa", `"a" "aaa"`},
		{"a group in a negative lookahead doesn't", `(?!(b))a`, "", "a", `"a" -`},
		{"backreference", `\b(\w+) \1\b`, "", "this is the the end", `"the the" "the"`},
		{"backreference, any case", `(ab)\1`, "i", "abAB", `"abAB" "ab"`},
		{"backreference of a group that took no part", `(a)?b\1`, "", "b", "none"},
		{"backreference by name", `(?<q>['"]).*?\k<q>`, "", `say "it's"`, `"\"it's\"" "\""`},
		{"backreference of Python", `(?P<x>a)(?P=x)`, "", "aa", `"aa" "a"`},
		{"relative backreference", `(a)(b)\g{-2}\g2`, "", "abab", `"abab" "a" "b"`},
		{"a reference before the group has an end", `^(a|\1b)+$`, "", "aab", `"aab" "ab"`},
		{"possessive", `a++b`, "", "aaab", `"aaab"`},
		{"possessive gives nothing back", `a++ab`, "", "aaab", "none"},
		{"atomic group", `(?>a|ab)c`, "", "abc", "none"},
		{"conditional by number", `^(\()?a(?(1)\))$`, "", "(a)", `"(a)" "("`},
		{"conditional by number, not there", `^(\()?a(?(1)\)|!)$`, "", "a!", `"a!" -`},
		{"conditional by name", `^(?<o><)?a(?(<o>)>)$`, "", "<a", "none"},
		{"conditional by an assertion", `^(?(?=\d)\d{2}|[a-z]+)$`, "", "42", `"42"`},
		{"conditional by an assertion, else", `^(?(?!\d)[a-z]+|\d{2})$`, "", "ab", `"ab"`},
		{"begin of the match", `foo\Kbar`, "", "foobar", `"bar"`},
		{"many repeats", `^(?:ab){1001}$`, "", strings.Repeat("ab", 1001), `"` + strings.Repeat("ab", 1001) + `"`},
		{"lazy", `(?=a)a+?`, "", "aaa", `"a"`},
		{"a turn that takes nothing ends the loop", `(?=a)(a|)*b`, "", "aab", `"aab" ""`},
		{"nested loops over nothing", `(?=b)(?:(?:a*)*)*b`, "", "b", `"b"`},
		{"extended", "(?= a ) a # b\n c", "x", "ac", `"ac"`},
		{"options within", `(?=A)a(?i)b|(?-i:C)(?i:d)`, "i", "AB", `"AB"`},
		{"options of a group alone", `(?=.)(?i:a)b`, "", "AB", "none"},
		{"dot takes no newline", `(?=a).+`, "", "ab\nc", `"ab"`},
		{"dot takes all", `(?=a).+`, "s", "ab\nc", `"ab\nc"`},
		{"lines", `(?=b)^b$`, "m", "a\nb\nc", `"b"`},
		{"no line begins behind the last newline", `(?!x)^$`, "m", "a\n", "none"},
		{"end before a final newline", `b(?!x)$`, "", "ab\n", `"b"`},
		{"the very end", `b(?!x)\z`, "", "ab\n", "none"},
		{"white space of PCRE", `(?=.)\s\S`, "s", "\va", `"\va"`},
		{"\\w is of ASCII", `(?=.)\w+`, "", "éa", `"a"`},
		{"properties", `(?=\p{Lu})\p{L}+(?!\p{Greek})`, "", "Été", `"Été"`},
		{"any newline", `(?=.)a\R(?=b)`, "", "a\r\nb", `"a\r\n"`},
		{"codes", `(?=.)\x41\x{e9}\103\cA`, "", "AéC\x01", "\"AéC\\x01\""},
		{"quoted", `(?=a)\Qa.b\E+`, "", "a.bbb", `"a.bbb"`},
		{"a class", `(?=.)[]\-a-c[:digit:]\p{Lu}^]+`, "", "]-b5Z^x", `"]-b5Z^"`},
		{"a class without some", `(?=.)[^[:^alpha:]x]+`, "", "abx", `"ab"`},
		{"a class, any case", `(?=.)[^k]`, "i", "Kk\u212aa", `"a"`},
		{"braces that aren't a quantifier", `(?=a)a{,2}{x`, "", "a{,2}{x", `"a{,2}{x"`},
		{"comment", `(?=a)(?#what)a`, "", "a", `"a"`},
	} {
		re, err := Compile(tt.pattern, tt.options)
		if err != nil {
			t.Errorf("%s: %s: %v", tt.reason, tt.pattern, err)
			continue
		}
		all, err := re.FindAll(tt.text, 1)
		var at []int
		if len(all) > 0 {
			at = all[0]
		}
		if got := show(tt.text, at); got != tt.want || err != nil {
			t.Errorf("%s: %s in %q: %s, %v, want %s", tt.reason, tt.pattern, tt.text, got, err, tt.want)
		}
		if ok, err := re.MatchString(tt.text); ok != (at != nil) || err != nil {
			t.Errorf("%s: matches: %v, %v", tt.reason, ok, err)
		}
	}
}

func TestFindAll(t *testing.T) {
	for _, tt := range []struct{ pattern, text, want string }{
		{`(?<=,|^)\w`, "a,b,cd", "[a b c]"},
		{`(?=a)`, "aab", "[ ]"},
		{`a*(?!c)`, "aab", "[aa ]"},
		{`\b(?=\w)`, "é a", "[]"},
	} {
		re, err := Compile(tt.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := re.FindAll(tt.text, -1)
		got := []string{}
		for _, at := range all {
			got = append(got, tt.text[at[0]:at[1]])
		}
		if fmt.Sprint(got) != tt.want || err != nil {
			t.Errorf("%s in %q: %q, %v, want %s", tt.pattern, tt.text, got, err, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ pattern, why string }{
		{`(a`, "missing closing parenthesis"}, {`a)`, "unmatched closing parenthesis"}, {`[a`, "missing terminating ]"},
		{`*a`, "quantifier does not follow"}, {`a**`, "quantifier does not follow"}, {`a\`, `\ at end of pattern`},
		{`(?<=a+)b`, "not fixed length"}, {`(?<=a(b|cd))e`, "not fixed length"}, {`\1`, "non-existent"},
		{`(a)\k<b>`, "non-existent"}, {`(?R)`, "recursion"}, {`(a)(?1)`, "recursion"}, {`(?&x)`, "recursion"},
		{`(?P>x)`, "recursion"}, {`(a)\g<1>`, "calls"}, {`(?|a|b)`, "branch reset"}, {`a(*SKIP)b`, "verbs"},
		{`a(?C1)`, "callouts"}, {`\X`, `\X`}, {`(?=a)\y`, "unrecognized character"}, {`(?=a)a{70000}`, "too big"},
		{`(?=a)a{3,2}`, "out of order"}, {`(?=a)[b-a]`, "out of order"}, {`(?=a)\p{Foo}`, "unknown property"},
		{`(?=a)(?<n>a)(?<n>b)`, "same name"}, {`(a)(?(1)b|c|d)`, "more than two branches"},
		{`(?(DEFINE)a)`, "isn't supported"}, {`(?=a)(?:(?:a{999}){999}){9}`, "too large"},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300) + "(?=a)", "too deeply"}, {`(?=a)\x{110000}`, "invalid"},
		{`(?q)`, "unrecognized"},
	} {
		_, err := Compile(tt.pattern, "")
		if e := mongoerr.Convert(err); err == nil || e.Code != 51091 || !strings.Contains(e.Message, tt.why) {
			t.Errorf("%s: %v, want 51091 with %q", tt.pattern, err, tt.why)
		}
	}
	if _, err := Compile("(?=a)", "q"); mongoerr.Convert(err).Code != 51108 {
		t.Errorf("an unknown option: %v", err)
	}
}

// An expression of exponential cost ends at PCRE2's limits.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          error
	}{
		{`^(?=(a+)+$)`, strings.Repeat("a", 40) + "b", ErrMatchLimit},
		{`(?:(x+x+)+y)(?!z)`, strings.Repeat("x", 60), ErrMatchLimit},
		{`(?=(?:a|b)*?c)(?:a|b)*c`, strings.Repeat("ab", 1_000_000), ErrHeapLimit},
		{`^(?!.*x).*$`, strings.Repeat("a", 2_000_000), nil},
	} {
		re, err := Compile(tt.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := re.MatchString(tt.text); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.pattern, err, tt.want)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %v", tt.pattern, took)
		}
	}
}

// The matcher finds what Go's package does, in what both can compile.
func TestLikeLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		pattern, text := randomPattern(r, 3), randomText(r)
		fast, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		slow, err := compile(pattern, flags{})
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		got, err := slow.findMatch(text, 0)
		want := fast.FindStringSubmatchIndex(text)
		if !slices.Equal(got, want) && !repeatsNothing(pattern) || err != nil {
			t.Fatalf("%s in %q: %v, %v, want %v", pattern, text, got, err, want)
		}
	}
}

// repeatsNothing reports whether groups of a pattern may be repeated over nothing, which Go and PCRE tell apart.
func repeatsNothing(pattern string) bool {
	return strings.Contains(pattern, ")*") || strings.Contains(pattern, ")+") || strings.Contains(pattern, "){")
}

func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "c", ".", "[ab]", "[^a]", `\b`, "^", "$", `\w`, "é", ""}[r.IntN(12)]
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(6) {
	case 0:
		return sub() + "|" + sub()
	case 1:
		return "(" + sub() + ")"
	case 2:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,}"}[r.IntN(9)]
	case 3:
		return "(" + sub() + ")?"
	}
	return sub() + sub()
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(10) {
		b.WriteString([]string{"a", "b", "c", "é", " "}[r.IntN(5)])
	}
	return b.String()
}
