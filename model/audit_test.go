package model_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Songs of singers: several techniques over two collections.
type (
	singer struct {
		ID      string `bson:"_id"`
		Name    string `bson:"name"`
		Songs   int64  `bson:"songs"`
		Version int64  `bson:"version"`
	}
	song struct {
		ID     int64    `bson:"_id"`
		Singer string   `bson:"singer,omitempty"`
		Name   string   `bson:"singerName,omitempty"`
		Tags   []string `bson:"tags,omitempty"`
	}
)

var (
	singers   = model.NewCollection[singer, string]("singers")
	songs     = model.NewCollection[song, int64]("songs")
	sungBy    = parentref.New(songs, "singer", singers, parentref.Spec{})
	songCount = counter.New(songs, "singer", singers, counter.Spec{Count: "songs"})
	songNames = copies.New(singers, songs, copies.Spec{
		KeyPath: "singer",
		Fields:  []copies.Field{{From: "name", To: "singerName"}},
	})
	lastTags  = bounded.New(songs, "tags", bounded.Spec{Max: 2})
	unsung    = dangling.New(songs, "singer", singers, dangling.Spec{Repair: dangling.DetachIDs})
	revisions = embed.NewVersioned(singers, embed.VersionedSpec{Uncounted: []string{"songs", "name"}})

	choir = model.New("choir", sungBy, unsung, songCount, songNames, lastTags, revisions)
)

// damaged stores so many songs, of two singers. Each rule is broken somewhere.
func damaged(ctx context.Context, db *mongo.Database, n int) error {
	list := make([]any, n)
	for i := range list {
		s := bson.D{
			{Key: "_id", Value: int64(i)},
			{Key: "singer", Value: []string{"ann", "bob"}[i%2]},
			{Key: "singerName", Value: []string{"Ann", "Bob"}[i%2]},
		}
		switch {
		case i%10 == 3:
			s[2].Value = "Robert"
		case i%10 == 4:
			s = append(s, bson.E{Key: "tags", Value: bson.A{"a", "b", "c"}})
		case i%10 == 5:
			s[1].Value = "nobody"
			s = s[:2]
		}
		list[i] = s
	}
	_, errSongs := db.Collection("songs").InsertMany(ctx, list)
	_, errSingers := db.Collection("singers").InsertMany(ctx, []any{
		bson.D{
			{Key: "_id", Value: "ann"}, {Key: "name", Value: "Ann"}, {Key: "songs", Value: int64(7)},
			{Key: "version", Value: "two"},
		},
		bson.D{
			{Key: "_id", Value: "bob"}, {Key: "name", Value: "Bob"}, {Key: "songs", Value: int64(7)},
			{Key: "version", Value: int64(1)},
		},
	})
	return errors.Join(errSongs, errSingers)
}

// atOnce is the audit of a model, for which a finding is old enough at once.
func atOnce(m *model.Model) model.Audit {
	a := m.Audit()
	for i := range a.Checks {
		a.Checks[i].Age = 0
	}
	return a
}

// foundBy counts findings by technique.
func foundBy(t *testing.T, db *mongo.Database, a model.Audit) string {
	t.Helper()
	counts := map[string]int{}
	for f, err := range a.Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		counts[f.Technique]++
	}
	return fmt.Sprint(counts)
}

// Every check of every technique finds, and one job mends.
func TestAudit(t *testing.T) {
	const all = "map[bounded.Bounded:4 copies.Copy:8 counter.Counter:6 dangling.Dangling:4 embed.Versioned:1]"
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		audit := atOnce(choir)
		if got := foundBy(t, db, audit); got != all {
			t.Errorf("found %s", got)
		}
		var left *model.LeftError // copies and numbers of nobody, who is detached first when it isn't a dry run
		dry, err := audit.Job().Run(t.Context(), db, model.JobOptions{DryRun: true})
		if !errors.As(err, &left) || left.Left != 8 || dry.Writes != 15 || dry.Modified != 0 {
			t.Errorf("a dry run: %+v, %v", dry, err)
		}
		got, err := audit.Job().Run(t.Context(), db, model.JobOptions{})
		if err != nil || got.Modified != 15 || got.Stage != len(audit.Checks)-1 {
			t.Errorf("%+v, %v", got, err)
		}
		if got := foundBy(t, db, audit); got != "map[]" {
			t.Errorf("found again: %s", got)
		}
	})
}

