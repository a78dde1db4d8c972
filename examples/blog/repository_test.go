package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	if err := connect.Run(context.Background(), "", "blog", os.Stdout, tour); err != nil { // needs transactions
		fmt.Println(err)
	}
	// Output:
	// db.posts.createIndex({authors: 1})
	// db.authors.createIndex({posts: 1})
	// db.comments.createIndex({post: 1, at: -1, _id: -1})
	// // comments.post_1 is covered by post_1_at_-1__id_-1: its keys are the first of post_1_at_-1__id_-1
	//
	// publish a post:
	// db.postBySlug.updateOne({_id: 'hello', id: ObjectId('650000000000000000000001')}, {$set: {sure: true}, $addToSet: {ops: ObjectId('6500000085ad0c8111c28e83')}}, {upsert: true}) // indextable.IndexTable
	// db.authors.updateOne({_id: 'bob'}, {$set: {posts: [ObjectId('650000000000000000000001')]}}) // twosided.ManyToMany
	// db.authors.updateOne({_id: 'ann'}, {$set: {posts: [ObjectId('650000000000000000000001')]}}) // twosided.ManyToMany
	// db.posts.insertOne({_id: ObjectId('650000000000000000000001'), slug: 'hello', title: 'Hello', text: 'We begin.', at: ISODate('2026-05-01T12:00:00.000Z'), authors: ['ann', 'bob'], views: Long('0')})
	// 3 commands, 4 documents written, by _id_ - rerunnable
	//
	// comment on it:
	// db.comments.insertOne({_id: ObjectId('650000000000000000000065'), post: ObjectId('650000000000000000000001'), at: ISODate('2026-05-01T12:01:00.000Z'), by: 'anon', text: 'comment 1'})
	// db.posts.updateOne({_id: ObjectId('650000000000000000000001')}, {$push: {recent: {$each: [{_id: ObjectId('650000000000000000000065'), by: 'anon', text: 'comment 1', at: ISODate('2026-05-01T12:01:00.000Z')}], $sort: {at: -1, _id: -1}, $slice: 3}}, $inc: {'_m.hold': Long('1')}}) // subset.Subset
	// 2 commands, 2 documents written, by _id_ - transactional
	//
	// reply to that:
	// db.comments.updateOne({_id: ObjectId('650000000000000000000065'), 'replies.id': {$ne: ObjectId('650000000000000000000007')}, 'replies.199': {$exists: false}, $expr: {$lte: [{$bsonSize: '$$ROOT'}, 15728574]}}, {$push: {replies: {id: ObjectId('650000000000000000000007'), parent: null, by: 'bob', text: 'Thanks'}}})
	// 1 command, 1 document written, by _id_ - atomic
	//
	// The post:
	// - comment 8
	// - comment 7
	// - comment 6
	// and 5 more, the first of them with the replies:
	// - bob: Thanks
	// -- anon: You're welcome
	//
	// Another of its name: blog: another post has this slug: docmodel: step 1: postBySlug {_id: 'hello'}: postBySlug: 'hello' is taken by another document
	// Bob leaves: blog: the author has posts: docmodel: the deletion is forbidden by posts ObjectId('650000000000000000000001'): authors → 'bob'
	// The post goes: <nil>
	// 0 comments are left, and Bob leaves: <nil>
}

// The cost of each action, with the commit, the index of each query, and nothing left to
// repair.
func TestActions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		b, ctx := seed(t, db, 2500), t.Context()
		p, err := b.Show(ctx, "hello")
		if err != nil {
			t.Fatal(err)
		}
		second := Post{ID: id(2), Slug: "again", Title: "Again", At: noon, Authors: []string{"ann"}}
		for _, action := range []struct {
			name string
			want model.Cost
			run  func() error
		}{
			{"publish", model.Cost{Commands: 4, Written: 3, Returned: 1}, func() error { return b.Publish(ctx, second) }},
			{"show", model.Cost{Commands: 1, Returned: 1}, func() error { _, err := b.Show(ctx, "again"); return err }},
			{"by", model.Cost{Commands: 1, Returned: 2}, func() error { _, err := b.By(ctx, "ann"); return err }},
			{"rename", model.Cost{Commands: 3, Written: 3, Returned: 1}, func() error { return b.Rename(ctx, second, "Anew", "anew") }},
			{"comment", model.Cost{Commands: 2, Written: 2}, func() error { return b.Comment(ctx, nth(3000)) }},
			{"the next comments", model.Cost{Commands: 1, Returned: paged}, func() error { _, err := b.Comments(ctx, p, nil); return err }},
			{"reply", model.Cost{Commands: 1, Written: 1}, func() error { return b.Reply(ctx, id(101), Reply{ID: id(7)}) }},
			{"edit one that is shown", model.Cost{Commands: 3, Written: 2, Returned: 1}, func() error { return b.Edit(ctx, id(100+3000), "better") }},
			{"edit another", model.Cost{Commands: 3, Written: 1, Returned: 1}, func() error { return b.Edit(ctx, id(101), "better") }},
			{"remove", model.Cost{Commands: 4, Written: 4, Returned: 14}, func() error { return b.Remove(ctx, id(100+3000)) }},
			{"withdraw", model.Cost{Commands: 7, Written: 3, Returned: 4}, func() error { return b.Withdraw(ctx, "anew") }},
			{"leave", model.Cost{Commands: 4, Written: 1, Returned: 1}, func() error { return b.Leave(ctx, "cat") }},
		} {
			t.Run(action.name, func(t *testing.T) { modeltest.WantCost(t, monitor, action.want, action.run) })
		}
		if n, err := b.Mend(ctx, 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		modeltest.WantIndexed(t, db, slugs.Documents("hello"), model.IDIndex)
		modeltest.WantIndexed(t, db, by("bob"), "authors_1")
		modeltest.WantIndexed(t, db, page(p, nil), "post_1_at_-1__id_-1")
	}, monitor)
}

