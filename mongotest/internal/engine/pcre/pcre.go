// Package pcre compiles and matches the regular expressions of MongoDB, whose syntax is PCRE2's
// (https://www.pcre.org/current/doc/html/pcre2pattern.html). Package query calls it for $regex, and package expr for
// $regexMatch, $regexFind and $regexFindAll.
//
// Go's package regexp runs what it can compile. It takes time in proportion to the text. The other expressions run in a
// backtracking matcher, in this package: those with lookaround, backreferences, atomic groups, possessive quantifiers,
// conditional groups, \K, or repeats beyond 1000. Refused by name are recursion and calls of groups, branch reset
// groups, verbs such as (*SKIP), callouts, \X and \C.
//
// # How an expression of this package runs
//
//  1. The parser reads the expression into a tree of nodes (parser.go, group.go, escape.go, class.go, node.go). It
//     reads it twice: how many groups there are decides what \11 means.
//  2. The compiler makes a program of the tree: a list of instructions (program.go).
//  3. The machine runs the program from each place of the text, until one matches (machine.go). At a choice it pushes
//     the other way on a stack. When an instruction fails, it goes back to the latest choice.
//
// The expression a+b|c and its program:
//
//	0 opSplit 1, 5    1 opRune a    2 opStar a    3 opRune b    4 opJump 6    5 opRune c    6 opEnd
//
// # Words
//
//   - A place is an offset in the text, in bytes.
//   - A register keeps a place. Groups have two registers each, for their begin and their end, the whole match being
//     group 0. Other registers are for the compiler. A change of a register is undone by going back.
//   - A choice is a frame on the machine's stack: another instruction with which to go on, and the place. Going back
//     takes the latest choice.
//   - A part is a lookaround or an atomic group. It runs with a base of the stack of its own: going back never takes
//     choices below it.
//
// # Limits
//
// A backtracking matcher may take exponential time. It gives up where PCRE2 does, at its match limit of 10,000,000
// and its heap limit of 20 MB.
package pcre

import (
	"regexp"
	"strings"
	"sync"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Regexp is a compiled regular expression. It is safe for concurrent use.
type Regexp interface {
	// MatchString reports whether the expression matches somewhere in s. The error is ErrMatchLimit or ErrHeapLimit.
	MatchString(s string) (bool, error)
	// FindAll returns the first n matches, or all for -1, as the byte offsets of the begin and the end of each and of
	// its groups, -1 for a group that took no part. Matches don't overlap.
	FindAll(s string, n int) ([][]int, error)
}

// Compile compiles a regular expression with options among i, m, s, x and u. An expression that is invalid, or uses
// what this package refuses, is an error of code 51091, an unknown option one of code 51108.
func Compile(pattern, options string) (Regexp, error) {
	fast, err := bsonval.CompileRegex(pattern, options)
	switch {
	case err == nil:
		return linear{fast}, nil
	case mongoerr.Convert(err).Code != invalid:
		return nil, err
	}
	return recent.compile(pattern, options)
}

// invalid is the code of an expression that can't be compiled. Go's package has refused it, and this one tries.
const invalid = 51091

// linear is an expression that Go's package compiles. Its matches are PCRE2's: the leftmost, and of alternatives the
// first that matches.
type linear struct{ re *regexp.Regexp }

func (l linear) MatchString(s string) (bool, error) { return l.re.MatchString(s), nil }

func (l linear) FindAll(s string, n int) ([][]int, error) {
	all := l.re.FindAllStringSubmatchIndex(s, n)
	if last := len(all) - 1; last >= 0 && n < 0 && all[last][0] == len(s) && s != "" {
		all = all[:last] // there is no search at the end
	}
	return all, nil
}

// cache keeps the expressions that were compiled last: a filter is parsed again for each command. An expression that Go
// compiles is cached by package bsonval.
type cache struct {
	sync.Mutex
	of map[[2]string]*program // by pattern and options
}

// recent is the cache of all engines of a process.
var recent = cache{of: map[[2]string]*program{}}

// compile returns the cached program, or compiles the expression.
func (c *cache) compile(pattern, options string) (Regexp, error) {
	key := [2]string{pattern, options}
	c.Lock()
	defer c.Unlock()
	if p, ok := c.of[key]; ok {
		return p, nil
	}
	p, err := compile(pattern, readFlags(options))
	if err != nil {
		return nil, mongoerr.New(invalid, "Regular expression is invalid: %v", err)
	}
	// Clearing all is enough: a program rarely has so many expressions of this kind.
	if len(c.of) >= 200 {
		clear(c.of)
	}
	c.of[key] = p
	return p, nil
}

// flags are the options that hold at a place of an expression.
type flags struct {
	fold      bool // i: upper and lower case are the same
	multiline bool // m: ^ and $ are at lines
	dotAll    bool // s: . is a newline too
	extended  bool // x: white space and comments are left out
}

// readFlags reads options, which Compile has checked.
func readFlags(options string) flags {
	return flags{
		fold: strings.Contains(options, "i"), multiline: strings.Contains(options, "m"),
		dotAll: strings.Contains(options, "s"), extended: strings.Contains(options, "x"),
	}
}
