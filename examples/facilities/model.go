package main

import (
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Site is a campus, a building or a room. Comments name the technique of a field.
type Site struct {
	ID       string         `bson:"_id"`
	Name     string         `bson:"name"`
	Parent   *string        `bson:"parent"` // tree
	Order    string         `bson:"order"`  // tree
	Change   int64          `bson:"change"` // tree
	At       geofield.Point `bson:"at"`     // place
	Geo      int64          `bson:"geo"`    // place
	Contacts []Contact      `bson:"contacts,omitempty"`
	Tasks    []string       `bson:"tasks,omitempty"` // work
	Open     int64          `bson:"open"`            // open
}

// A Contact is a person, identified by mail address.
type Contact struct {
	Mail string `bson:"mail"`
	Name string `bson:"name"`
}

// A Task is work at a site.
type Task struct {
	ID    string  `bson:"_id"`
	Title string  `bson:"title"`
	Done  bool    `bson:"done"`
	Site  SiteRef `bson:"site"`
}

// A SiteRef is the copy of a site in its tasks.
type SiteRef struct {
	ID   string `bson:"id"`
	Name string `bson:"name"` // names
}

var (
	sites = model.NewCollection[Site, string]("sites")
	tasks = model.NewCollection[Task, string]("tasks")

	tree     = paths.NewParentTree(sites, paths.TreeSpec{})
	place    = geofield.NewField(sites, "at", "geo", geofield.FieldSpec{Suffix: []string{"open"}})
	contacts = embed.NewEmbedded[Contact](sites, "contacts", embed.EmbeddedSpec{Key: "mail", Max: 20})
	work     = twosided.NewTwoWay(sites, "tasks", tasks, "site.id", twosided.TwoWaySpec{})
	open     = counter.New(tasks, "site.id", sites, counter.Spec{Count: "open", Where: bson.D{{Key: "done", Value: false}}})
	names    = copies.New(sites, tasks, copies.Spec{KeyPath: "site.id", Fields: []copies.Field{{From: "name", To: "site.name"}}})

	everything = model.New("facilities", model.Entity(sites), model.Entity(tasks), tree, place, contacts, work, open, names)
	siteStore  = model.NewStore(everything, sites)
	taskStore  = model.NewStore(everything, tasks)
)
