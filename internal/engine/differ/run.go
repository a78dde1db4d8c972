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
)

// Found is a difference that no rule explains.
type Found struct {
	Number         int // of the case that showed it
	Kind           Kind
	Case           Case // shrunk
	Engine, Server Outcome
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

// pair is the two backends that are compared. Cases run side by side, but for one after which the server has ended: that one
// runs again alone, which tells whether it was to blame.
type pair struct {
	engine, server *backend
	alone          *sync.RWMutex
}

// run compares the cases with the numbers from low up to high.
func (p pair) run(ctx context.Context, seed uint64, low, high int) (*Report, error) {
	r := &Report{Known: map[string]int{}, Found: map[string]*Found{}}
	for number := low; number < high; number++ {
		c := Generate(seed, number)
		if name := withheld(c); name != "" {
			r.Known[name]++
			continue
		}
		kind, known, engine, _, err := p.try(ctx, c)
		switch {
		case errors.Is(err, errNotLoaded):
			r.Refused++
			continue
		case err != nil:
			return r, fmt.Errorf("case %d: %w\n%s", number, err, c.format(nil))
		}
		r.Compared++
		switch {
		case known != "":
			r.Known[known]++
		case kind != Same:
			r.add(ctx, p, number, c, kind)
		case engine.failed():
			r.Failed++
		}
	}
	return r, nil
}

// try runs a case on both. The second result is the rule that explains the difference.
func (p pair) try(ctx context.Context, c Case) (Kind, string, Outcome, Outcome, error) {
	engine, err := p.engine.run(ctx, c)
	if err != nil {
		return Same, "", engine, Outcome{}, err
	}
	p.alone.RLock()
	server, err := p.server.run(ctx, c)
	p.alone.RUnlock()
	switch {
	case down(errorText(err)) || down(server.Text):
		var died bool
		if server, died, err = p.again(ctx, c); died || err != nil {
			return Died, "", engine, server, err
		}
	case err != nil:
		return Same, "", engine, server, err
	}
	kind := compare(engine, server)
	if kind == Same {
		return kind, "", engine, server, nil
	}
	known := explain(difference{c, kind, engine, server})
	if known == "" && kind == OnlyEngine && p.failsEarlier(ctx, c) {
		known = unneeded
	}
	return kind, known, engine, server, nil
}

// again runs a case alone on a server that has ended, and reports whether it ends anew.
func (p pair) again(ctx context.Context, c Case) (Outcome, bool, error) {
	p.alone.Lock()
	defer p.alone.Unlock()
	if err := p.server.recover(ctx); err != nil {
		return Outcome{}, false, err
	}
	server, err := p.server.run(ctx, c)
	if down(errorText(err)) || down(server.Text) {
		return server, true, p.server.recover(ctx)
	}
	return server, false, err
}

// unneeded is the one rule that has to ask the server: MongoDB's manual doesn't say whether an expression is
// computed whose value a later stage drops.
const unneeded = "what later stages drop isn't computed"

// failsEarlier reports whether the server fails too once the pipeline ends where the engine fails.
func (p pair) failsEarlier(ctx context.Context, c Case) bool {
	stages, _ := c.get("pipeline").(bson.A)
	for n := 1; n < len(stages); n++ {
		cut := c
		cut.Command = slices.Clone(c.Command)
		cut.Command[1] = bson.E{Key: "pipeline", Value: stages[:n]}
		if engine, err := p.engine.run(ctx, cut); err != nil || !engine.failed() {
			continue
		}
		p.alone.RLock()
		server, err := p.server.run(ctx, cut)
		p.alone.RUnlock()
		return err == nil && server.failed()
	}
	return false
}

// maxFound limits how many forms of differences are shrunk, which takes longer than to find them.
const maxFound = 40

// add shrinks a case and files it under its form.
func (r *Report) add(ctx context.Context, p pair, number int, c Case, kind Kind) {
	if len(r.Found) < maxFound {
		_, _, engine, server, _ := p.try(ctx, c)
		orderly := settled(c)
		c = shrink(c, 1500, func(c Case) bool {
			if orderly && !settled(c) || withheld(c) != "" {
				return false
			}
			k, known, e, s, err := p.try(ctx, c)
			return err == nil && k == kind && known == "" && e.Code == engine.Code && s.Code == server.Code
		})
	}
	form := string(kind) + " " + strings.Join(names(c), " ")
	if f := r.Found[form]; f != nil {
		f.Like++
		return
	}
	_, _, engine, server, _ := p.try(ctx, c)
	r.Found[form] = &Found{Number: number, Kind: kind, Case: c, Engine: engine, Server: server}
}

// names lists the operators of a case.
func names(c Case) []string {
	seen := map[string]bool{c.verb(): true}
	walk(c.Command, func(key string, _ any) {
		if strings.HasPrefix(key, "$") {
			seen[key] = true
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// merge adds another report to r.
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
