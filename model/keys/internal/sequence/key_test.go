package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What the tests are about: mailboxes.
type seqMail struct {
	ID   string `bson:"_id"`
	Text string `bson:"text,omitempty"`
}

// seqMost is the greatest number of 18 digits.
const seqMost = 999_999_999_999_999_999

type seqCounter = keys.SequenceCounter[string]

var (
	seqMails    = model.NewCollection[seqMail, string]("mail")
	seqCounters = model.NewCollection[seqCounter, string]("counters")
	seqNumbers  = model.NewCollection[keys.SequenceCounter[int64], int64]("counters")
	seqDays     = model.NewCollection[keys.DayBucket, string]("days")
	seqPlain    = keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{})
	seqShort    = keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: 1})
	seqDaily    = keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: 4, Days: seqDays})
	seqByNumber = keys.NewSequence(seqMails, seqNumbers, keys.SequenceSpec{Digits: 3})
)

// seqHostile are owners whose keys must neither meet nor lie among each other's.
var seqHostile = []string{
	"a", "a_", "a_1", "a_000000000000000001", "_", "__", "%", "%5F", "%255F", "a%5F", "a`", "a^", "$where", "a.b",
	"^.*",
	"|", "é", "NUL\x00", "a\n", "\U0001f9e9",
}

// seqInsert inserts a document under an owner's number, by a store.
func seqInsert[K any](s *keys.Sequence[seqMail, K], owner K, n int64, m seqMail) func(context.Context, model.DB) error {
	key, err := s.Key(owner, n)
	m.ID = key
	insert := model.NewStore(model.New("mail", s), seqMails).Insert(m)
	return func(ctx context.Context, db model.DB) error {
		if err != nil {
			return err
		}
		_, _, err := insert.Run(ctx, db)
		return err
	}
}

