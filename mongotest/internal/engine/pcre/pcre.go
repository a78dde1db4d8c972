// Package pcre compiles and matches the regular expressions of MongoDB, whose syntax is PCRE2's.
//
// Go's package regexp runs what it can compile. It takes time in proportion to the text. The other expressions run in a
// backtracking matcher, in this package: those with lookaround, backreferences, atomic groups, possessive quantifiers,
// conditional groups, \K, or repeats beyond 1000. Refused by name are recursion and calls of groups, branch reset
// groups, verbs such as (*SKIP), callouts, \X and \C.
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
	// FindAll returns the first n matches, or all for -1, as the byte offsets of the begin and the end of each and of its
	// groups, -1 for a group that took no part. Matches don't overlap.
	FindAll(s string, n int) ([][]int, error)
}

// Compile compiles a regular expression with options among i, m, s, x and u. An expression that is invalid, or uses
// what this package refuses, is an error of code 51091, an unknown option one of code 51108.
func Compile(pattern, options string) (Regexp, error) {
	fast, err := bsonval.CompileRegex(pattern, options)
	switch {
	case err == nil:
		return linear{fast}, nil
	case mongoerr.From(err).Code != invalid:
		return nil, err
	}
	return recent.compile(pattern, options)
}

const invalid = 51091

// linear is an expression that Go's package compiles.
type linear struct{ re *regexp.Regexp }

func (l linear) MatchString(s string) (bool, error) { return l.re.MatchString(s), nil }

func (l linear) FindAll(s string, n int) ([][]int, error) {
	all := l.re.FindAllStringSubmatchIndex(s, n)
	if last := len(all) - 1; last >= 0 && n < 0 && all[last][0] == len(s) && s != "" {
		all = all[:last] // there is no search at the end
	}
	return all, nil
}

// cache holds the expressions that were compiled last.
type cache struct {
	sync.Mutex
	of map[[2]string]*program
}

var recent = cache{of: map[[2]string]*program{}}

func (c *cache) compile(pattern, options string) (Regexp, error) {
	key := [2]string{pattern, options}
	c.Lock()
	defer c.Unlock()
	if p, ok := c.of[key]; ok {
		return p, nil
	}
	p, err := compile(pattern, flagsOf(options))
	if err != nil {
		return nil, mongoerr.New(invalid, "Regular expression is invalid: %v", err)
	}
	if len(c.of) >= 200 {
		clear(c.of)
	}
	c.of[key] = p
	return p, nil
}

// flags are the options that hold at a place of an expression.
type flags struct{ fold, multiline, dotAll, extended bool }

func flagsOf(options string) flags {
	return flags{
		fold: strings.Contains(options, "i"), multiline: strings.Contains(options, "m"),
		dotAll: strings.Contains(options, "s"), extended: strings.Contains(options, "x"),
	}
}
