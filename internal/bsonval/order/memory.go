package order

import "github.com/docmodel/docmodel/internal/mongoerr"

// MaxMemory is how many bytes a sort may hold that mustn't write to disk
// (https://www.mongodb.com/docs/manual/reference/limits/).
const MaxMemory = 100 << 20

// TooLarge returns the error of a sort that holds more.
func TooLarge() error {
	return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Sort exceeded memory limit of %d bytes, but did "+
			"not opt in to external sorting. Aborting operation. Pass allowDiskUse:true to opt in.", MaxMemory)
}
