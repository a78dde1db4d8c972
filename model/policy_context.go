package model

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type policyKey struct{}

// Context returns a context that carries the policy. Everything that this module runs with
// it is under the policy: queries, pipelines, writes, plans, what a [Change] or a [Job]
// reads and plans, and each method that takes a context and a database. A context can carry
// several policies; all of them hold. A nil context stays nil: what is run with it is refused.
//
// What can't be kept under the policy is refused with a [*ConflictError] before it is sent:
// see [MergeInto.Under] and [Stream.Run].
//
// A lock document ([Lease]), a checkpoint ([JobOptions]) and the state of a migration belong
// to the policy's tenant: the fields that both Filter and Insert give the same value. Two
// tenants don't share them. They hold no user's data, and have no other field of the policy.
func (p Policy) Context(ctx context.Context) context.Context {
	if ctx == nil {
		return nil
	}
	f := p.frozen()
	if t := f.tenant(); len(t) > 0 {
		text := shell(t)
		if outer := runctx.Tenant(ctx); outer != text && outer != "" {
			text = outer + " " + text
		}
		ctx = runctx.WithTenant(ctx, text)
	}
	return context.WithValue(ctx, policyKey{}, append(slices.Clip(policiesOf(ctx)), &f))
}

// policiesOf are the policies that a context carries, the outermost first.
func policiesOf(ctx context.Context) []*Policy {
	if ctx == nil { // which is refused where the command would be sent
		return nil
	}
	if list, ok := ctx.Value(policyKey{}).([]*Policy); ok {
		return list
	}
	return everywhere()
}

// withoutPolicies is the context of what the library keeps for itself, and of writes that
// were put under a policy before.
func withoutPolicies(ctx context.Context) context.Context {
	if len(policiesOf(ctx)) == 0 {
		return ctx
	}
	return context.WithValue(ctx, policyKey{}, []*Policy(nil))
}

// tenant are the fields that say whose a document is: each new document is given the value
// that every filter asks for.
func (p Policy) tenant() bson.D {
	var out bson.D
	for _, e := range p.Insert {
		i := slices.IndexFunc(p.Filter, func(f bson.E) bool { return f.Key == e.Key })
		if i >= 0 && isEquality(p.Filter[i].Value) && sameValue(equalTo(p.Filter[i].Value), e.Value) {
			out = append(out, e)
		}
	}
	return out
}

// equalTo is the value that an equality asks for.
func equalTo(v any) any {
	if d, ok := v.(bson.D); ok && len(d) == 1 && d[0].Key == "$eq" {
		return d[0].Value
	}
	return v
}

// Under returns the change with the policy applied to what it reads and writes, and to the
// changes that follow it: Run runs it with [Policy.Context].
func (c Change[S]) Under(p Policy) Change[S] {
	p = p.frozen()
	c.under = append(slices.Clip(c.under), p)
	if decide := c.Decide; decide != nil {
		c.Decide = func(state S) (Plan, error) {
			plan, err := decide(state)
			return plan.Under(p), err
		}
	}
	return c
}

// Under returns the job with the policy applied to what it reads and plans: Run runs it with
// [Policy.Context].
func (j Job) Under(p Policy) Job {
	p = p.frozen()
	j.under = append(slices.Clip(j.under), p)
	j.Stages = slices.Clone(j.Stages)
	for i := range j.Stages {
		s := &j.Stages[i]
		if plan := s.Plan; plan != nil {
			s.Plan = func(docs []bson.Raw) (Plan, error) {
				out, err := plan(docs)
				return out.Under(p), err
			}
		}
		if work := s.Work; work != nil {
			s.Work = func(ctx context.Context, b *Batch) (Plan, error) {
				out, err := work(ctx, b)
				return out.Under(p), err
			}
		}
	}
	return j
}

// contextUnder is the context with further policies.
func contextUnder(ctx context.Context, under []Policy) context.Context {
	for _, p := range under {
		ctx = p.Context(ctx)
	}
	return ctx
}

// underContext is the plan with the policies of the context applied.
func (p Plan) underContext(ctx context.Context) Plan {
	for _, policy := range policiesOf(ctx) {
		p = p.Under(*policy)
	}
	return p
}
