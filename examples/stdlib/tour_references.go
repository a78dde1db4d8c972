package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/join"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (t *tour) references(ctx context.Context) error {
	busiest := most(t.std.packages, func(p Package) int { return len(p.Imports) })
	if _, err := read(ctx, t, "what "+busiest.ID+" imports, in stored order", imports.ChildrenOf(busiest.ID), packageID); err != nil {
		return err
	}
	if _, err := read(ctx, t, "who imports unsafe", imports.ParentsOf("unsafe"), packageID); err != nil {
		return err
	}
	cycle := "let errors import fmt, which is a cycle that Go refuses and a document doesn't"
	if err := t.plan(ctx, cycle, model.NewPlan(imports.Add("errors", "fmt"))); err != nil {
		return err
	}
	return t.plan(ctx, "and take it back", model.NewPlan(imports.Remove("errors", "fmt")))
}

// manyToMany is filled by its check: the repair writes the missing other side from the
// lists of one side.
func (t *tour) manyToMany(ctx context.Context) error {
	left := bothWays.Checks()[0]
	half, err := t.find(ctx, "what is listed on one side only", left)
	if err != nil {
		return err
	}
	if err := t.plan(ctx, "list it on the other", left.Mend(half)); err != nil {
		return err
	}
	unsafe, err := packages.ByID("unsafe").One(ctx, t.db)
	if err != nil {
		return err
	}
	if _, err := read(ctx, t, "who imports unsafe, by the list in hand", bothWays.Right.Listed(&unsafe), packageID); err != nil {
		return err
	}
	link := linkedPackages.Edit("errors", func(p *Package) error { p.Imports = append(p.Imports, "fmt"); return nil })
	if err := write(ctx, t, "let errors import fmt, on both sides", link); err != nil {
		return err
	}
	return write(ctx, t, "and take it back from both", linkedPackages.Edit("errors", func(p *Package) error {
		p.Imports = slices.DeleteFunc(p.Imports, func(id string) bool { return id == "fmt" })
		return nil
	}))
}

func (t *tour) twoWay(ctx context.Context) error {
	refs := owned.Checks()[1]
	half, err := t.find(ctx, "what files name and packages don't list", refs)
	if err != nil {
		return err
	}
	if err := t.plan(ctx, "list the files in their packages", refs.Mend(half)); err != nil {
		return err
	}
	pack, err := packages.ByID("net/http").One(ctx, t.db)
	if err != nil {
		return err
	}
	list, err := read(ctx, t, "the files of net/http, by the list in hand", owned.Left.Listed(&pack), sized)
	if err != nil {
		return err
	}
	assign := func(name, pkg string) error {
		return write(ctx, t, name, ownedFiles.Set(list[0].ID, bson.D{{Key: "package", Value: pkg}}))
	}
	if err := assign("give a file to another package", "net"); err != nil {
		return err
	}
	return assign("and give it back", "net/http")
}

func (t *tour) joinDocuments(ctx context.Context) error {
	if err := t.plan(ctx, "store the pairs", pairings.InsertMany(t.std.imports)); err != nil {
		return err
	}
	used := paired.Left.Others("net/http", nil, 5)
	if _, err := read(ctx, t, "the last five that net/http imports, and where", used, func(l relate.Linked[Import, Package]) string {
		return l.Doc.To + " (" + l.Doc.where() + ")"
	}); err != nil {
		return err
	}
	using := paired.Right.Links("testing").Where(bson.D{{Key: "code", Value: true}})
	if _, err := read(ctx, t, "who imports testing not only in tests", using, func(l Import) string { return l.From }); err != nil {
		return err
	}
	counts := paired.Right.Counts("errors", "fmt", "unsafe")
	_, err := read(ctx, t, "how many import three packages", counts, func(n relate.Count[string]) string {
		return fmt.Sprint(n.ID, " ", n.N)
	})
	return err
}

// where lists the files with the import.
func (i Import) where() string {
	switch {
	case i.Code && i.Tests:
		return "code and tests"
	case i.Code:
		return "code"
	}
	return "tests"
}

func (t *tour) join(ctx context.Context) error {
	two, err := packages.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{"net/http", "html/template"}}}}}).All(ctx, t.db)
	if err != nil {
		return err
	}
	return t.sent("what two packages import, and what that imports", "_id_", func() (string, error) {
		found, err := twoLevels.Load(ctx, t.db, two)
		return names(found, func(p join.Joined[Package, join.Joined[Package, Package, string], string]) string {
			n := 0
			for _, c := range p.Children {
				n += len(c.Children)
			}
			return fmt.Sprintf("%s imports %d, which import %d", p.Parent.ID, len(p.Children), n)
		}), err
	})
}

func (t *tour) deleting(ctx context.Context) error {
	err := t.sent("what goes with crypto/tls: a dry run", removal.Indexes()[0].Name, func() (string, error) {
		c := tiedPackages.Delete("crypto/tls")
		read, err := c.Read(ctx, t.db)
		if err != nil {
			return "", err
		}
		plan, err := c.Decide(read)
		return "it would delete " + count(int64(plan.Cost().Written)), err
	})
	if err != nil {
		return err
	}
	stored, err := packages.ByID("errors").One(ctx, t.db)
	if err != nil {
		return err
	}
	if err := t.plan(ctx, "delete errors past all rules", model.NewPlan(packages.Delete(stored.ID))); err != nil {
		return err
	}
	if _, err := read(ctx, t, "which imports lead nowhere now", weak.Missing(nil), func(n relate.Count[bson.RawValue]) string {
		return model.Shell(n.ID) + " (" + count(n.N) + ")"
	}); err != nil {
		return err
	}
	return t.plan(ctx, "and store it again", model.NewPlan(packages.Insert(stored)))
}
