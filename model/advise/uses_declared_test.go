package advise_test

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func declaredReferences() []declaredUse {
	ref := parentref.New(comments, "post", posts, parentref.Spec{})
	list := childrefs.New(posts, "comments", comments)
	two := twosided.NewTwoWay(posts, "comments", comments, "post", twosided.TwoWaySpec{})
	many := twosided.NewManyToMany(posts, "comments", comments, "posts", twosided.ManyToManySpec{})
	linked := func(ids ...string) model.ChangeOf[model.Stored[post]] {
		return storeOf(many, posts).Edit("q", func(p *post) error { p.Comments = ids; return nil })
	}
	join := joincollection.New(links, "comment", comments, "post", posts, joincollection.Spec{})
	joined := storeOf(join, links)
	wide := widerow.New(comments, posts, widerow.Spec{LeftRows: "commentsRows", RightRows: "postsRows"})
	parent, child := reads(posts.ByID("p")), reads(comments.ByID("c"))
	shared := func(r *rel) { r.Child.Has = count{Typical: 3, Max: 20} }
	return []declaredUse{
		{usesOf(named(count{Unbounded: true}))[0], ref.Indexes, operations{
			"parent with its children": both(parent, reads(ref.Children("p"))), "child with its parent": both(child, parent),
			"add a child":    runs(comments.Insert(comment{ID: "d", Post: "p"})),
			"change a child": runs(comments.Update("d", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "m"}}}})),
			"remove a child": runs(comments.Delete("d")),
		}},
		{
			use:     usesOf(with(named(count{Max: 1000, Fixed: true}), func(r *rel) { r.Child.Ordered = true }))[0],
			indexes: list.Indexes,
			run: operations{
				"parent with its children": both(parent, reads(list.Children(&post{ID: "p", Comments: []string{"c"}}))),
				"child with its parent":    both(child, reads(list.ParentsOf("c"))),
				"insert and list a child":  both(runs(comments.Insert(comment{ID: "d"})), runs(list.Add("p", "d"))),
				"list a child":             runs(list.Add("p", "d")),
				"reorder":                  runs(list.Reorder("p", []string{"c", "d"}, []string{"d", "c"})),
			},
		},
		{usesOf(with(named(count{Max: 1000, Fixed: true}), func(r *rel) { r.Child.Shows = 0.5 }))[0], two.Indexes, operations{
			"parent with its children": both(parent, reads(two.Left.Others("p"))),
			"child with its parent":    both(child, parent),
			"reassign a child":         stores(storeOf(two, comments).Set("c", bson.D{{Key: "post", Value: "q"}})),
		}},
		{usesOf(with(named(count{Max: 1000}), shared))[0], many.Indexes, operations{
			"parent with its children": both(parent, reads(many.Right.Listed(&comment{ID: "c", Posts: []string{"p"}}))),
			"child with its parents":   both(child, reads(many.Left.Listed(&post{ID: "p", Comments: []string{"c"}}))),
			"link":                     stores(linked("c")), "unlink": stores(linked()),
		}},
		{
			use:     usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Has.Unbounded = true }))[0],
			indexes: join.Indexes,
			run: operations{
				"link":              stores(joined.Insert(link{ID: "l", Post: "p", Comment: "c"})),
				"unlink":            stores(joined.DeleteOne(bson.D{{Key: "comment", Value: "c"}, {Key: "post", Value: "p"}})),
				"links of a parent": reads(join.Left.Links("c")), "links of a child": reads(join.Right.Links("p")),
			},
		},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) {
			r.Child.Has.Unbounded, r.Child.Copied = true, advise.Copied{Fields: "name", ReadsPerChange: 1e9}
		}))[0], wide.Indexes, operations{
			"page of posts of a parent":   reads(wide.Left.Newest("c", "", 10)),
			"page of comments of a child": reads(wide.Right.Newest("p", "", 10)),
		}},
	}
}

