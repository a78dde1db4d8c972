package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	register(storeSubsetCases()...)
	register(storeSubsetPagesCases()...)
	register(storeUniqueCountCases()...)
}

// inTurn returns the case of a change outside transactions.
func inTurn(
	c Case, docs func(s string) testkit.Docs, input func(s string) bson.D, call func(in bson.D, s string) storedChange,
) Case {
	c.Reason += ", outside transactions"
	c.State = asRead(func(s string) model.Change { return call(input(s), s).Change() }, docs)
	return c
}

func storeSubsetCases() (cases []Case) {
	store := model.NewStore(model.New("posts", inOrder), anything)
	add := func(method, reason string, input func(s string) bson.D, call func(in bson.D, s string) storedChange) {
		c := storeInputCase(method, reason, subsetOf, input, call)
		cases = append(cases, c, inTurn(c, subsetOf, input, call))
	}
	set := func(reason string, fields func(s string) bson.D) { add("Set", reason, fields, setting(store)) }
	add("Insert", "a child of a subset", func(s string) bson.D {
		return append(bson.D{{Key: "_id", Value: s + "9"}}, childOf(s)[1:]...)
	}, inserting(store))
	set("a copied field of a subset", fieldOf("text", "x"))
	set("a field that a subset doesn't copy", fieldOf("note", ""))
	set("what a subset is ordered by", func(string) bson.D { return roomy(bson.D{{Key: "time", Value: noon(-9)}}) })
	set("the parent of a subset's child", fieldOf("post", "9"))
	add("Delete", "the next child takes its place", noInput, deleting(store))
	add("Delete", "a child that isn't in the array", noInput, func(_ bson.D, s string) storedChange {
		return store.Delete(s + "3")
	})
	return cases
}

func storeSubsetPagesCases() []Case {
	store := model.NewStore(model.New("boxes", newestMails), mailboxes)
	remove := func(s string) model.ChangeOf[model.Stored[mailbox]] { return store.Delete(s) }
	c := Case{
		Method: "model.Store.Delete", Reason: "the pages of a parent, then the parent",
		Make:  func(s string) any { return remove(s) },
		State: asReadTx(func(s string) model.Change { return remove(s).Change() }, pagedBox),
	}
	outside := storeCase("Delete", "the pages of a parent, outside transactions", pagedBox, remove)
	return []Case{c, outside}
}

func storeUniqueCountCases() []Case {
	store := model.NewStore(model.New("visits", dayVisitors), siteVisits)
	stored := func(string) testkit.Docs { return testkit.Docs{"visits": nil} }
	return []Case{
		storeCase("Insert", "a visit, under its key", stored, func(s string) model.ChangeOf[model.Stored[siteVisit]] {
			return store.Insert(siteVisit{Group: s, Member: s, From: noon(30)})
		}),
		storeCase("Ensure", "a visit", stored, func(s string) model.ChangeOf[model.Stored[siteVisit]] {
			return store.Ensure(siteVisit{Group: s, Member: s, From: noon(30)})
		}),
	}
}
