package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// localSessions is $listLocalSessions: a document about each session that the server remembers.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/listLocalSessions/
//
//	{_id: {id: UUID("..."), uid: BinData(0, "...")}, lastUse: ISODate("2024-01-31T00:00:00Z")}
//
// The command has no collection: {aggregate: 1, pipeline: [{$listLocalSessions: {}}]}.
type localSessions struct {
	others bool // the sessions of named users are asked for; the engine has no users, so there are none
}

// parseLocalSessions parses {$listLocalSessions: {}}, with allUsers or users. Without users in the engine, {}, and
// {allUsers: true}, both mean all sessions.
func parseLocalSessions(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	switch {
	case p.coll != "":
		return nil, NewCollectionlessError(name)
	case !ok:
		return nil, mongoerr.New(mongoerr.TypeMismatch, "%s options must be specified in an object, but found: %s",
			name, bsonval.TypeName(arg))
	}
	var s localSessions
	all := false
	for _, f := range d {
		switch f.Key {
		case "allUsers":
			if all, ok = f.Value.(bool); !ok {
				return nil, mongoerr.New(mongoerr.TypeMismatch,
					"BSON field '%s.allUsers' is the wrong type '%s', expected type 'bool'",
					name, bsonval.TypeName(f.Value))
			}
		case "users":
			users, ok := f.Value.(bson.A)
			if !ok {
				return nil, mongoerr.New(mongoerr.TypeMismatch,
					"BSON field '%s.users' is the wrong type '%s', expected type 'array'",
					name, bsonval.TypeName(f.Value))
			}
			s.others = len(users) > 0
		default:
			return nil, mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
	}
	if all && s.others {
		return nil, mongoerr.New(mongoerr.UnsupportedFormat,
			"%s may not specify {allUsers:true} and {users:[...]} at the same time", name)
	}
	return s, nil
}

func (s localSessions) run(r *run, _ Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		if s.others {
			return
		}
		for _, d := range r.env.Sessions() {
			if !yield(d, nil) {
				return
			}
		}
	}
}
