package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ErrNoAirport is what a caller may ask for by errors.Is.
var ErrNoAirport = errors.New("places: there is no such airport")

// Airports is what the rest of a program sees.
type Airports struct{ db *mongo.Database }

// A Found is an airport, and how many metres it is away from the center of the circle, or from where the search began; 0 of a box.
type Found = geofield.Place[Airport]

// Prepare makes the indexes that are missing.
func (a Airports) Prepare(ctx context.Context) error { return everything.Indexes().Ensure(ctx, a.db) }

// Import stores airports, each with the key of its place. It can be run again.
func (a Airports) Import(ctx context.Context, list []Airport) error {
	_, err := place.InsertMany(list).Run(ctx, a.db)
	return err
}

// Get returns an airport by its code.
func (a Airports) Get(ctx context.Context, code string) (Airport, error) {
	found, err := airports.ByID(code).One(ctx, a.db)
	return found, said(err, model.ErrNotFound)
}

// Correct says where an airport really is: point and key in one write.
func (a Airports) Correct(ctx context.Context, code string, at geohash.Point) error {
	_, err := place.Set(code, at).Run(ctx, a.db)
	return said(err, model.ErrNotFound)
}

// In returns the airports in an area, a geohash.Circle or a geohash.Box, in no order: one command, of as many ranges of the
// index as the area is covered by.
func (a Airports) In(ctx context.Context, area geofield.Area) ([]Found, error) {
	return in(area).All(ctx, a.db)
}

func in(area geofield.Area) geofield.Within[Airport] { return place.Within(area) }

// InCountry is the same of one country.
func (a Airports) InCountry(ctx context.Context, country string, area geofield.Area) ([]Found, error) {
	return place.Within(area, bson.D{{Key: "country", Value: country}}).All(ctx, a.db)
}

// Nearest yields the k airports that are nearest to one, itself first: one command for each ring that is searched around it,
// until there are enough.
func (a Airports) Nearest(ctx context.Context, k int, code string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		from, err := a.Get(ctx, code)
		if err != nil {
			yield(Found{}, err)
			return
		}
		for found, err := range nearest(k, geohash.Point(from.At)).Each(ctx, a.db) {
			if !yield(found, err) {
				return
			}
		}
	}
}

func nearest(k int, from geohash.Point) geofield.Nearest[Airport] {
	return place.Nearest(from, geofield.NearestSpec{Start: 500e3}, geofield.Mark{}, int64(k))
}

// Mend gives airports that were stored by other means the keys of their places, and returns how many there were.
func (a Airports) Mend(ctx context.Context) (int, error) {
	progress, err := place.Checks()[0].Job().Run(ctx, a.db, model.JobOptions{})
	return int(progress.Modified), err
}

// said is an error in the words of the airports, around what a technique said.
func said(err, technique error) error {
	if errors.Is(err, technique) {
		return fmt.Errorf("%w: %w", ErrNoAirport, err)
	}
	return err
}