func declaredParts() []declaredUse {
	array := embed.NewEmbedded[comment](posts, "embedded", embed.EmbeddedSpec{Key: "_id", Max: 20})
	one := embed.NewOne[comment](posts, "detail", embed.OneSpec{})
	newest := bounded.New(posts, "embedded", bounded.Spec{Max: 3})
	paged := bucket.New(pages, bucket.Spec{Max: 50, ElementKey: "_id"})
	outlier := outlier.New(posts, "embedded", bucket.New(overflow, bucket.Spec{Max: 100}),
		outlier.Spec{Max: 20, Flag: "more"})
	versions := history.New(posts,
		model.NewCollection[history.Revision[post, string], history.RevisionID[string]]("postRevisions"), history.Spec{})
	sent := outbox.New[struct{ N int }](posts, "outbox", outbox.Spec{})
	kept := subsetpages.New(posts, "newest", paged,
		subsetpages.Spec{Max: 3, By: bson.D{{Key: "_id", Value: -1}}})
	log := eventlog.New(model.NewCollection[eventlog.Commit[string, postRef], string]("postEvents"),
		eventlog.Spec[string, postRef, int64]{
			Fold: func(n int64, _ postRef) (int64, error) { return n + 1, nil },
		})
	binned := rollup.New(comments,
		model.NewCollection[rollup.Doc[string, int64], string]("commentTotals"), rollup.Spec{
			Time: "at", By: []string{"post"}, Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Mark: "mark",
		})
	spread := keys.NewSpread(comments, "spread", keys.SpreadSpec{Parts: 16, By: "_id"})
	subset := subset.New(comments, "post", posts, "newest",
		subset.Spec{Max: 3, By: bson.D{{Key: "_id", Value: -1}}})
	expiry := schema.NewExpiry(comments, "at", schema.ExpirySpec{After: 30 * 24 * time.Hour})
	parent := reads(posts.ByID("p"))
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "m"}}}}
	return []declaredUse{
		{usesOf(with(named(count{Max: 20}), func(r *rel) { r.Child.Name = "embedded" }))[0], array.Indexes, operations{
			"parent with its children": parent, "add a child": runs(array.Add("p", comment{ID: "d"})),
			"change a child": runs(array.Update("p", "d", set)), "remove a child": runs(array.Remove("p", "d")),
		}},
		{usesOf(with(named(count{Max: 1}), func(r *rel) { r.Parent.Alone = 1 }))[0], nil, operations{
			"parent with its child": parent, "add the child": runs(one.Create("p", comment{ID: "d"})),
			"change the child": runs(one.Update("p", set)),
			"remove the child": runs(posts.Update("p", bson.D{{Key: "$unset", Value: bson.D{{Key: "detail", Value: 1}}}})),
		}},
		{
			use: usesOf(with(named(count{Unbounded: true}), func(r *rel) {
				r.Child.Newest = advise.Newest{N: 3, Drop: true}
			}))[0],
			indexes: nil,
			run: operations{
				"parent with its children": parent, "add a child": runs(newest.Push("p", comment{ID: "d"})),
			},
		},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Page = 50 }))[0], paged.Indexes, operations{
			"page of a parent": reads(paged.Newest("p")), "add a child": changes(paged.Append("p", comment{ID: "d"})),
		}},
		{usesOf(named(count{Typical: 5, P99: 20, Max: 1000}))[0], nil, operations{
			"parent with its children": parent, "add a child": changes(outlier.Append("p", comment{ID: "e"})),
		}},
		{usesOf(with(named(count{Max: 20}), func(r *rel) { r.Child.Value, r.Child.Bytes = true, 9 }))[0], nil, operations{
			"parent with its children": parent,
			"add a child": runs(posts.Update("p", bson.D{{
				Key: "$addToSet", Value: bson.D{{Key: "comments", Value: "v"}},
			}})),
			"remove a child": runs(posts.Update("p", bson.D{{Key: "$pull", Value: bson.D{{Key: "comments", Value: "v"}}}})),
		}},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Newest.N = 3 }))[1], subset.Indexes, operations{
			"parent with the newest": parent,
			"add a child":            stores(storeOf(subset, comments).Insert(comment{ID: "f", Post: "p"})),
		}},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Days = 30 }))[1], expiry.Indexes, operations{}},
		{
			use:     usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Parent.Versions = true }))[1],
			indexes: versions.Indexes,
			run: operations{
				"change a document": changes(versions.Set("p", bson.D{{Key: "name", Value: "x"}},
					history.Revised{At: time.Now(), By: "ann"}, bson.NewObjectID())), "read a version": reads(versions.Version("p", 0)),
			},
		},
		{
			use:     usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Page, r.Child.Newest.N = 50, 3 }))[1],
			indexes: kept.Indexes,
			run: operations{
				"parent with the newest": parent, "add a child": changes(kept.Append("p", comment{ID: "n1"})),
			},
		},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Parent.Log = true }))[1], log.Indexes, operations{
			"append events": changes(log.Append("p", 0, time.Now(), []postRef{{ID: "e"}}, bson.NewObjectID())),
			"load a state":  changes(log.Load("p")),
		}},
		{
			use: usesOf(with(named(count{Unbounded: true}), func(r *rel) {
				r.Child.Total = advise.Total{ReadsPerChange: 100, ByTime: true}
			}))[1],
			indexes: binned.Indexes,
			run: operations{
				"show the number": reads(binned.Bins("p", denorm.Daily, time.Time{}, time.Time{})),
			},
		},
		{
			use: usesOf(with(named(count{Unbounded: true}), func(r *rel) {
				r.Child.Sharded, r.Parent.Has.PerSecond = true, 500
			}))[1],
			indexes: spread.Indexes,
			run: operations{
				"add a child":       stores(storeOf(spread, comments).Insert(comment{ID: "s1", Post: "p", Spread: "p"})),
				"children in order": reads(spread.Find("p", nil)),
			},
		},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Parent.Events = true }))[1], sent.Indexes, operations{
			"publish an event": runs(sent.Publish("p", struct{ N int }{1}, time.Now(), bson.NewObjectID())),
		}},
	}
}

