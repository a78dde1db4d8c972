package expr

// This file counts the bytes of the values that operators and accumulators build, so that they end where MongoDB's do.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// MaxMemory is how many bytes an operator or an accumulator may hold, which can't write to disk. The stages of package
// pipeline have the same limit (https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/).
const MaxMemory = 100 << 20

// memory counts the bytes that an operator or an accumulator holds. The zero memory has counted nothing.
type memory struct{ used int }

// add counts the bytes of a value, as it would be stored. name is the operator's, for the error.
func (m *memory) add(name string, v any) error {
	if m.used += bsonval.SizeOf(v, MaxMemory); m.used > MaxMemory {
		return mongoerr.New(mongoerr.ExceededMemoryLimit,
			"%s used too much memory and cannot spill to disk. Memory limit: %d bytes", name, MaxMemory)
	}
	return nil
}

// elementSize is how many bytes an element of an array or a field of a document takes at least, in memory.
const elementSize = 16

// checkGrowth refuses the value of a $reduce that has become too large. turn is the number of turns so far.
//
// A value that grows a little at each turn would be measured in time that is the square of its size. So the value is
// measured whole only if turn is a power of two, and after the last turn. The lengths of an array, a document or a
// string are checked at every turn.
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
