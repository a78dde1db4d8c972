package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/docmodel/docmodel/geohash"
	peer "github.com/mmcloughlin/geohash"
)

// A batch does one thing to each of many places. One run takes nanoseconds and can't be
// timed alone.
type batch struct {
	name, of string
	run      func()
	target   float64 // ns on a machine where the peer's string takes 22 to 35; 0 for none
}

const batchSize = 1024

// geoData are the places of all batches, in all forms. The results are stored here too,
// so that the compiler can't drop the work.
type geoData struct {
	points  []geohash.Point
	keys    []geohash.Key
	cells   []geohash.Cell
	texts   []string
	circles []geohash.Circle

	buffer []byte
	ranges []geohash.Range
	key    geohash.Key
	cell   geohash.Cell
	point  geohash.Point
	box    geohash.Box
	eight  [8]geohash.Cell
	n      uint64
	text   string
	peer   peer.Box
	lat    float64
	many   []uint64
}

// anywhere returns a point, evenly spread over the sphere up to a latitude.
func anywhere(r *rand.Rand, limit float64) geohash.Point {
	s := math.Sin(limit * math.Pi / 180)
	return geohash.Point{Lat: math.Asin(s*(2*r.Float64()-1)) * 180 / math.Pi, Lng: r.Float64()*360 - 180}
}

// anyCircle returns one of 10 m to 1000 km.
func anyCircle(r *rand.Rand, limit float64) geohash.Circle {
	return geohash.Circle{Center: anywhere(r, limit), Meters: math.Pow(10, 1+5*r.Float64())}
}

func newGeoData() (*geoData, error) {
	r := rand.New(rand.NewPCG(1, 2))
	d := &geoData{buffer: make([]byte, 0, geohash.MaxChars), ranges: make([]geohash.Range, 0, 8)}
	for range batchSize {
		p := anywhere(r, 90)
		k, err := geohash.Encode(p)
		if err != nil {
			return nil, err
		}
		d.points, d.keys, d.texts = append(d.points, p), append(d.keys, k), append(d.texts, k.String())
		d.cells, d.circles = append(d.cells, k.Cell(geohash.MaxBits)), append(d.circles, anyCircle(r, 60))
	}
	return d, nil
}

func (d *geoData) batches() []batch {
	const ours, theirs = "docmodel", "mmcloughlin"
	return []batch{
		{"encode key", ours, func() {
			for _, p := range d.points {
				d.key, _ = geohash.Encode(p)
			}
		}, 3.5},
		{"encode key", theirs + " (assembly)", func() {
			for _, p := range d.points {
				d.n = peer.EncodeInt(p.Lat, p.Lng)
			}
		}, 0},
		{"12 characters", ours, func() {
			buffer := d.buffer
			for _, p := range d.points {
				buffer, _ = geohash.AppendEncode(buffer[:0], p, geohash.MaxChars)
			}
			d.buffer = buffer
		}, 5.5},
		{"12 characters", theirs, func() {
			for _, p := range d.points {
				d.text = peer.Encode(p.Lat, p.Lng)
			}
		}, 0},
		{"parse", ours, func() {
			for _, s := range d.texts {
				d.cell, _ = geohash.Parse(s)
			}
		}, 6.5},
		{"parse", theirs + " (unchecked)", func() {
			for _, s := range d.texts {
				d.n, _ = peer.ConvertStringToInt(s)
			}
		}, 0},
		{"key to point", ours, func() {
			for _, k := range d.keys {
				d.point = k.Point()
			}
		}, 3.2},
		{"key to point", theirs, func() {
			for _, k := range d.keys {
				d.lat, _ = peer.BoundingBoxInt(uint64(k)).Center()
			}
		}, 0},
		{"box", ours, func() {
			for _, c := range d.cells {
				d.box = c.Box()
			}
		}, 5.5},
		{"box", theirs, func() {
			for _, k := range d.keys {
				d.peer = peer.BoundingBoxInt(uint64(k))
			}
		}, 0},
		{"8 neighbours", ours, func() {
			for _, c := range d.cells {
				d.eight, _ = c.Neighbors()
			}
		}, 14},
		{"8 neighbours", theirs, func() {
			for _, k := range d.keys {
				d.many = peer.NeighborsInt(uint64(k))
			}
		}, 0},
		{"circle, 8 ranges", ours, func() {
			ranges := d.ranges
			for _, c := range d.circles {
				ranges = c.Cover(ranges[:0], 8)
			}
			d.ranges = ranges
		}, 4000},
		{"circle, 8 cells", "S2 RegionCoverer", func() {
			for _, c := range d.circles {
				d.n = uint64(len(s2Cover(c, 8)))
			}
		}, 0},
		{"circle, up to 9 cells", "GeoFire", func() {
			for _, c := range d.circles {
				d.n = uint64(len(geofire(c)))
			}
		}, 0},
	}
}

// geohashTable measures rounds of one pass of each batch over the data, some milliseconds
// in all, so that compared batches run close in time. Rounds are short, so there are more
// than in other tables.
func geohashTable(rounds int) (table, error) {
	const reference = "12 characters"
	d, err := newGeoData()
	if err != nil {
		return table{}, err
	}
	all := d.batches()
	times, ratios, allocs := make([][]float64, len(all)), make([][]float64, len(all)), make([]uint64, len(all))
	string12 := 0
	for i, b := range all {
		if b.name == reference {
			string12 = i // the last one of that name: the peer's
		}
		allocs[i] = allocations(b.run)
	}
	for round := range 40 * rounds {
		took := make([]float64, len(all))
		for i := range all {
			n := (round + i) % len(all)
			start := time.Now()
			all[n].run()
			took[n] = float64(time.Since(start)) / batchSize
		}
		for i, t := range took {
			times[i], ratios[i] = append(times[i], t), append(ratios[i], t/took[string12])
		}
	}
	var b strings.Builder
	b.WriteString("| operation | by | ns, median (least) | ratio (quartiles) | target | allocations |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for i, c := range all {
		target := ""
		if c.target > 0 {
			target = fmt.Sprintf("%.2f–%.2f", c.target/35, c.target/22)
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f (%.1f) | %.3f (%.3f–%.3f) | %s | %d |\n", c.name, c.of, quartile(times[i], 2), quartile(times[i], 0),
			quartile(ratios[i], 2), quartile(ratios[i], 1), quartile(ratios[i], 3), target, allocs[i])
	}
	return table{
		title: "Geohash",
		note: "Nanoseconds of one operation, on places all over the Earth; circles have radii of 10 m to 1000 km, below 60° of latitude. A ratio\n" +
			"is to mmcloughlin/geohash's 12 characters in the same round. The targets (3.5, 5.5, 6.5, 3.2, 5.5, 14 and 4000 ns) are of a machine\n" +
			"on which that takes 22 to 35 ns: as ratios, the ones given here. S2's and GeoFire's covers are in memory of their own.",
		text: b.String(),
	}, nil
}

// allocations returns how often one operation of a batch allocates.
func allocations(run func()) uint64 {
	var before, after runtime.MemStats
	run()
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs + batchSize/2) / batchSize
}