// A job that was cut anywhere goes on where it was.
func TestAuditCut(t *testing.T) {
	stop := errors.New("enough")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		var stages []int
		var modified int64
		for n := 0; ; n++ {
			last := model.Progress{}
			got, err := atOnce(choir).Job().
				Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", BatchSize: 15, Progress: func(p model.Progress) error {
					last = p
					return stop
				}})
			modified += got.Modified
			if err != nil && err != stop || n > 50 {
				t.Fatal(n, err)
			}
			if stages = append(stages, last.Stage); err == nil || last.Done {
				break
			}
		}
		if len(stages) < 10 || !slices.IsSorted(stages) || modified != 15 {
			t.Errorf("stopped in the stages %v, %d writes", stages, modified)
		}
		if got := foundBy(t, db, atOnce(choir)); got != "map[]" {
			t.Errorf("found again: %s", got)
		}
	})
}

// What no write can mend is left, and named. The rest is mended.
func TestAuditLeaves(t *testing.T) {
	told := model.New("told", dangling.New(songs, "singer", singers, dangling.Spec{}), lastTags)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 20); err != nil {
			t.Fatal(err)
		}
		_, err := atOnce(told).Job().Run(t.Context(), db, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 2 || left.Findings[0].Technique != "dangling.Dangling" ||
			!strings.Contains(err.Error(), "audit: told") {
			t.Fatalf("%v", err)
		}
		if got := foundBy(t, db, atOnce(told)); got != "map[dangling.Dangling:2]" {
			t.Errorf("then found %s", got)
		}
	})
}

// Progress is told of each check, in order, and ends the audit by an error.
func TestAuditProgress(t *testing.T) {
	stop := errors.New("enough")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		var told []model.Progress
		audit := atOnce(choir)
		audit.Progress = func(p model.Progress) error {
			told = append(told, p)
			return nil
		}
		foundBy(t, db, audit)
		last := told[len(told)-1]
		if len(told) != len(audit.Checks)+1 || told[1].Stage != 1 || told[1].Done || !last.Done || last.Left != 23 {
			t.Errorf("told %+v", told)
		}
		audit.Progress = func(p model.Progress) error {
			if p.Stage == 1 {
				return stop
			}
			return nil
		}
		var errs []error
		for _, err := range audit.Each(t.Context(), db) {
			if err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) != 1 || errs[0] != stop {
			t.Errorf("stopped by %v", errs)
		}
		for range audit.Each(t.Context(), db) {
			break // the caller may stop, too
		}
	})
}

// wordy is a technique whose check finds every song, in a kilobyte of words for each.
type wordy struct{ model.Parts }

func newWordy() wordy {
	check := model.Check{
		Name: "songs: words", Collection: "songs", Rule: "there is no song",
		Pipeline: mongo.Pipeline{{{
			Key:   "$project",
			Value: bson.D{{Key: "words", Value: bson.D{{Key: "$literal", Value: strings.Repeat("la", 512)}}}},
		}}},
		Tell: func(f *model.Finding) error {
			f.ID, f.Problem = f.Detail.Lookup("_id"), "is sung"
			return nil
		},
	}
	return wordy{model.NewParts(nil, nil, func() []model.Check { return []model.Check{check} }, nil)}
}

// auditedBytes are the most bytes in use while an audit of n songs goes on, beyond those before it.
func auditedBytes(t testing.TB, n int) (findings int, most uint64) {
	client, stop := mongotest.Start()
	defer stop()
	db := client.Database("audit")
	for from := 0; from < n; from += 10_000 {
		list := make([]any, 0, 10_000)
		for i := from; i < min(from+10_000, n); i++ {
			list = append(list, song{ID: int64(i)})
		}
		if _, err := db.Collection("songs").InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	for _, err := range model.New("words", newWordy()).Audit().Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		if findings++; findings%(n/10) == 0 {
			if now := inUse(); now > before {
				most = max(most, now-before)
			}
		}
	}
	return findings, most
}

// An audit keeps none of its findings: 100 MB of them are passed on in the memory of a few replies of the server.
func TestAuditMemory(t *testing.T) {
	testkit.Alone(t)
	findings, most := auditedBytes(t, 100_000)
	t.Logf("%d findings: %d MiB", findings, most>>20)
	if findings != 100_000 || most > 80<<20 {
		t.Errorf("%d findings hold %d MiB", findings, most>>20)
	}
}

func BenchmarkAudit(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				begun := time.Now()
				_, most := auditedBytes(b, n)
				b.ReportMetric(float64(most>>10), "KiB-kept")
				b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "documents/s")
			}
		})
	}
}
