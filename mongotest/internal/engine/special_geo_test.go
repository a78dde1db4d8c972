// These tests hold filters and stages that look for places, and their indexes.

package engine_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// inOrder returns the _id of each document that a filter finds, in order, or the code of the error.
func inOrder(t testing.TB, c *mongo.Collection, filter string, opts *options.FindOptionsBuilder) string {
	t.Helper()
	return readFound(t)(c.Find(ctx, doc(t, filter), opts))
}

func readFound(t testing.TB) func(*mongo.Cursor, error) string {
	return func(cur *mongo.Cursor, err error) string {
		t.Helper()
		var list []struct {
			ID any `bson:"_id"`
		}
		if err == nil {
			err = cur.All(ctx, &list)
		}
		if err != nil {
			code := 0
			if x, ok := err.(mongo.ServerError); ok {
				code = x.ErrorCodes()[0]
			}
			return fmt.Sprintf("error %d: %v", code, err)
		}
		out := ""
		for _, d := range list {
			out += fmt.Sprint(d.ID, " ")
		}
		return out
	}
}

// places are New York's, as in tutorial/geospatial-tutorial; 4 and 5 are a line and a polygon, 6 has two places.
func places(t testing.TB) *mongo.Collection {
	c := collection(t)
	addIndex(t, c, `{"at":"2dsphere"}`, nil)
	insert(t, c, `{"_id":1,"kind":"park","at":{"type":"Point","coordinates":[-73.97,40.77]}}`,
		`{"_id":2,"kind":"park","at":{"type":"Point","coordinates":[-73.9928,40.7193]}}`,
		`{"_id":3,"kind":"field","at":[-73.9375,40.8303]}`,
		`{"_id":4,"kind":"road","at":{"type":"LineString","coordinates":[[-74.2,40.7],[-74.1,40.7]]}}`,
		`{"_id":5,"kind":"lake","at":{"type":"Polygon","coordinates":[[[-73,40],[-72,40],[-72,41],[-73,41],[-73,`+
			`40]]]}}`,
		`{"_id":6,"kind":"shop","at":{"type":"MultiPoint","coordinates":[[-73.9667,40.78],[10,10]]}}`,
		`{"_id":7,"kind":"none"}`, `{"_id":8,"kind":"none","at":null}`, `{"_id":9,"kind":"none","at":[]}`)
	return c
}

func TestNear(t *testing.T) {
	c := places(t)
	for _, x := range [][3]string{
		{
			"all, by distance",
			`{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-73.9667,40.78]}}}}`,
			"6 1 3 2 4 5 ",
		},
		{
			"the manual's example",
			`{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-73.9667,40.78]},"$minDistance":1000,` +
				`"$maxDistance":5000}}}`,
			"1 ",
		},
		{
			"$nearSphere",
			`{"at":{"$nearSphere":{"$geometry":{"type":"Point","coordinates":[-73.9667,40.78]},"$maxDistance":7000}}}`,
			"6 1 3 ",
		},
		{
			"a point without $geometry",
			`{"at":{"$near":{"type":"Point","coordinates":[-73.9667,40.78]},"$maxDistance":5000}}`,
			"6 1 ",
		},
		{
			"a pair, with radians",
			`{"at":{"$nearSphere":[-73.9667,40.78],"$minDistance":0.0001,"$maxDistance":0.0011}}`,
			"1 3 ",
		},
		{
			"inside of a polygon",
			`{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-72.5,40.5]},"$maxDistance":0}}}`,
			"5 ",
		},
		{
			"beside a line",
			`{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-74.15,40.71]},"$maxDistance":1200}}}`,
			"4 ",
		},
		{
			"with other conditions",
			`{"kind":"park","at":{"$near":{"$geometry":{"type":"Point","coordinates":[-73.9375,40.8303]}}}}`,
			"1 2 ",
		},
		{
			"in an $and",
			`{"$and":[{"kind":"park"},{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-73.9375,` +
				`40.8303]}}}}]}`,
			"1 2 ",
		},
	} {
		wantSame(t, x[0], inOrder(t, c, x[1], nil), x[2])
	}
	near := `{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[-73.9667,40.78]}}}}`
	wantSame(t, "skip and limit", inOrder(t, c, near, options.Find().SetSkip(1).SetLimit(2)), "1 3 ")
	wantSame(t, "another order", inOrder(t, c, near, options.Find().SetSort(doc(t, `{"_id":-1}`))), "6 5 4 3 2 1 ")
	var taken bson.D
	must(t, c.FindOneAndUpdate(ctx, doc(t, near), doc(t, `{"$set":{"nearest":true}}`)).Decode(&taken))
	wantSame(t, "the nearest is changed", taken[0].Value, int32(6))
	wantSame(t, "counted", must1[int64](t)(countOf(c, doc(t, near))), int64(6))
}

// countOf counts by the count command, as CountDocuments runs a pipeline.
func countOf(c *mongo.Collection, filter bson.D) (int64, error) {
	var got struct{ N int64 }
	err := c.Database().
		RunCommand(ctx, bson.D{{Key: "count", Value: c.Name()}, {Key: "query", Value: filter}}).Decode(&got)
	return got.N, err
}

