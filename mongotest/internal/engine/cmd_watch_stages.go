package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
)

// changeStages are the stages that may follow $changeStream. Other stages would need all events, or lose the token.
var changeStages = []string{
	"$match", "$project", "$set", "$addFields", "$unset", "$replaceRoot", "$replaceWith", "$redact",
}

// checkChangeStages refuses the stages behind $changeStream that a change stream can't have. It lets an unknown stage
// pass: the parser has the error for it.
func checkChangeStages(stages bson.A) error {
	for _, v := range stages {
		if d, _ := v.(bson.D); len(d) == 1 && slices.Contains(pipeline.Stages(), d[0].Key) &&
			!slices.Contains(changeStages, d[0].Key) {
			return mongoerr.New(mongoerr.IllegalOperation, "%s is not permitted in a $changeStream pipeline", d[0].Key)
		}
	}
	return nil
}
