package differ

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/rules"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// Found is a difference that no rule explains.
type Found struct {
	Number         int // of the case that showed it
	Kind           outcome.Kind
	Case           cases.Case // shrunk
	Engine, Server outcome.Outcome
	Like           int // how many more were of the same form
}

// Report is what came of a run.
type Report struct {
	Compared int
	Failed   int            // of those, how many failed alike on both
	Refused  int            // whose documents could not be stored on one of the two
	Known    map[string]int // set aside, by rule
	Found    map[string]*Found
}

// pair is the two backends that are compared. Cases run side by side, but for one after which the server has ended:
// that one runs again alone, which tells whether it was to blame.
type pair struct {
	engine, server *outcome.Backend
	alone          *sync.RWMutex
}

// run compares the cases with the numbers from low up to high. With an error it also returns a report, of the cases
// before.
func (p pair) run(ctx context.Context, seed uint64, low, high int) (*Report, error) {
	r := &Report{Known: map[string]int{}, Found: map[string]*Found{}}
	for number := low; number < high; number++ {
		c := grammar.Generate(seed, number)
		if name := rules.ReasonToWithhold(c); name != "" {
			r.Known[name]++
			continue
		}
		kind, known, engine, server, err := p.try(ctx, c)
		switch {
		case errors.Is(err, outcome.ErrNotLoaded):
			r.Refused++
			continue
		case err != nil:
			return r, fmt.Errorf("case %d: %w\n%s", number, err, formatCase(c, nil))
		}
		r.Compared++
		switch {
		case known != "":
			r.Known[known]++
		case kind != outcome.Same:
			r.add(ctx, p, &Found{Number: number, Kind: kind, Case: c, Engine: engine, Server: server})
		case engine.Fails():
			r.Failed++
		}
	}
	return r, nil
}

// try runs a case on both. The second result is the rule that explains the difference. A case that ends the server
// isn't explained by any rule, nor compared.
func (p pair) try(ctx context.Context, c cases.Case) (outcome.Kind, string, outcome.Outcome, outcome.Outcome, error) {
	engine, err := p.engine.Run(ctx, c)
	if err != nil {
		return outcome.Same, "", engine, outcome.Outcome{}, err
	}
	server, died, err := p.ask(ctx, c)
	if died || err != nil {
		kind := outcome.Same
		if died {
			kind = outcome.Died
		}
		return kind, "", engine, server, err
	}
	kind := outcome.Compare(engine, server)
	if kind == outcome.Same {
		return kind, "", engine, server, nil
	}
	known := rules.Explain(c, kind, engine, server, func(c cases.Case) outcome.Outcome {
		return p.engine.TryRun(ctx, c)
	})
	if known == "" && kind == outcome.OnlyEngine && p.failsEarlier(ctx, c) {
		known = unneeded
	}
	return kind, known, engine, server, nil
}

// unneeded is the one rule that has to ask the server: MongoDB's manual doesn't say whether an expression is
// computed whose value a later stage drops.
const unneeded = "what later stages drop isn't computed"

// failsEarlier reports whether the server fails too once the pipeline ends where the engine fails.
func (p pair) failsEarlier(ctx context.Context, c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	for n := 1; n < len(stages); n++ {
		cut := c
		cut.Command = slices.Clone(c.Command)
		cut.Command[1] = bson.E{Key: "pipeline", Value: stages[:n]}
		if engine, err := p.engine.Run(ctx, cut); err != nil || !engine.Fails() {
			continue
		}
		server, died, err := p.ask(ctx, cut)
		return err == nil && !died && server.Fails()
	}
	return false
}

// maxFound limits how many forms of differences are shrunk, which takes longer than to find them; maxAsked and
// maxEnded how often a case is run for that, the latter if each time ends the server.
const (
	maxFound = 40
	maxAsked = 1500
	maxEnded = 40
)

// add shrinks a case and files it under its form: the kind of the difference and the names of the operators. One that
// shows no difference when it runs again is filed as it was.
func (r *Report) add(ctx context.Context, p pair, f *Found) {
	once := ""
	if len(r.Found) < maxFound {
		kind, known, engine, server, err := p.try(ctx, f.Case)
		if kind == f.Kind && known == "" && err == nil {
			f.Case = p.shrinkCase(ctx, f.Case, kind, engine, server)
			_, _, f.Engine, f.Server, _ = p.try(ctx, f.Case)
		} else {
			once = ", but not when run again"
		}
	}
	form := string(f.Kind) + once + " " + strings.Join(names(f.Case), " ")
	if have := r.Found[form]; have != nil {
		have.Like++
		return
	}
	r.Found[form] = f
}

// shrinkCase returns the smallest case that differs in the same way: in the kind, in both error codes, and without a
// rule that explains it. If the order of its input was determined, it stays so.
func (p pair) shrinkCase(
	ctx context.Context, c cases.Case, kind outcome.Kind, engine, server outcome.Outcome,
) cases.Case {
	orderly, limit := keepsInputOrdered(c), maxAsked
	if kind == outcome.Died {
		limit = maxEnded
	}
	return shrink(c, limit, func(c cases.Case) bool {
		if orderly && !keepsInputOrdered(c) || rules.ReasonToWithhold(c) != "" || !hidesUnstableFields(c) {
			return false
		}
		k, known, e, s, err := p.try(ctx, c)
		return err == nil && k == kind && known == "" && e.Code == engine.Code && s.Code == server.Code
	})
}

// names lists the command and the operators of a case. Two differences with the same list are taken for one.
func names(c cases.Case) []string {
	seen := map[string]bool{c.Verb(): true}
	tree.Walk(c.Command, func(key string, _ any) {
		if strings.HasPrefix(key, "$") {
			seen[key] = true
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// merge adds another report to r. Of differences of the same form the first one found stays.
func (r *Report) merge(other *Report) {
	r.Compared += other.Compared
	r.Failed += other.Failed
	r.Refused += other.Refused
	for name, n := range other.Known {
		r.Known[name] += n
	}
	for form, f := range other.Found {
		if have := r.Found[form]; have != nil {
			have.Like += f.Like + 1
		} else {
			r.Found[form] = f
		}
	}
}

// String is the report without the differences.
func (r *Report) String() string {
	s := fmt.Sprintf("%d cases compared, %d of them failed alike, %d more could not be stored; %d differences",
		r.Compared, r.Failed, r.Refused, len(r.Found))
	for _, name := range slices.Sorted(maps.Keys(r.Known)) {
		s += fmt.Sprintf("\n  set aside %4d: %s", r.Known[name], name)
	}
	return s
}