// Errors are the blog's and leave nothing.
func TestErrors(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		b, ctx := seed(t, db, 5), t.Context()
		nowhere, orphan := Reply{ID: id(8), Parent: &bson.ObjectID{9}}, nth(5)
		orphan.ID, orphan.Post = id(9), id(9)
		for _, c := range []struct {
			name      string
			got, want error
		}{
			{"a slug twice", b.Publish(ctx, Post{ID: id(2), Slug: "hello"}), ErrSlugTaken},
			{"an author who isn't there", b.Publish(ctx, Post{ID: id(2), Slug: "new", Authors: []string{"ann", "eve"}}), ErrNoAuthor},
			{"no post", func() error { _, err := b.Show(ctx, "new"); return err }(), ErrNoPost},
			{"a post that was renamed", b.Rename(ctx, Post{ID: id(1), Slug: "old"}, "New", "new"), ErrChanged},
			{"a comment on no post", b.Comment(ctx, orphan), ErrNoPost},
			{"a comment that isn't there", b.Edit(ctx, id(9), "x"), ErrNoComment},
			{"a reply to none", b.Reply(ctx, id(9), Reply{ID: id(8)}), ErrNoComment},
			{"a reply to no reply", b.Reply(ctx, id(101), nowhere), ErrNoComment},
			{"an author with posts", b.Leave(ctx, "ann"), ErrHasPosts},
			{"no post to withdraw", b.Withdraw(ctx, "new"), nil},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v; want %v", c.name, c.got, c.want)
			}
		}
		if n, err := b.Mend(ctx, 0); n != 0 || err != nil {
			t.Errorf("%d things to mend, %v", n, err)
		}
		if n, err := comments.Find(bson.D{{Key: "post", Value: id(9)}}).Count(ctx, db); n != 0 || err != nil {
			t.Errorf("%d comments of no post are left, %v", n, err)
		}
	})
}

// Publishing again after views and comments has no effect.
func TestPublishAgain(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		b := openBlog(t.Context(), t, db)
		b.draw = func() float64 { return 0 }
		err := errors.Join(fill(t.Context(), b), b.Publish(t.Context(), post()), b.Comment(t.Context(), nth(1)))
		if _, errShow := b.Show(t.Context(), "hello"); errors.Join(err, errShow) != nil {
			t.Fatal(err, errShow)
		}
		again := errors.Join(b.Publish(t.Context(), post()), b.Comment(t.Context(), nth(1)))
		if p, err := b.Show(t.Context(), "hello"); again != nil || err != nil || len(p.Recent) != 1 || p.Views != counted {
			t.Errorf("%v; %+v, %v", again, p, err)
		}
	})
}

// seed publishes the first post with n comments.
func seed(t *testing.T, db *mongo.Database, n int) Blog {
	b := openBlog(t.Context(), t, db)
	var all []Comment
	for n := range n {
		all = append(all, nth(n))
	}
	_, errComments := comments.InsertMany(all).Run(t.Context(), db)
	err := errors.Join(fill(t.Context(), b), errComments, b.Publish(t.Context(), post()))
	_, errRecent := recent.Refresh(id(1)).Run(t.Context(), db)
	if err := errors.Join(err, errRecent); err != nil {
		t.Fatal(err)
	}
	return b
}

// openBlog returns a blog that writes no views.
func openBlog(ctx context.Context, t testing.TB, db *mongo.Database) Blog {
	b, err := New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	b.draw = func() float64 { return 0.5 }
	return b
}

// After a crash at any write of a withdrawal, the next one completes it and frees the
// slug.
func TestWithdrawCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4, Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			b := openBlog(ctx, t, db)
			return errors.Join(fill(ctx, b), b.Publish(ctx, post()), b.Comment(ctx, nth(1)), b.Comment(ctx, nth(2)))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return openBlog(ctx, t, db).Withdraw(ctx, "hello")
		},
		Check: func(t testing.TB, db *mongo.Database) {
			b, ctx := openBlog(t.Context(), t, db), t.Context()
			if _, err := b.Show(ctx, "hello"); !errors.Is(err, ErrNoPost) {
				t.Errorf("the post is shown, %v", err)
			}
			n, err := comments.Find(nil).Count(ctx, db)
			taken, errTaken := slugs.Lookup("hello").All(ctx, db)
			listed, errListed := authors.Find(bson.D{{Key: "posts", Value: id(1)}}).All(ctx, db)
			if err := errors.Join(err, errTaken, errListed); err != nil || n+int64(len(taken)+len(listed)) > 0 {
				t.Errorf("left are %d comments, %v, %v, %v", n, taken, listed, err)
			}
		},
	})
}

// After a crash, publishing runs again.
func TestPublishCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 3, Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error { return fill(ctx, openBlog(ctx, t, db)) },
		Run:  func(ctx context.Context, db *mongo.Database) error { return openBlog(ctx, t, db).Publish(ctx, post()) },
		Check: func(t testing.TB, db *mongo.Database) {
			b := openBlog(t.Context(), t, db)
			p, err := b.Show(t.Context(), "hello")
			if n, errMend := b.Mend(t.Context(), 0); n != 0 || p.ID != id(1) || errors.Join(err, errMend) != nil {
				t.Errorf("%+v, %d things to mend, %v, %v", p, n, err, errMend)
			}
		},
	})
}
