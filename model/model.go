package model

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
)

// A Model is the set of techniques that a program uses together. It detects conflicts
// between techniques, and lists their indexes and checks.
type Model struct {
	name       string
	techniques []Technique
	stores     modelStores
}

// New returns the model of the given techniques. Errors and jobs contain the name. New
// panics with a [*DeclarationError] if techniques conflict:
//
//   - A technique occurs twice.
//   - Two checks, or two different indexes, have the same name.
//   - A technique writes what another technique owns: see [Footprint].
//   - A technique writes a document without incrementing the document's version.
//   - An index that two techniques need is unique for only one of them.
//   - A collection has two shard keys, or a shard key that prevents a unique index.
//   - A collection is declared with two Go types of documents or _ids, or with and without
//     versions, keyed _ids or JSON tags. See below.
//
// # Two Go types of one collection
//
// A technique would read documents of the other type without an error. Two types are
// allowed if a declaration names them:
//
//   - One type is an interface that the other types implement: see embed.NewUnion.
//   - One type is an older version: see schema.NewVersions.
//   - One type is bson.D, bson.Raw, a map or any.
//   - The program says that the types share the collection: see [Parts.WithDocs].
//
// The collections of two databases are two models.
func New(name string, techniques ...Technique) *Model {
	m := &Model{name: name, techniques: slices.Clone(techniques)}
	for i, t := range m.techniques {
		if t == nil {
			m.fail(fmt.Sprintf("technique %d is nil", i), "give a result of a constructor")
		}
		for j := range i {
			m.compare(j, i)
		}
	}
	m.compareDocs()
	m.compareVersions()
	m.compareChecks()
	m.compareIndexes()
	m.compareShards()
	m.compareShardKeys()
	m.noteKeyed()
	return m
}

// Name returns the name from [New].
func (m *Model) Name() string {
	m.mustExist("Model.Name")
	return m.name
}

// Techniques returns the techniques in the order given to [New].
func (m *Model) Techniques() []Technique {
	m.mustExist("Model.Techniques")
	return slices.Clone(m.techniques)
}

// Collections returns the names of all collections that the techniques use, including
// internal collections.
func (m *Model) Collections() (out []string) {
	m.mustExist("Model.Collections")
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, t := range m.techniques {
		if e, ok := t.(entity); ok {
			add(e.c.Name())
		}
		for _, f := range t.Footprints() {
			add(f.Collection)
		}
		for _, r := range t.Relations() {
			add(r.From)
			add(r.To)
		}
		for _, x := range t.Indexes() {
			add(x.Collection)
		}
		for _, d := range documentsOf(t) {
			add(d.Name())
		}
	}
	return out
}

// Checks returns the checks of all techniques, in the order of [New], and of the model's
// stores: see [Model.Audit].
func (m *Model) Checks() (out []Check) {
	m.mustExist("Model.Checks")
	for _, t := range m.techniques {
		out = append(out, t.Checks()...)
	}
	return append(out, m.stores.checks()...)
}

// mustExist panics if the model is nil.
func (m *Model) mustExist(method string) {
	if m == nil {
		core.Fail("the model is nil", method, "make the model with New from the program's techniques")
	}
}

func (m *Model) fail(problem, remedy string) {
	core.Fail(problem, fmt.Sprintf("New of %q", m.name), remedy)
}

// called returns the name of technique i. If several techniques have the name, it
// contains the index too.
func (m *Model) called(i int) string {
	name := techniqueName(m.techniques[i])
	for j, other := range m.techniques {
		if j != i && other != nil && techniqueName(other) == name {
			return fmt.Sprintf("%s (techniques[%d])", name, i)
		}
	}
	return name
}

// compare panics if techniques a and b can't be used together.
func (m *Model) compare(a, b int) {
	if first, second := m.techniques[a], m.techniques[b]; isPointer(first) && isPointer(second) && first == second {
		m.fail(techniqueName(first)+" is given twice", "give each technique once")
	}
	for _, one := range [][2]int{{a, b}, {b, a}} {
		for _, f := range m.techniques[one[0]].Footprints() {
			for _, g := range m.techniques[one[1]].Footprints() {
				if trespasses(f, g) {
					m.failTrespass(one, f, g)
				}
			}
		}
	}
}