func seqStore(t testing.TB, db *mongo.Database, s *keys.Sequence[seqMail, string], owner string, ns ...int64) {
	t.Helper()
	for _, n := range ns {
		if err := seqInsert(s, owner, n, seqMail{Text: fmt.Sprint(owner, " ", n)})(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

// seqAppended is the plan of an append under a number that is known to be the next.
func seqAppended(t testing.TB, s *keys.Sequence[seqMail, string], owner string, n int64, m seqMail) model.Plan {
	t.Helper()
	p, err := s.Append(owner, m).Decide(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// seqGot are the numbers of what a query returns, all of one owner.
func seqGot(
	t testing.TB, db *mongo.Database, s *keys.Sequence[seqMail, string], owner string, f *model.Find[seqMail],
) (ns []int64) {
	t.Helper()
	list, err := f.All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		of, n, err := s.Parse(m.ID)
		if err != nil || of != owner {
			t.Errorf("%q of %q among those of %q: %v", m.ID, of, owner, err)
		}
		ns = append(ns, n)
	}
	return ns
}

// Keys sort as owner and number do, and give both back.
func TestSequenceKeys(t *testing.T) {
	t.Parallel()
	ns := []int64{0, 1, 9, 10, 11, 99, 100, 1 << 31, 1 << 53, seqMost - 1, seqMost}
	seen := map[string]bool{}
	for _, owner := range seqHostile {
		last := ""
		for _, n := range ns {
			key, err := seqPlain.Key(owner, n)
			if err != nil || key <= last || seen[key] {
				t.Fatalf("%q %d: key %q after %q, %v", owner, n, key, last, err)
			}
			last, seen[key] = key, true
			if of, back, err := seqPlain.Parse(key); of != owner || back != n || err != nil {
				t.Errorf("%q: %q, %d, %v", key, of, back, err)
			}
		}
	}
	for _, bad := range []string{
		"", "_", "a", "a_", "a_1", "_000000000000000001", "a_b_000000000000000001", "a%_000000000000000001",
		"a%5f_000000000000000001", "a_00000000000000001", "a_0000000000000000001", "a_-00000000000000001",
		"a_+00000000000000001", "a_1000000000000000000", "a_000000000000000001\n",
	} {
		owner, n, err := seqPlain.Parse(bad)
		if testkit.WantValueError(t, bad, err); owner != "" || n != 0 {
			t.Errorf("%q gives %q and %d", bad, owner, n)
		}
	}
	for _, c := range []struct {
		owner string
		n     int64
	}{{"", 1}, {"\xff", 1}, {"a", -1}, {"a", 10}} {
		_, err := seqShort.Key(c.owner, c.n)
		testkit.WantValueError(t, fmt.Sprintf("%q %d", c.owner, c.n), err)
	}
	for _, owner := range []int64{0, -5, math.MinInt64, math.MaxInt64} {
		key, err := seqByNumber.Key(owner, 7)
		if of, n, back := seqByNumber.Parse(key); err != nil || back != nil || of != owner || n != 7 {
			t.Errorf("%d: %q, %d, %d, %v", owner, key, of, n, back)
		}
	}
	for _, bad := range []string{"05_007", "+5_007", "-0_007", "9223372036854775808_007", "5 _007", "5_7"} {
		_, _, err := seqByNumber.Parse(bad)
		testkit.WantValueError(t, bad, err)
	}
}

func FuzzSequenceKey(f *testing.F) {
	for _, owner := range seqHostile {
		f.Add(owner, "b", int64(10), int64(9))
		f.Add(owner, owner, int64(10), int64(9))
	}
	f.Fuzz(func(t *testing.T, a, b string, n, m int64) {
		x, err := seqPlain.Key(a, n)
		y, err2 := seqPlain.Key(b, m)
		if err != nil || err2 != nil {
			return
		}
		if owner, back, err := seqPlain.Parse(x); owner != a || back != n || err != nil {
			t.Errorf("%q %d: %q, %d, %v", a, n, owner, back, err)
		}
		if (x == y) != (a == b && n == m) || a == b && (x < y) != (n < m) {
			t.Errorf("%q %d: %q; %q %d: %q", a, n, x, b, m, y)
		}
		low, _ := seqPlain.Key(b, 0)
		high, _ := seqPlain.Key(b, seqMost)
		if a != b && x >= low && x <= high {
			t.Errorf("the key of %q lies among those of %q", a, b)
		}
		if owner, back, err := seqPlain.Parse(a); err == nil {
			if key, _ := seqPlain.Key(owner, back); key != a {
				t.Errorf("%q is parsed as %q, %d", a, owner, back)
			}
		}
	})
}

// Queries by number give what is there, in order, of one owner.
func TestSequenceQueries(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, owner := range seqHostile {
			seqStore(t, db, seqPlain, owner, 1, 2, 9, 10, 12, 100)
		}
		for _, owner := range seqHostile {
			for _, c := range []struct {
				reason string
				f      *model.Find[seqMail]
				want   []int64
			}{
				{"one", seqPlain.At(owner, 9), []int64{9}},
				{"one that is not there", seqPlain.At(owner, 11), nil},
				{"those before", seqPlain.Previous(owner, 10), []int64{9, 2, 1}},
				{"the one before", seqPlain.Previous(owner, 12).Limited(1), []int64{10}},
				{"before the first", seqPlain.Previous(owner, 1), nil},
				{"those after", seqPlain.Following(owner, 9), []int64{10, 12, 100}},
				{"after the last", seqPlain.Following(owner, seqMost), nil},
				{"a range", seqPlain.Range(owner, 2, 10), []int64{2, 9, 10}},
				{"a range backwards", seqPlain.Range(owner, 10, 2), nil},
				{"the newest", seqPlain.Newest(owner).Limited(2), []int64{100, 12}},
				{"all", seqPlain.Following(owner, 0), []int64{1, 2, 9, 10, 12, 100}},
			} {
				if got := seqGot(t, db, seqPlain, owner, c.f); !slices.Equal(got, c.want) {
					t.Errorf("%s of %q: %v, want %v", c.reason, owner, got, c.want)
				}
			}
		}
		if found, err := seqPlain.Checks()[2].All(t.Context(), db); err != nil || len(found) > 0 {
			t.Errorf("foreign: %v, %v", found, err)
		}
		page := seqPlain.Following("a", 0).Limited(4).After()
		first, err := page.All(t.Context(), db)
		if err != nil || len(first) != 4 {
			t.Fatal(first, err)
		}
		if got := seqGot(t, db, seqPlain, "a", page.After(first[3].ID)); !slices.Equal(got, []int64{12, 100}) {
			t.Errorf("the second page: %v", got)
		}
	})
}

// Random numbers of random owners, against sorted lists in memory.
func TestSequenceProperty(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		random := rand.New(rand.NewPCG(5, 1))
		want := map[string][]int64{}
		for range 150 {
			owner, n := seqHostile[random.IntN(len(seqHostile))], random.Int64N(1<<random.IntN(60))
			if !slices.Contains(want[owner], n) {
				seqStore(t, db, seqPlain, owner, n)
				want[owner] = append(want[owner], n)
			}
		}
		for owner, ns := range want {
			slices.Sort(ns)
			from, to := ns[random.IntN(len(ns))], random.Int64N(seqMost)
			var before, after, within []int64
			for _, n := range ns {
				if n < from {
					before = append([]int64{n}, before...)
				}
				if n > from {
					after = append(after, n)
				}
				if n >= from && n <= to {
					within = append(within, n)
				}
			}
			for _, c := range []struct {
				f    *model.Find[seqMail]
				want []int64
			}{
				{seqPlain.Previous(owner, from), before}, {seqPlain.Following(owner, from), after},
				{seqPlain.Range(owner, from, to), within}, {seqPlain.Range(owner, 0, seqMost), ns},
			} {
				if got := seqGot(t, db, seqPlain, owner, c.f); !slices.Equal(got, c.want) {
					t.Errorf("%s: %v, want %v", c.f, got, c.want)
				}
			}
		}
	})
}

