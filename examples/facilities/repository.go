package main

import (
	"context"
	"iter"
	"slices"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Facilities is the repository. Each method is an action that happens completely or not
// at all.
type Facilities struct{ db model.DB }

// New returns the facilities in a database with transactions.
func New(ctx context.Context, db *mongo.Database) (Facilities, error) {
	tx, err := model.WithTransactions(ctx, db)
	return Facilities{tx}, err
}

// Prepare creates missing indexes.
func (f Facilities) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, f.db)
}

// Build adds a site under another site. in is "" for a campus.
func (f Facilities) Build(ctx context.Context, s Site, in string) error {
	at := paths.LastRoot[string]()
	if in != "" {
		at = paths.LastChild(in)
	}
	s, err := place.Completed(s) // sets its geohash
	if err != nil {
		return err
	}
	_, err = tree.Insert(s, at).Run(ctx, f.db)
	return err
}

// OpenTask stores a task. Its site lists and counts it.
func (f Facilities) OpenTask(ctx context.Context, t Task) error {
	_, _, err := openTask(t).Run(ctx, f.db)
	return err
}

func openTask(t Task) model.ChangeOf[model.Stored[Task]] { return taskStore.Insert(t) }

// MoveTask moves a task to another site. It changes both sites' lists and counts, and the
// task's copy of the name.
func (f Facilities) MoveTask(ctx context.Context, task, site string) error {
	_, _, err := moveTask(task, site).Run(ctx, f.db)
	return err
}

func moveTask(task, site string) model.ChangeOf[model.Stored[Task]] {
	return taskStore.Set(task, bson.D{{Key: "site.id", Value: site}})
}

// Finish marks a task as done. Its site no longer counts it.
func (f Facilities) Finish(ctx context.Context, task string) error {
	_, _, err := taskStore.Set(task, bson.D{{Key: "done", Value: true}}).Run(ctx, f.db)
	return err
}

// Rename renames a site, also in its tasks.
func (f Facilities) Rename(ctx context.Context, site, name string) error {
	_, _, err := siteStore.Set(site, bson.D{{Key: "name", Value: name}}).Run(ctx, f.db)
	return err
}

// Relocate corrects a site's place and a contact's name: two techniques, one write.
func (f Facilities) Relocate(ctx context.Context, site string, at geohash.Point, mail, name string) error {
	_, err := relocate(site, at, mail, name).Run(ctx, f.db)
	return err
}

func relocate(site string, at geohash.Point, mail, name string) model.Write {
	moved := sites.Update(site, bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: geofield.Point(at)}}}})
	return model.Merge(place.Complete(moved), contacts.Update(site, mail, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}}))
}

// Busy returns the sites with open tasks in a circle, with distances.
func (f Facilities) Busy(ctx context.Context, circle geohash.Circle) iter.Seq2[geofield.Place[Site], error] {
	return busy(circle).Each(ctx, f.db)
}

func busy(circle geohash.Circle) geofield.Within[Site] {
	return place.Within(circle, bson.D{{Key: "open", Value: bson.D{{Key: "$gt", Value: 0}}}})
}

// TasksOf returns the tasks of a site and of all sites below it, in the order of _id.
func (f Facilities) TasksOf(ctx context.Context, site string) ([]Task, error) {
	ids := []string{site}
	for s, err := range tree.Descendants(&Site{ID: site}, 0).Each(ctx, f.db) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ID)
	}
	return of(ids).All(ctx, f.db)
}

func of(sites []string) *model.Find[Task] {
	return tasks.Find(bson.D{{Key: "site.id", Value: bson.D{{Key: "$in", Value: sites}}}}).Sorted(bson.D{{Key: "_id", Value: 1}})
}

// Problems counts the findings of all checks.
func (f Facilities) Problems(ctx context.Context) (int, error) {
	n := 0
	for _, check := range slices.Concat(tree.Checks(), place.Checks(), work.Checks(), open.Checks(), names.Checks(), contacts.Checks()) {
		found, err := check.All(ctx, f.db)
		if err != nil {
			return n, err
		}
		n += len(found)
	}
	return n, nil
}
