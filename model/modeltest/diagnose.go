package modeltest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	plansShown     = 5 // in a failure
	plansTime      = 10 * time.Second
	statementsRead = 1 // of an update or delete: explain accepts one
)

// plansOf describes the plans of commands that look up documents: the indexes used, the
// keys and documents examined, and an index that would help. It asks the server, so the
// plans depend on the stored documents. It returns "" if there is nothing to report.
func plansOf(client *mongo.Client, commands []mongotest.Command) string {
	ctx, cancel := context.WithTimeout(context.Background(), plansTime)
	defer cancel()
	var b strings.Builder
	told, left := map[string]bool{}, 0
	for _, c := range commands {
		explained, ok := explainedPart(c)
		text := c.String()
		if !ok || told[c.Database+text] {
			continue
		}
		if len(told) == plansShown || ctx.Err() != nil {
			left++
			continue
		}
		plan := planLine(ctx, client.Database(c.Database), c.Collection, explained)
		if plan == "" {
			continue
		}
		told[c.Database+text] = true
		fmt.Fprintf(&b, "\n\t%s\n\t\t%s", text, plan)
	}
	if len(told) == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n\t… and the plans of %d more commands", left)
	}
	return "\nplans, for what is stored now:" + b.String()
}

// plans is plansOf with a separate client, without monitors and faults.
func (b *backend) plans(commands []mongotest.Command) string {
	if !slices.ContainsFunc(commands, func(c mongotest.Command) bool { _, ok := explainedPart(c); return ok }) {
		return ""
	}
	client, disconnect, err := b.server.Connect(nil)
	if err != nil {
		return ""
	}
	defer disconnect()
	return plansOf(client, commands)
}

// explainedPart returns the command in the form that explain accepts, or false if it
// looks up nothing or was shortened.
func explainedPart(c mongotest.Command) (bson.D, bool) {
	switch c.Name {
	case "find", "aggregate", "count", "distinct", "findAndModify", "update", "delete":
	default:
		return nil, false
	}
	if c.Collection == "" || bytes.Contains(c.Body, []byte("… ")) || mongotest.Writes(c) && c.Name == "aggregate" {
		return nil, false
	}
	var command bson.D
	if bson.Unmarshal(c.Body, &command) != nil {
		return nil, false
	}
	if first := firstStage(c); first == "$changeStream" || first == "$collStats" || first == "$currentOp" {
		return nil, false
	}
	command = slices.DeleteFunc(command, func(e bson.E) bool {
		switch e.Key {
		case "lsid", "$db", "$clusterTime", "recoveryToken", "maxTimeMS", "txnNumber", "autocommit", "startTransaction",
			"writeConcern", "readConcern", "$readPreference", "stmtId", "stmtIds":
			return true
		}
		return false
	})
	for i, e := range command {
		if list, ok := e.Value.(bson.A); ok && e.Key == testserver.StatementsField(c.Name) && len(list) > statementsRead {
			command[i].Value = list[:statementsRead]
		}
	}
	return command, true
}

func firstStage(c mongotest.Command) string {
	d, ok := c.Body.Lookup("pipeline", "0").DocumentOK()
	if !ok {
		return ""
	}
	e, err := d.IndexErr(0)
	if err != nil {
		return ""
	}
	return e.Key()
}

// planLine describes how the server runs a command: the plan, what it examines, and the
// missing index.
func planLine(ctx context.Context, db *mongo.Database, collection string, command bson.D) string {
	reply, err := execute(ctx, db, command)
	if err != nil {
		return ""
	}
	plan := readPlan(reply, nil)
	if !plan.found {
		return ""
	}
	return plan.String() + examinedText(reply) + suggestion(ctx, db, collection, command, plan, "\n\t\t")
}

// String names the collections and indexes that the plan reads.
func (p *queryPlan) String() string {
	var parts []string
	parts = append(parts, p.scans...)
	for _, index := range p.whole {
		parts = append(parts, "index "+index+" from end to end")
	}
	for _, index := range p.indexes {
		parts = append(parts, "index "+index)
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing is read")
	}
	if p.sorts {
		parts = append(parts, "a sort in memory")
	}
	return strings.Join(parts, ", ")
}

// examinedText returns the numbers in an explain, or "" if there are none.
func examinedText(reply bson.Raw) string {
	sum, counted := examinedBy(reply)
	if !counted {
		return ""
	}
	text := fmt.Sprintf("; examined: %d documents, %d keys", sum.docs, sum.keys)
	for _, path := range [][]string{
		{"executionStats", "nReturned"},
		{"stages", "0", "$cursor", "executionStats", "nReturned"},
	} {
		if n, err := reply.LookupErr(path...); err == nil {
			found, _ := n.AsInt64OK()
			return text + fmt.Sprintf("; found: %d", found)
		}
	}
	return text
}

// suggestion lists indexes that would serve a command without one, each on a line after
// the separator.
func suggestion(
	ctx context.Context, db *mongo.Database, collection string, command bson.D, plan *queryPlan, separator string,
) string {
	if plan.served() && !plan.sorts || len(plan.scans)+len(plan.whole)+len(plan.scoped)+len(plan.indexes) == 0 {
		return ""
	}
	var b strings.Builder
	specs, _ := db.Collection(collection).Indexes().ListSpecifications(ctx)
	needed := neededIndexes(command)
	for i, keys := range needed {
		if i == plansShown {
			fmt.Fprintf(&b, "%s… and %d more indexes, for the other branches of $or", separator, len(needed)-i)
			break
		}
		has := ""
		for _, s := range specs {
			var own bson.D
			if bson.Unmarshal(s.KeysDocument, &own) == nil && sameKeys(own, keys) {
				has = s.Name
			}
		}
		if has != "" {
			fmt.Fprintf(&b, "%sindex %s has the keys that would serve it", separator, has)
			continue
		}
		fmt.Fprintf(&b, "%sno index serves it; one that would: %s", separator, createIndex(collection, keys, command))
	}
	return b.String()
}