// What a document is stored as, what is recognized, and what is refused.
func TestSequenceInsert(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for range 2 {
			if err := seqInsert(seqPlain, "a_b", 10, seqMail{Text: "hello"})(t.Context(), db); err != nil {
				t.Error(err)
			}
		}
		got, err := seqPlain.At("a_b", 10).One(t.Context(), db)
		if want := (seqMail{"a%5Fb_000000000000000010", "hello"}); got != want || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		err = seqInsert(seqPlain, "a_b", 10, seqMail{Text: "other"})(t.Context(), db)
		if !errors.Is(err, model.ErrTaken) {
			t.Errorf("another document: %v", err)
		}
		_, _, err = model.NewStore(model.New("mail", seqPlain), seqMails).Insert(seqMail{ID: "x"}).Run(t.Context(), db)
		testkit.WantValueError(t, "an _id that isn't a key", err)
	})
	_, err := seqPlain.Key("", 1)
	testkit.WantValueError(t, "isn't an owner", err)
	_, err = seqPlain.Key("a", -1)
	testkit.WantValueError(t, "a negative number", err)
	open := keys.NewSequence(model.NewCollection[bson.D, string]("open"), seqCounters, keys.SequenceSpec{})
	testkit.WantValueError(t, "append of nil", open.Append("a", nil).Err)
	testkit.WantValueError(t, "append of a name with a dollar sign",
		open.Append("a", bson.D{{Key: "$where", Value: 1}}).Err)
	testkit.WantValueError(t, "append of 17 MiB", seqPlain.Append("a", seqMail{Text: strings.Repeat("x", 17<<20)}).Err)
	testkit.WantValueError(t, "append without owner", seqPlain.Append("", seqMail{}).Err)
	testkit.WantValueError(t, "after the last", seqAppended(t, seqShort, "a", 10, seqMail{}).Err())
	testkit.WantValueError(t, "no numbers", seqPlain.Take("a", 0).Err)
	testkit.WantValueError(t, "more than there are", seqShort.Take("a", 10).Err)
	testkit.WantValueError(t, "raised too far", seqShort.Raise("a", 10).Err)
}

func TestSequenceDeclarations(t *testing.T) {
	t.Parallel()
	named := func(name string) *model.Collection[seqCounter, string] {
		return model.NewCollection[seqCounter, string](name)
	}
	floats := model.NewCollection[keys.SequenceCounter[float64], float64]("counters")
	for reason, f := range map[string]func(){
		"20 digits":      func() { keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: 20}) },
		"-1 digits":      func() { keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Digits: -1}) },
		"one collection": func() { keys.NewSequence(seqMails, named("mail"), keys.SequenceSpec{}) },
		"days with the mail": func() {
			keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Days: seqDays.Named("mail")})
		},
		"a place without days": func() {
			keys.NewSequence(seqMails, seqCounters, keys.SequenceSpec{Location: time.UTC})
		},
		"floats as owners": func() { keys.NewSequence(seqMails, floats, keys.SequenceSpec{}) },
		"blocks of 0":      func() { seqPlain.Allocator(mongotest.NewClient(t).Database("x"), 0) },
		"no database":      func() { seqPlain.Allocator(nil, 1) },
	} {
		func() {
			defer func() {
				if bad, ok := recover().(*model.DeclarationError); !ok || bad.Remedy == "" {
					t.Errorf("%s: panics with %v", reason, bad)
				}
			}()
			f()
			t.Errorf("%s: doesn't panic", reason)
		}()
	}
}

// The price is as promised, and indexes serve the queries.
func TestSequenceCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		want := func(cost model.Cost, f func() error) {
			t.Helper()
			modeltest.WantCost(t, monitor, cost, f)
		}
		one := model.Cost{Commands: 1, Written: 1}
		taken := model.Cost{Commands: 1, Written: 1, Returned: 1}
		want(one, func() error { _, err := seqDaily.Open("a").Run(ctx, db); return err })
		want(taken, func() error { _, err := seqDaily.Take("a", 10).Run(ctx, db); return err })
		want(one, func() error { return seqInsert(seqDaily, "a", 1, seqMail{})(ctx, db) })
		want(one, func() error { _, err := seqDaily.Days.Pack("a", 1, time.Unix(0, 0)).Run(ctx, db); return err })
		want(model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := seqDaily.Previous("a", 2).One(ctx, db)
			return err
		})
		numbers := seqDaily.Allocator(db, 100)
		want(taken, func() error {
			for range 100 {
				if _, err := numbers.Next(ctx, "a"); err != nil {
					return err
				}
			}
			return nil
		})
		for _, f := range []*model.Find[seqMail]{
			seqDaily.At("a", 1), seqDaily.Previous("a", 5), seqDaily.Following("a", 5), seqDaily.Range("a", 1, 5),
			seqDaily.Days.Packed(keys.DayBucket{Keys: []string{"a_0001", "a_0002"}}),
		} {
			modeltest.WantIndexed(t, db, f, model.IDIndex)
		}
		modeltest.WantIndexed(t, db, seqDaily.Days.Range("a", "2026-01-01", "2026-02-01"), model.IDIndex)
	}, monitor)
}