func declaredNumbers() []declaredUse {
	counter := counter.New(comments, "post", posts, counter.Spec{Count: "commentsCount"})
	unique := uniquecount.New(seen, uniquecount.Spec{})
	slotted := slots.New(counts, slots.Spec{})
	rough := approximate.New(posts, "rough", 100)
	copied := copies.New(posts, comments, copies.Spec{
		KeyPath: "of._id",
		Fields:  []copies.Field{{From: "name", To: "of.name"}},
	})
	listed := copies.New(comments, posts, copies.Spec{
		KeyPath: "listed._id",
		Fields:  []copies.Field{{From: "name", To: "listed.name"}},
	})
	total := func(t advise.Total) rel {
		return with(named(count{Unbounded: true}), func(r *rel) { r.Child.Total = t })
	}
	name := advise.Copied{Fields: "name", ReadsPerChange: 1e6}
	fields := bson.D{{Key: "name", Value: "m"}}
	return []declaredUse{
		{usesOf(total(advise.Total{ReadsPerChange: 100}))[1], counter.Indexes, operations{
			"show the number": reads(posts.ByID("p")),
			"add a child":     stores(storeOf(counter, comments).Insert(comment{ID: "g", Post: "p"})),
		}},
		{usesOf(total(advise.Total{ReadsPerChange: 100, Distinct: true}))[1], unique.Indexes, operations{
			"count a member":  runs(unique.Visit("p", "c", time.Now())),
			"show the number": reads(unique.Count("p", time.Time{}, time.Time{})),
		}},
		{
			use:     usesOf(with(total(advise.Total{ReadsPerChange: 100}), func(r *rel) { r.Parent.Has.PerSecond = 500 }))[1],
			indexes: slotted.Indexes,
			run: operations{
				"change the number": changes(slotted.Add("p", 1, bson.NewObjectID())),
				"show the number":   reads(slotted.Totals("p")),
			},
		},
		{usesOf(total(advise.Total{ReadsPerChange: 1, Rough: true}))[1], rough.Indexes, operations{
			"count an event, once in 100": runs(rough.Count("p", 1, 0)), "show the number": reads(posts.ByID("p")),
		}},
		{
			use:     usesOf(with(named(count{Typical: 20, Unbounded: true}), func(r *rel) { r.Parent.Copied = name }))[1],
			indexes: nil,
			run: operations{
				"child with its parent": reads(comments.ByID("c")),
				"change a copied field": stores(storeOf(copied, posts).Set("p", fields)),
			},
		},
		{
			use: usesOf(with(named(count{Max: 1000}), func(r *rel) {
				r.Child.Has, r.Child.Copied, r.Child.Shows = count{Typical: 3, Max: 20}, name, none
			}))[1],
			indexes: nil,
			run: operations{
				"parent with its children": reads(posts.ByID("p")),
				"change a copied field":    stores(storeOf(listed, comments).Set("c", fields)),
			},
		},
	}
}

func declaredTrees() []declaredUse {
	forms := []struct {
		tree advise.Tree
		made *paths.Tree[node, string]
	}{
		{advise.Tree{Nodes: 5000}, paths.NewParentTree(nodes, paths.TreeSpec{})},
		{advise.Tree{Nodes: 5000, Ordered: true}, paths.NewChildTree(nodes, paths.ChildTreeSpec{})},
		{advise.Tree{Nodes: 5000, Above: 0.5}, paths.NewAncestorArray(nodes, paths.AncestorArraySpec{})},
		{advise.Tree{Nodes: 5000, Below: 0.5}, paths.NewMaterializedPath(nodes, paths.MaterializedPathSpec{Segment: "name"})},
		{
			tree: advise.Tree{Nodes: 5000, Below: 0.5, Preorder: true, ReadsPerMove: never},
			made: paths.NewNestedSet(nodes, paths.NestedSetSpec{}),
		},
	}
	var out []declaredUse
	for _, f := range forms {
		at := &node{ID: "a", Ancestors: []string{"a"}, Path: "a/", Left: 1, Right: 4}
		out = append(out, declaredUse{usesOf(rel{Parent: end{Name: "nodes"}, Tree: f.tree})[0], f.made.Indexes, operations{
			"children": reads(f.made.Children(at)), "nodes below one": reads(f.made.Descendants(at, 0)),
			"nodes above one": reads(f.made.Ancestors(at)),
		}})
	}
	return out
}
