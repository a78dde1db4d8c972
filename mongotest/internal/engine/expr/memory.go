package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// MaxMemory is how many bytes an operator or an accumulator may hold that can't write to disk
// (https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/).
const MaxMemory = 100 << 20

// memory counts the bytes that an operator or an accumulator holds.
type memory struct{ used int }

// add counts a value.
func (m *memory) add(name string, v any) error {
	if m.used += bsonval.SizeOf(v, MaxMemory); m.used > MaxMemory {
		return mongoerr.New(mongoerr.ExceededMemoryLimit,
			"%s used too much memory and cannot spill to disk. Memory limit: %d bytes", name, MaxMemory)
	}
	return nil
}

// elementSize is what an element of an array takes at least, in memory.
const elementSize = 16

// checkGrowth refuses what a $reduce has come to when it is too large. The whole value is
// measured when the number of turns is a power of two and after the last turn; an array or a
// string that is too large by itself is found at every turn.
func checkGrowth(v any, turn int, last bool) error {
	least := 0
	switch v := v.(type) {
	case bson.A:
		least = len(v) * elementSize
	case string:
		least = len(v)
	case bson.D:
		least = len(v) * elementSize
	default:
		return nil
	}
	if turn&(turn-1) == 0 || last {
		least = max(least, bsonval.SizeOf(v, MaxMemory))
	}
	if least > MaxMemory {
		return mongoerr.New(mongoerr.ExceededMemoryLimit,
			"$reduce used too much memory and cannot spill to disk. Memory limit: %d bytes", MaxMemory)
	}
	return nil
}
