package twosided

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ListedLink is a left document, a right one, and what the left document in hand says of the right one.
type ListedLink struct {
	a, B    any           // the ids, encoded
	op      bson.ObjectID // of the operation
	Bare    bool          // the bare id is listed
	Version int64         // of the document's list
	V       int64         // of the link; 0 for none
	Was     bson.ObjectID // the operation that made the link
	Err     error
}

// Listed encodes the ids of a left document and a right one.
func (m *ManyToMany) Listed(left, right any, op bson.ObjectID) (s ListedLink) {
	s.op = op
	if s.Err = m.Left.checkOp(op); s.Err != nil {
		return s
	}
	id, err := m.Left.Docs.ID(left)
	if err == nil {
		s.a, err = idref.NewHeld(m.Right.Docs, m.Right.Path, m.Left.Docs).Encode(id)
	}
	if err == nil {
		s.B, err = idref.NewHeld(m.Left.Docs, m.Left.Path, m.Right.Docs).Encode(right)
	}
	s.Err = err
	return s
}

// Link is the plan that links two documents: the right one lists the left one first, and then the left one decides. Of bare ids, the
// left one lists first.
func (m *ManyToMany) Link(s ListedLink) model.Plan {
	if s.Err != nil {
		return model.RefusedPlan(m.Left.Docs.Name(), s.Err)
	}
	if !m.Left.Links {
		p := commands.Leaving("a link that only the left side lists; the check finds it", m.Left.add(s.a, s.B), m.Right.add(s.B, s.a))
		if m.Right.Max > 0 && !s.Bare {
			p.IfStale = []model.Step{m.Left.pull(s.a, model.Eq(s.B))}
		}
		return p
	}
	v := s.Version
	if s.Was == s.op && !s.op.IsZero() {
		v = s.V - 1 // this very operation, read after its own write
	} else if s.V > 0 {
		return model.Plan{}
	}
	claim := m.claim(s.a, s.B, v, s.op)
	claim.Done = append(commands.ByID(s.a), mql.E(m.Left.Path, element(exactly(s.B, v+1, s.op))))
	claim.Token, claim.Reasons = s.op, m.Left.full(s.a)
	p := commands.Leaving("a link that only the right side lists; readers trust the left side, and the check finds it", m.Right.reserve(s.B, s.a, v+1, s.op), claim)
	p.IfStale = []model.Step{m.Right.pull(s.B, exactly(s.a, v+1, s.op))}
	return p
}

// claim is the compare-and-set by which a left document lists a right one: it decides.
func (m *ManyToMany) claim(a, b any, v int64, op bson.ObjectID) model.Write {
	w := commands.UpdateOne(m.Left.Docs.Name(), model.And(atVersion(a, m.Version, v), m.Left.room()),
		append(stmt.Operator("$push", m.Left.Path, link(b, v+1, op)), stmt.Set(m.Version, v+1)...))
	w.Once = true
	return w
}

// Unlink is the plan that removes a link.
func (m *ManyToMany) Unlink(s ListedLink) model.Plan {
	if s.Err != nil {
		return model.RefusedPlan(m.Left.Docs.Name(), s.Err)
	}
	if !m.Left.Links {
		return commands.Leaving("a link that only the right side lists; the check finds it", m.Left.pull(s.a, model.Eq(s.B)), m.Right.pull(s.B, model.Eq(s.a)))
	}
	if s.V == 0 {
		return model.NewPlan(m.Right.pull(s.B, versions(s.a, "$lte", s.Version)))
	}
	// The token tells the link from one of another document that has the _id since, and the same version.
	away := m.Right.pull(s.B, exactly(s.a, s.V, s.Was))
	asRead := append(atVersion(s.a, m.Version, s.Version), mql.E(m.Left.Path, element(exactly(s.B, s.V, s.Was))))
	claim := commands.UpdateOne(m.Left.Docs.Name(), asRead,
		append(stmt.Operator("$pull", m.Left.Path, stmt.Is("id", s.B)), stmt.Set(m.Version, s.Version+1)...))
	claim.Done = append(commands.ByID(s.a), mql.E(m.Left.Path+".id", bson.D{{Key: "$ne", Value: s.B}}))
	claim.Once = true
	return commands.Leaving("a link that only the right side lists; readers trust the left side, and the check finds it", claim, away)
}
