package advise_test

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func declaredReferences() []declaredUse {
	ref := relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{})
	list := relate.NewChildRefs(posts, "comments", comments)
	two := relate.NewTwoWay(posts, "comments", comments, "post", relate.TwoWaySpec{})
	many := relate.NewManyToMany(posts, "comments", comments, "posts", relate.ManyToManySpec{})
	linked := func(ids ...string) model.ChangeOf[model.Stored[post]] {
		return storeOf(many, posts).Edit("q", func(p *post) error { p.Comments = ids; return nil })
	}
	join := relate.NewJoinCollection(links, "comment", comments, "post", posts, relate.JoinCollectionSpec{})
	joined := storeOf(join, links)
	wide := denorm.NewWideRow(comments, posts, denorm.WideRowSpec{LeftRows: "commentsRows", RightRows: "postsRows"})
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
			"parent with its children": both(parent, reads(two.Left().Others("p"))),
			"child with its parent":    both(child, parent),
			"reassign a child":         stores(storeOf(two, comments).Set("c", bson.D{{Key: "post", Value: "q"}})),
		}},
		{usesOf(with(named(count{Max: 1000}), shared))[0], many.Indexes, operations{
			"parent with its children": both(parent, reads(many.Right().Listed(&comment{ID: "c", Posts: []string{"p"}}))),
			"child with its parents":   both(child, reads(many.Left().Listed(&post{ID: "p", Comments: []string{"c"}}))),
			"link":                     stores(linked("c")), "unlink": stores(linked()),
		}},
		{
			use:     usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Has.Unbounded = true }))[0],
			indexes: join.Indexes,
			run: operations{
				"link":              stores(joined.Insert(link{ID: "l", Post: "p", Comment: "c"})),
				"unlink":            stores(joined.DeleteOne(bson.D{{Key: "comment", Value: "c"}, {Key: "post", Value: "p"}})),
				"links of a parent": reads(join.Left().Links("c")), "links of a child": reads(join.Right().Links("p")),
			},
		},
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) {
			r.Child.Has.Unbounded, r.Child.Copied = true, advise.Copied{Fields: "name", ReadsPerChange: 1e9}
		}))[0], wide.Indexes, operations{
			"page of posts of a parent":   reads(wide.Left().Newest("c", "", 10)),
			"page of comments of a child": reads(wide.Right().Newest("p", "", 10)),
		}},
	}
}

func declaredParts() []declaredUse {
	array := embed.NewEmbedded[comment](posts, "embedded", embed.EmbeddedSpec{Key: "_id", Max: 20})
	one := embed.NewOne[comment](posts, "detail", embed.OneSpec{})
	newest := denorm.NewBounded(posts, "embedded", denorm.BoundedSpec{Max: 3})
	bucket := denorm.NewBucket(pages, denorm.BucketSpec{Max: 50, ElementKey: "_id"})
	outlier := denorm.NewOutlier(posts, "embedded", denorm.NewBucket(overflow, denorm.BucketSpec{Max: 100}),
		denorm.OutlierSpec{Max: 20, Flag: "more"})
	history := denorm.NewHistory(posts,
		model.NewCollection[denorm.Revision[post, string], denorm.RevisionID[string]]("postRevisions"), denorm.HistorySpec{})
	outbox := denorm.NewOutbox[struct{ N int }](posts, "outbox", denorm.OutboxSpec{})
	kept := denorm.NewSubsetPages(posts, "newest", bucket,
		denorm.SubsetPagesSpec{Max: 3, By: bson.D{{Key: "_id", Value: -1}}})
	log := denorm.NewEventLog(model.NewCollection[denorm.EventCommit[string, postRef], string]("postEvents"),
		denorm.EventLogSpec[string, postRef, int64]{
			Fold: func(n int64, _ postRef) (int64, error) { return n + 1, nil },
		})
	binned := denorm.NewRollup(comments,
		model.NewCollection[denorm.RollupDoc[string, int64], string]("commentTotals"), denorm.RollupSpec{
			Time: "at", By: []string{"post"}, Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Mark: "mark",
		})
	spread := keys.NewSpread(comments, "spread", keys.SpreadSpec{Parts: 16, By: "_id"})
	subset := denorm.NewSubset(comments, "post", posts, "newest",
		denorm.SubsetSpec{Max: 3, By: bson.D{{Key: "_id", Value: -1}}})
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
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Child.Page = 50 }))[0], bucket.Indexes, operations{
			"page of a parent": reads(bucket.Newest("p")), "add a child": changes(bucket.Append("p", comment{ID: "d"})),
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
			indexes: history.Indexes,
			run: operations{
				"change a document": changes(history.Set("p", bson.D{{Key: "name", Value: "x"}},
					denorm.Revised{At: time.Now(), By: "ann"}, bson.NewObjectID())), "read a version": reads(history.Version("p", 0)),
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
		{usesOf(with(named(count{Unbounded: true}), func(r *rel) { r.Parent.Events = true }))[1], outbox.Indexes, operations{
			"publish an event": runs(outbox.Publish("p", struct{ N int }{1}, time.Now(), bson.NewObjectID())),
		}},
	}
}

func declaredNumbers() []declaredUse {
	counter := denorm.NewCounter(comments, "post", posts, denorm.CounterSpec{Count: "commentsCount"})
	unique := denorm.NewUniqueCount(seen, denorm.UniqueSpec{})
	slotted := denorm.NewSlots(counts, denorm.SlotsSpec{})
	rough := denorm.NewApproximate(posts, "rough", 100)
	copied := denorm.NewCopy(posts, comments, denorm.CopySpec{
		KeyPath: "of._id",
		Fields:  []denorm.Field{{From: "name", To: "of.name"}},
	})
	listed := denorm.NewCopy(comments, posts, denorm.CopySpec{
		KeyPath: "listed._id",
		Fields:  []denorm.Field{{From: "name", To: "listed.name"}},
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
				"show the number":   reads(slotted.Total("p")),
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