func TestNearRefuses(t *testing.T) {
	c := places(t)
	point := `{"$geometry":{"type":"Point","coordinates":[-73.9667,40.78]}}`
	for _, x := range []struct {
		reason, filter string
		code           int
	}{
		{"no index", `{"kind":{"$near":` + point + `}}`, 291},
		{"the plane, by a 2dsphere index", `{"at":{"$near":[1,2]}}`, 291},
		{"in an $or", `{"$or":[{"at":{"$near":` + point + `}},{"kind":"park"}]}`, 2},
		{"in a $nor", `{"$nor":[{"at":{"$near":` + point + `}}]}`, 2},
		{"in an $elemMatch", `{"at":{"$elemMatch":{"x":{"$near":` + point + `}}}}`, 2},
		{"twice", `{"$and":[{"at":{"$near":` + point + `}},{"at":{"$near":` + point + `}}]}`, 2},
		{"not first", `{"at":{"$exists":true,"$near":` + point + `}}`, 2},
		{"with something beside it", `{"at":{"$near":[1,2],"$exists":true}}`, 34413},
		{"with something beside $geometry", `{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[1,2]},"x":1}}}`,
			2},
		{"no point", `{"at":{"$near":{"$geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}}}`, 2},
		{"a pair in $geometry", `{"at":{"$near":{"$geometry":[1,2]}}}`, 2},
		{"no number", `{"at":{"$near":"x"}}`, 2},
		{"a negative distance", `{"at":{"$nearSphere":[1,2],"$maxDistance":-1}}`, 16896},
		{"a distance that is no number", `{"at":{"$nearSphere":[1,2],"$minDistance":"x"}}`, 16893},
		{"a pair off the sphere", `{"at":{"$nearSphere":[181,2]}}`, 2},
		{"alone", `{"at":{"$maxDistance":1}}`, 2},
	} {
		_, err := c.Find(ctx, doc(t, x.filter))
		wantCode(t, x.reason, err, x.code)
	}
	near := `{"at":{"$near":` + point + `}}`
	_, err := c.Aggregate(ctx, stagesFrom(t, `{"$match":`+near+`}`))
	wantCode(t, "in a pipeline", err, 5626500)
	_, err = c.Find(ctx, doc(t, near), options.Find().SetSort(doc(t, `{"$natural":1}`)))
	wantCode(t, "in natural order", err, 2)
	wantSame(t, "where no collection is", inOrder(t, c.Database().Collection("nowhere"), near, nil), "")
}

func TestGeoNear(t *testing.T) {
	c := places(t)
	run := func(stages ...string) string {
		var list []bson.D
		cur, err := c.Aggregate(ctx, stagesFrom(t, stages...))
		if err != nil {
			return readFound(t)(cur, err)
		}
		must(t, cur.All(ctx, &list))
		out := ""
		for _, d := range list {
			out += show(t, d) + " "
		}
		return out
	}
	at := `"near":{"type":"Point","coordinates":[-73.9667,40.78]},"distanceField":"how.far"`
	brief := `{"$project":{"how":1,"km":{"$round":["$how.far",0]}}}`
	wantSame(t, "within five kilometers",
		run(`{"$geoNear":{`+at+`,"maxDistance":5000,"query":{"kind":"park"},"includeLocs":"how.at","spherical":true}}`,
			`{"$set":{"how.far":{"$round":["$how.far",0]}}}`, `{"$project":{"how":1}}`),
		`{"_id":1,"how":{"far":1147.0,"at":{"type":"Point","coordinates":[-73.97,40.77]}}} `)
	wantSame(t, "in kilometers",
		run(`{"$geoNear":{`+at+`,"minDistance":5000,"distanceMultiplier":0.001,"maxDistance":8000}}`,
			brief, `{"$unset":"how"}`),
		`{"_id":3,"km":6.0} {"_id":2,"km":7.0} `)
	wantSame(t, "with the key", run(`{"$geoNear":{`+at+`,"key":"at"}}`, `{"$limit":1}`, `{"$unset":["at"]}`),
		`{"_id":6,"kind":"shop","how":{"far":0.0}} `)
	for _, x := range []struct {
		reason string
		stages []string
		code   int
	}{
		{"not first", []string{`{"$match":{}}`, `{"$geoNear":{` + at + `}}`}, 40602},
		{"in a facet", []string{`{"$facet":{"x":[{"$geoNear":{` + at + `}}]}}`}, 40600},
		{"no point", []string{`{"$geoNear":{"distanceField":"d"}}`}, 5860400},
		{"no field", []string{`{"$geoNear":{"near":[1,2]}}`}, 16606},
		{"a limit", []string{`{"$geoNear":{` + at + `,"limit":1}}`}, 50858},
		{"an empty key", []string{`{"$geoNear":{` + at + `,"key":""}}`}, 2},
		{"a key without an index", []string{`{"$geoNear":{` + at + `,"key":"kind"}}`}, 291},
		{"$near in the query", []string{`{"$geoNear":{` + at + `,"query":{"at":{"$near":[1,2]}}}}`}, 2},
		{"an unknown option", []string{`{"$geoNear":{` + at + `,"x":1}}`}, 2},
	} {
		_, err := c.Aggregate(ctx, stagesFrom(t, x.stages...))
		wantCode(t, x.reason, err, x.code)
	}
	addIndex(t, c, `{"other":"2dsphere"}`, nil)
	_, err := c.Aggregate(ctx, stagesFrom(t, `{"$geoNear":{`+at+`}}`))
	wantCode(t, "two indexes", err, 27)
	_, err = c.Database().Collection("nowhere").Aggregate(ctx, stagesFrom(t, `{"$geoNear":{`+at+`}}`))
	wantCode(t, "no collection", err, 26)
}

