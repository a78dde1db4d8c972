package rollup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a roll-up and a rebuild read, and what callers read, is served by indexes.
func TestRollupReadsIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		var events, bins []any
		for i := range 3000 {
			at := night.AddDate(-1, 0, 0).Add(time.Duration(i) * time.Hour)
			events = append(events, bson.D{
				testkit.E("_id", fmt.Sprintf("old%04d", i)), testkit.E("site", "z"), testkit.E("at", at),
			})
			bins = append(bins, bson.D{
				testkit.E("_id", fmt.Sprint("z#hour#", i)), testkit.E("group", "z"), testkit.E("unit", "hour"),
				testkit.E("start", at), testkit.E("n", int64(1)),
			})
		}
		testkit.Seed(t, db, testkit.Docs{"hits": events, "totals": bins})
		if err := errors.Join(testkit.CreateIndexes(ctx, db, rolled),
			insertHits(ctx, db, rolled, five...)); err != nil {
			t.Fatal(err)
		}
		before := len(m.Commands())
		if err := errors.Join(rolledUp(ctx, db), rebuilt(ctx, db)); err != nil {
			t.Fatal(err)
		}
		sent := m.Commands()[before:]
		from := night.Add(-30 * time.Minute)
		modeltest.WantIndexed(t, db, rolled.Bins("a", denorm.Hourly, from, from.Add(24*time.Hour)), model.IDIndex)
		modeltest.WantIndexed(t, db, rolled.Total("a", from, from.Add(3*time.Hour)), model.IDIndex)
		// several ranges in one $or; DocumentDB may read a small collection whole
		if strings.HasSuffix(t.Name(), "/engine") {
			modeltest.WantIndexed(t, db, rolled.Total("a", from, from.Add(48*time.Hour)), model.IDIndex)
		}
		reads := map[string]int{}
		for _, x := range sent {
			if x.Name != "find" && x.Name != "aggregate" {
				continue
			}
			command := testkit.AsSent(t, x)
			raw, err := bson.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			index := model.IDIndex
			switch filter := bson.Raw(raw).Lookup("filter"); {
			case x.Name == "aggregate", hasField(filter, "unit"):
				index = "unit_1_start_1"
			case hasField(filter, "at"):
				index = "at_1"
			case hasField(filter, "mark.batch") && !hasField(filter, "_id"):
				index = "mark.batch_1__id_1"
			}
			if reads[index]++; reads[index] < 4 {
				modeltest.WantIndexed(t, db, command, index)
			}
		}
		if len(reads) != 4 {
			t.Errorf("the reads are served by %v", reads)
		}
	}, m)
}

func hasField(filter bson.RawValue, field string) bool {
	doc, ok := filter.DocumentOK()
	if !ok {
		return false
	}
	_, err := doc.LookupErr(field)
	return err == nil
}

// A full batch takes the commands that the comment of Roll promises: no reply has a second part.
func TestRollFullBatch(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []hit
		for i := range 500 {
			list = append(list, hit{
				ID: fmt.Sprintf("h%03d", i), Site: "a", At: night.Add(time.Duration(i) * time.Second),
			})
		}
		if err := errors.Join(testkit.CreateIndexes(t.Context(), db, rolled),
			insertHits(t.Context(), db, rolled, list...)); err != nil {
			t.Fatal(err)
		}
		before := len(m.Commands())
		if err := rolledUp(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		sent := map[string]int{}
		for _, c := range m.Commands()[before:] {
			sent[c.Name]++
		}
		if sent["getMore"] != 0 {
			t.Errorf("a batch of 500 events sent %v", sent)
		}
		t.Log(sent)
	}, m)
}
