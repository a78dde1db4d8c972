package expr

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// Accumulator is a parsed accumulator of $group, such as {$sum: "$n"}.
type Accumulator struct {
	arg   Expr
	start func() accumulation
}

// starter begins a group that compares under a collation.
type starter func(by *collation.Collator) accumulation

// accumulation is what an accumulator has seen of a group.
type accumulation interface {
	add(v any) error
	result() any
}

// Group is an accumulator at work on one group.
type Group struct {
	arg   Expr
	state accumulation
}

// accumulators is the table of accumulators.
var accumulators = map[string]starter{
	"$sum":   func(*collation.Collator) accumulation { return &summing{} },
	"$avg":   func(*collation.Collator) accumulation { return &averaging{} },
	"$min":   func(by *collation.Collator) accumulation { return &extreme{by: by, sign: -1} },
	"$max":   func(by *collation.Collator) accumulation { return &extreme{by: by, sign: 1} },
	"$first": func(*collation.Collator) accumulation { return &first{} },
	"$last":  func(*collation.Collator) accumulation { return &last{} },
	"$push":  func(*collation.Collator) accumulation { return &pushing{list: bson.A{}} },
	"$addToSet": func(by *collation.Collator) accumulation {
		return &collecting{by: by, list: bson.A{}, seen: map[string]bool{}}
	},
	"$mergeObjects": func(*collation.Collator) accumulation { return &merging{d: bson.D{}} },
	"$count":        func(*collation.Collator) accumulation { return &summing{} },
	"$stdDevPop":    func(*collation.Collator) accumulation { return &deviating{} },
	"$stdDevSamp":   func(*collation.Collator) accumulation { return &deviating{deviation{sample: true}} },
}

// Accumulators returns the names of the accumulators, sorted.
func Accumulators() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(accumulators)), maps.Keys(ranked))
	names = slices.AppendSeq(names, maps.Keys(quantiles))
	slices.Sort(names)
	return names
}

// absentAccumulators names what MongoDB has and this engine hasn't.
var absentAccumulators = []string{"$accumulator", "$concatArrays", "$setUnion"}

// ParseAccumulator parses an accumulator with its argument.
func ParseAccumulator(name string, arg any, s Scope) (*Accumulator, error) {
	if _, isArray := arg.(bson.A); isArray && slices.Contains(Accumulators(), name) {
		return nil, mongoerr.New(40237, "The %s accumulator is a unary operator", name)
	}
	if parse, ok := ranked[name]; ok {
		return parse(name, arg, s)
	}
	if parse, ok := quantiles[name]; ok {
		return parse(name, arg, s)
	}
	start, ok := accumulators[name]
	switch {
	case ok:
	case slices.Contains(absentAccumulators, name):
		return nil, mongoerr.New(mongoerr.NotImplemented, "%s of $group isn't implemented by the embedded engine", name)
	default:
		return nil, mongoerr.New(15952, "unknown group operator '%s'", name)
	}
	if name == "$count" {
		if d, ok := arg.(bson.D); !ok || len(d) > 0 {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
		}
		arg = int32(1)
	}
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: e, start: func() accumulation { return start(s.collation) }}, nil
}

// Start begins a group.
func (a *Accumulator) Start() Group { return Group{arg: a.arg, state: a.start()} }

// Add takes the context's document into the group.
func (g Group) Add(c *Context) error {
	v, err := g.arg.Eval(c)
	if err != nil {
		return err
	}
	return g.state.add(v)
}

// Held returns how many bytes the group holds of a list, 0 for a group that holds one value.
func (g Group) Held() int {
	switch s := g.state.(type) {
	case *pushing:
		return s.held.used
	case *collecting:
		return s.held.used
	case *keeping:
		return s.held.used
	case *measuring:
		return s.held()
	}
	return 0
}

// Result returns the accumulated value. It is never missing.
func (g Group) Result() any { return g.state.result() }

type summing struct{ sum }

func (s *summing) add(v any) error { s.sum.add(v); return nil }
func (s *summing) result() any     { return s.total() }

type averaging struct{ sum }

func (s *averaging) add(v any) error { s.sum.add(v); return nil }
func (s *averaging) result() any     { return s.average() }

// extreme keeps the least or the greatest value, null and missing apart.
type extreme struct {
	by    *collation.Collator
	sign  int
	v     any
	found bool
}

func (e *extreme) add(v any) error {
	if !bsonval.IsNullish(v) && (!e.found || e.by.Compare(v, e.v) == e.sign) {
		e.v, e.found = v, true
	}
	return nil
}

func (e *extreme) result() any { return e.v }

type first struct {
	v     any
	found bool
}

func (f *first) add(v any) error {
	if !f.found {
		f.v, f.found = v, true
	}
	return nil
}

func (f *first) result() any { return orNull(f.v) }

type last struct{ v any }

func (l *last) add(v any) error { l.v = v; return nil }
func (l *last) result() any     { return orNull(l.v) }

func orNull(v any) any {
	if bsonval.IsMissing(v) {
		return nil
	}
	return v
}

type pushing struct {
	list bson.A
	held memory
}

func (p *pushing) add(v any) error {
	if bsonval.IsMissing(v) {
		return nil
	}
	p.list = append(p.list, v)
	return p.held.add("$push", v)
}

func (p *pushing) result() any { return p.list }

type collecting struct {
	by   *collation.Collator
	list bson.A
	seen map[string]bool
	held memory
}

func (s *collecting) add(v any) error {
	if bsonval.IsMissing(v) {
		return nil
	}
	k := string(s.by.AppendKey(nil, v))
	if s.seen[k] {
		return nil
	}
	s.seen[k] = true
	s.list = append(s.list, v)
	return s.held.add("$addToSet", v)
}

func (s *collecting) result() any { return s.list }

// merging sets the fields of one document after the other.
type merging struct {
	d  bson.D
	at map[string]int // where a field is; nil as long as d belongs to somebody else or is small
}

func (m *merging) add(v any) error {
	if bsonval.IsNullish(v) {
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		return mongoerr.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s",
			Show(v), bsonval.TypeName(v))
	}
	m.set(d)
	return nil
}

// manyFields is from how many fields on a field is found by a map.
const manyFields = 16

func (m *merging) set(d bson.D) {
	switch {
	case len(m.d) == 0:
		m.d = d
		return
	case m.at == nil:
		m.d = slices.Clone(m.d)
	}
	if m.at == nil && len(m.d)+len(d) > manyFields {
		m.at = make(map[string]int, len(m.d)+len(d))
		for i := len(m.d) - 1; i >= 0; i-- {
			m.at[m.d[i].Key] = i
		}
	}
	for _, e := range d {
		i := -1
		if m.at == nil {
			i = bsonval.Index(m.d, e.Key)
		} else if k, ok := m.at[e.Key]; ok {
			i = k
		}
		switch {
		case i >= 0:
			m.d[i].Value = e.Value
			continue
		case m.at != nil:
			m.at[e.Key] = len(m.d)
		}
		m.d = append(m.d, e)
	}
}

func (m *merging) result() any { return m.d }