// compareVersions panics if techniques write documents that another technique guards by a
// version, and don't increase the version. It names all of their paths.
func (m *Model) compareVersions() {
	var problems, remedies []string
	counts := ""
	for i, t := range m.techniques {
		all := t.Footprints()
		for _, f := range all {
			if f.Use != Guards {
				continue
			}
			if past, paths := m.passing(i, f, all); len(past) > 0 {
				problems = append(problems,
					fmt.Sprintf("%s without increasing %s, the version by which %s detects stale writes",
						strings.Join(past, ", "), f.Path, m.called(i)))
				remedies = append(remedies, strings.Join(paths, ", ")+" for "+f.Collection)
				if !has(all, Owns, f) {
					counts = "give CountUp in the specs that have it (Version for the source of a copies.Copy), or "
				}
			}
		}
	}
	if len(problems) > 0 {
		m.fail(strings.Join(problems, "; "), counts+"give the versioned technique Uncounted: "+strings.Join(remedies, "; "))
	}
}

// passing returns the writes past the version f of technique i, and their paths. all are
// the technique's footprints.
func (m *Model) passing(i int, f Footprint, all []Footprint) (past, paths []string) {
	before := ""
	for j, other := range m.techniques {
		others := other.Footprints()
		for _, g := range others {
			if j == i || !passes(f, g, all, others) {
				continue
			}
			what := m.called(j) + " " + g.Use.verb() + " "
			path := strings.TrimPrefix(g.text(), g.Use.verb()+" ")
			past, before = append(past, pick(what == before, "", what)+path), what
			if name := strconv.Quote(g.Path); !slices.Contains(paths, name) {
				paths = append(paths, name)
			}
		}
	}
	return past, paths
}

func (m *Model) failTrespass(of [2]int, f, g Footprint) {
	names := m.called(of[0]) + " and " + m.called(of[1])
	switch {
	case f.Document != "" && g.Use == Owns:
		m.fail(fmt.Sprintf("%s both store the document %q in collection %q", names, f.Document, f.Collection),
			"give each of them another name or another collection")
	case f.Path == Whole && g.Use == Owns && g.Path == Whole:
		m.fail(fmt.Sprintf("%s both own all documents of collection %q", names, f.Collection),
			"give each of them a collection of its own")
	case f.Path == Whole:
		m.fail(fmt.Sprintf("%s %s, but all documents of that collection belong to %s",
			m.called(of[1]), g.text(), m.called(of[0])),
			"give one of them another collection")
	case f.Path == g.Path && has(m.techniques[of[0]].Footprints(), Guards, f):
		m.fail(fmt.Sprintf("%s increases %s.%s, but only %s may: the document's revision of that version would be missing",
			m.called(of[1]), f.Collection, f.Path, m.called(of[0])),
			"give one of them another version, or leave CountUp out and give "+m.called(of[0])+" Uncounted")
	case isSharded(m.techniques[of[1]]):
		m.fail(fmt.Sprintf("keys.Shard may change %s.%s with ChangeKey, but only %s may write this path", g.Collection,
			g.Path, m.called(of[0])),
			"leave ShardSpec.Moves out if shard keys don't change, or shard by another field")
	case g.Use == Owns:
		m.fail(fmt.Sprintf("%s both own %s.%s", names, f.Collection, deeper(f.Path, g.Path)),
			"give each of them a path of its own, or leave one of them out")
	default:
		m.fail(fmt.Sprintf("%s %s, but only %s may write %s.%s",
			m.called(of[1]), g.text(), m.called(of[0]), f.Collection, f.Path),
			"let one technique write the path, or give the other technique another path")
	}
}

// has reports whether one of the footprints is a use of f's path.
func has(all []Footprint, use Use, f Footprint) bool {
	return slices.ContainsFunc(all, func(g Footprint) bool {
		return g.Use == use && g.Collection == f.Collection && g.Path == f.Path
	})
}

