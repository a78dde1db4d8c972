package geofield

import (
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Cluster is the number of documents in a cell: see [Field.Clusters].
type Cluster struct {
	Cell  geohash.Cell
	Count int64
}

// UnmarshalBSON implements [bson.Unmarshaler] for results of [Field.Clusters].
func (c *Cluster) UnmarshalBSON(data []byte) error {
	var stored struct {
		Key   bson.RawValue `bson:"key"`
		Bits  int           `bson:"bits"`
		Count int64         `bson:"count"`
	}
	if err := bson.Unmarshal(data, &stored); err != nil {
		return err
	}
	c.Count = stored.Count
	if text, ok := stored.Key.StringValueOK(); ok {
		cell, err := geohash.Parse(text)
		c.Cell = cell
		return err
	}
	c.Cell = geohash.Key(stored.Key.AsInt64()).Cell(stored.Bits)
	return nil
}

// Clusters returns the pipeline that counts an area's documents by cell
// ([geohash.Key.Cell]). bits must be 1 to 60, and for text keys a multiple of 5. Each
// zoom level of a map needs two more bits. For filters, see [Field.Within]. The counts
// include some documents around the area.
//
// Cost: one command, served by [Field].Indexes. For document reads, see [Field.Keys].
func (f *Field[D, K]) Clusters(area Area, bits int, filters ...bson.D) *model.Aggregate[Cluster] {
	pipeline, err := f.f.clusters(area, bits, filters)
	a := model.AggregateAs[Cluster](f.owners, pipeline)
	a.Index = f.f.index()
	if a.Err == nil {
		a.Err = err
	}
	return a
}

func (f *field) clusters(area Area, bits int, where []bson.D) (mongo.Pipeline, error) {
	if bits < 1 || bits > geohash.MaxBits {
		return nil, f.Refuse("bits", bits, "must be 1 to 60")
	}
	if f.text && bits%5 != 0 {
		return nil, f.Refuse("bits", bits, "must be a multiple of 5, because the keys are texts")
	}
	filter, err := f.within(area, false, where)
	if err != nil {
		return nil, err
	}
	within := bson.D{{
		Key:   "$mod",
		Value: bson.A{bson.D{{Key: "$toDecimal", Value: "$" + f.key}}, int64(1) << (geohash.MaxBits - bits)},
	}}
	// DocumentDB has no exact $mod of int64s
	cell := bson.D{{Key: "$subtract", Value: bson.A{"$" + f.key, bson.D{{Key: "$toLong", Value: within}}}}}
	if f.text {
		cell = bson.D{{Key: "$substrBytes", Value: bson.A{"$" + f.key, 0, bits / 5}}}
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: cell}, {Key: "count", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "key", Value: "$_id"}, {Key: "bits", Value: bson.D{{Key: "$literal", Value: bits}}},
			{Key: "count", Value: 1},
		}}},
	}, nil
}
