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

// ErrNoAirport is an error for errors.Is.
var ErrNoAirport = errors.New("places: there is no such airport")

// Airports is the repository.
type Airports struct{ db *mongo.Database }

// A Found is an airport with its distance in metres from the circle's center or the start
// of the search. The distance is 0 for a box.
type Found = geofield.Place[Airport]

// Prepare creates missing indexes.
func (a Airports) Prepare(ctx context.Context) error { return everything.Indexes().Ensure(ctx, a.db) }

// Import stores airports with their keys. It can be run again.
func (a Airports) Import(ctx context.Context, list []Airport) error {
	_, _, err := airportStore.InsertMany(list...).Run(ctx, a.db)
	return err
}

// Get returns an airport by its code.
func (a Airports) Get(ctx context.Context, code string) (Airport, error) {
	found, err := airports.ByID(code).One(ctx, a.db)
	return found, said(err, model.ErrNotFound)
}

// Correct changes an airport's point and key in one write.
func (a Airports) Correct(ctx context.Context, code string, at geohash.Point) error {
	_, _, err := airportStore.Set(code, bson.D{{Key: "at", Value: geofield.Point(at)}}).Run(ctx, a.db)
	return said(err, model.ErrNotFound)
}

// In returns the airports in a geohash.Circle or geohash.Box, unsorted. Cost: one
// command, over the index ranges that cover the area.
func (a Airports) In(ctx context.Context, area geofield.Area) ([]Found, error) {
	return in(area).All(ctx, a.db)
}

func in(area geofield.Area) geofield.Within[Airport] { return place.Within(area) }

// InCountry is In for one country.
func (a Airports) InCountry(ctx context.Context, country string, area geofield.Area) ([]Found, error) {
	return place.Within(area, bson.D{{Key: "country", Value: country}}).All(ctx, a.db)
}

// Nearest yields the k airports nearest to an airport, itself first. Cost: one command
// for each ring, until there are enough.
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

// Mend sets the keys of airports that other programs stored, and returns their number.
func (a Airports) Mend(ctx context.Context) (int, error) {
	progress, err := place.Checks()[0].Job().Run(ctx, a.db, model.JobOptions{})
	return int(progress.Modified), err
}

// said wraps a technique's error in the airports' error.
func said(err, technique error) error {
	if errors.Is(err, technique) {
		return fmt.Errorf("%w: %w", ErrNoAirport, err)
	}
	return err
}
