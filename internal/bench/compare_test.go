package main

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is compared must give the same.

func TestStatementsAreEqual(t *testing.T) {
	for name, statements := range map[string][]statement{
		"in": inStatements, "push": pushStatements, "guarded": guardedStatements, "copy": copyStatements,
	} {
		want, err := statements[0].make()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements[1:] {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				got, err := s.make()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, got) {
					t.Errorf("want %s\n got %s", bson.Raw(want), bson.Raw(got))
				}
			})
		}
	}
}

func eachBackend(t *testing.T, f func(*testing.T, backend)) {
	all, err := backends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) { f(t, b) })
	}
}

func BenchmarkIn(b *testing.B) { benchmark(b, contenders(inStatements)) }

func BenchmarkPush(b *testing.B) { benchmark(b, contenders(pushStatements)) }

func BenchmarkGuarded(b *testing.B) { benchmark(b, contenders(guardedStatements)) }

func BenchmarkCopy(b *testing.B) { benchmark(b, contenders(copyStatements)) }

func benchmark(b *testing.B, cs []contender) {
	for _, c := range cs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