func TestPlaneIndex(t *testing.T) {
	c := collection(t)
	addIndex(t, c, `{"at":"2d","kind":1}`, options.Index().SetMin(-500).SetMax(500).SetBits(20))
	insert(t, c, `{"_id":1,"at":[1,2]}`, `{"_id":2,"at":{"x":300,"y":-300}}`, `{"_id":3,"at":[[4,6],[100,100]]}`,
		`{"_id":4}`, `{"_id":5,"at":"x"}`)
	var list []bson.D
	must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &list))
	wantSame(t, "listed", show(t, list[1]),
		`{"v":2,"key":{"at":"2d","kind":1},"name":"at_2d_kind_1","bits":20,"min":-500.0,"max":500.0}`)
	for _, x := range [][3]string{
		{"near, in the plane", `{"at":{"$near":[1,3]}}`, "1 3 2 "},
		{"with a greatest distance", `{"at":{"$near":[1,2,5]}}`, "1 3 "},
		{"the same", `{"at":{"$near":[1,2],"$minDistance":5,"$maxDistance":5}}`, "3 "},
		{"on the sphere", `{"at":{"$nearSphere":[4,6],"$maxDistance":0.1}}`, "3 1 "},
		{"within a circle", `{"at":{"$geoWithin":{"$center":[[0,0],3]}}}`, "1 "},
		{"within a polygon", `{"at":{"$geoWithin":{"$polygon":[[0,0],[0,10],[10,10]]}}}`, "1 3 "},
	} {
		wantSame(t, x[0], inOrder(t, c, x[1], nil), x[2])
	}
	wantPlan(t, c, "within a box", `{"find":"things","filter":{"at":{"$geoWithin":{"$box":[[300,-300],[301,-299]]}}}}`,
		`FETCH < IXSCAN at_2d_kind_1 at[[-1, -1] [209715, 209716] [210739, 210740]]: 1 of 1 keys, 1 docs`)
	for _, x := range []struct {
		reason, d string
		code      int
	}{
		{"beyond the range", `{"at":[501,1]}`, 13027}, {"one number", `{"at":[1]}`, 13068},
		{"GeoJSON", `{"at":{"type":"Point","coordinates":[1,2]}}`, 16804},
		{"no numbers", `{"at":[["x","y"]]}`, 13026},
	} {
		_, err := c.InsertOne(ctx, doc(t, x.d))
		wantCode(t, x.reason, err, x.code)
	}
	_, err := c.Find(ctx, doc(t, `{"at":{"$nearSphere":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}`))
	wantCode(t, "GeoJSON near", err, 291)
}

func TestSphereIndexRefuses(t *testing.T) {
	c := places(t)
	for _, d := range []string{
		`{"at":"x"}`, `{"at":1}`, `{"at":{"type":"Point","coordinates":[]}}`,
		`{"at":{"type":"Point","coordinates":[200,1]}}`,

		`{"at":[[1,2],[3,4]]}`, `{"at":{}}`,
		`{"at":{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}}`,
	} {
		_, err := c.InsertOne(ctx, doc(t, d))
		wantCode(t, d, err, 16755)
	}
	_, err := c.InsertOne(ctx, doc(t, `{"at":[200,1]}`))
	wantCode(t, "a pair off the sphere", err, 16756)
	_, err = c.UpdateOne(ctx, doc(t, `{"_id":1}`), doc(t, `{"$set":{"at":"x"}}`))
	wantCode(t, "an update", err, 16755)
	insert(t, c, `{"_id":20,"bad":"x"}`)
	_, err = c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc(t, `{"bad":"2dsphere"}`)})
	wantCode(t, "an index over what is there", err, 16755)
	for _, x := range []struct {
		reason, keys string
		opts         *options.IndexOptionsBuilder
		code         int
	}{
		{"an unknown version", `{"a":"2dsphere"}`, options.Index().SetSphereVersion(9), 67},
		{"2d behind another field", `{"a":1,"b":"2d"}`, nil, 16801},
		{"no bits", `{"a":"2d"}`, options.Index().SetBits(0), 72},
		{"no range", `{"a":"2d"}`, options.Index().SetMin(1).SetMax(1), 72},
		{"bits of another kind", `{"a":1}`, options.Index().SetBits(20), 238},
	} {
		_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc(t, x.keys), Options: x.opts})
		wantCode(t, x.reason, err, x.code)
	}
}