// trespasses reports whether g writes a path that f owns. A write of a whole document or
// element around f's path isn't a trespass, because callers store values made by f's
// methods this way.
func trespasses(f, g Footprint) bool {
	if f.Use != Owns || !f.meets(g) {
		return false
	}
	within := f.Path == Whole || g.Path != Whole && (g.Path == f.Path || strings.HasPrefix(g.Path, f.Path+"."))
	return g.Use == Owns && (g.Path != Whole || f.Path == Whole) || (g.Use == Writes || g.Use == Guards) && within
}

// passes reports whether another technique writes a guarded document without incrementing
// its version.
func passes(guard, g Footprint, all, others []Footprint) bool {
	if g.Collection != guard.Collection || g.Path == Whole || g.Use != Writes && g.Use != Owns {
		return false
	}
	counts := func(f Footprint) bool {
		return f.Collection == guard.Collection && f.Path == guard.Path && f.Use >= Writes && f.Use <= Guards
	}
	spared := func(f Footprint) bool {
		return f.Use == Spares && f.Collection == g.Collection && (f.Path == g.Path || strings.HasPrefix(g.Path, f.Path+"."))
	}
	return !slices.ContainsFunc(others, counts) && !slices.ContainsFunc(all, spared)
}

func (m *Model) compareChecks() {
	seen := map[string]string{}
	for _, t := range m.techniques {
		for _, c := range t.Checks() {
			if by := seen[c.Name]; by != "" {
				m.fail(fmt.Sprintf("%s and %s both have the check %q", by, techniqueName(t), c.Name), "declare the technique once")
			}
			seen[c.Name] = techniqueName(t)
		}
	}
}

// compareIndexes panics if a collection can't have two of the indexes together.
func (m *Model) compareIndexes() {
	needed := m.Indexes().Needed
	for i, x := range needed {
		for _, y := range needed[:i] {
			if x.Collection == y.Collection && x.Name == y.Name {
				m.fail(fmt.Sprintf("two different indexes have the name %s: %s and %s", x.Name, y, x),
					"give one of them another Name, or leave it out")
			}
		}
	}
	for i, t := range m.techniques {
		for _, other := range m.techniques[:i] {
			m.compareUnique(other, t)
		}
	}
}

// compareUnique panics if the same keys are unique for one technique only. It ignores the
// indexes that the program declares with [Entity].
func (m *Model) compareUnique(a, b Technique) {
	for _, x := range a.Indexes() {
		for _, y := range b.Indexes() {
			same := x.Collection == y.Collection && len(x.Keys) == len(y.Keys) && bsondoc.EqualDocuments(x.Keys, y.Keys) &&
				bsondoc.EqualDocuments(x.Partial, y.Partial)
			if same && x.Unique != y.Unique && !isEntity(a) && !isEntity(b) {
				m.fail(fmt.Sprintf("the index %s of %s is unique for only one of %s and %s", x.Name, x.Collection,
					techniqueName(a), techniqueName(b)),
					"declare both unique, or give one of them other keys")
			}
		}
	}
}

func isSharded(t Technique) bool {
	_, is := t.(interface{ ShardKey() ShardKey })
	return is
}

// compareShards panics if the shard key of a collection makes a unique index impossible.
func (m *Model) compareShards() {
	for _, t := range m.techniques {
		if key, ok := t.(interface {
			Check(...Technique) []*DeclarationError
		}); ok {
			for _, wrong := range key.Check(m.techniques...) {
				m.fail(wrong.Place+": "+wrong.Problem, wrong.Remedy)
			}
		}
	}
}

func isPointer(t Technique) bool { return reflect.TypeOf(t).Kind() == reflect.Pointer }

func isEntity(t Technique) bool {
	_, is := t.(entity)
	return is
}

// techniqueName returns the type of a technique without type arguments, for example
// "counter.Counter".
func techniqueName(t Technique) string {
	if isEntity(t) {
		return "model.Entity"
	}
	name, _, _ := strings.Cut(fmt.Sprintf("%T", t), "[")
	return strings.TrimPrefix(name, "*")
}

func deeper(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}
