package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

const commandsFile = "COMMANDS.md"

// refused follows the commands of an operation that returns an error.
const refused = "and then it is refused"

// commandsHead is the text above the table.
const commandsHead = `# Commands per operation

A test writes this table: ` + "`go test ./internal/compose -run CommandsPerOperation -update`" + `.
It runs each operation once, undisturbed, on the documents of this package, and counts the
commands that the server gets. The commit of a transaction is not counted. A read that the
operation's caller needs is counted, such as that of the document that a plan is made from.
A technique that has its collections for itself stands at the end. Its operations run one
after another. "By bulkWrite" is a database of ` + "`model.WithBulkWrite`" + `.

| operation | commands | by bulkWrite | in a transaction | what is sent | what is sent in a transaction |
| --- | --- | --- | --- | --- | --- |
`

// earlier is how many commands operations sent, without and with a transaction, before reads of theirs were joined.
var earlier = []struct {
	operation   string
	plain, inTx int
}{
	{"eventlog.EventLog decide", 7, 7},
	{"paths.Tree by parents insert", 7, 5}, {"paths.Tree by parents move", 7, 5},
	{"paths.Tree by children insert", 8, 5}, {"paths.Tree by children move", 9, 5},
	{"paths.Tree by ancestors insert", 7, 5}, {"paths.Tree by ancestors move", 7, 5},
	{"paths.Tree by paths insert", 8, 6}, {"paths.Tree by paths move", 8, 6},
	{"paths.Tree by nested sets insert", 8, 5}, {"paths.Tree by nested sets move", 7, 5},
}

// Each operation sends the commands that COMMANDS.md lists, without and with a transaction.
func TestCommandsPerOperation(t *testing.T) {
	tenancy.Differs(t, "what can't run under a scope is in the table too")
	var b strings.Builder
	b.WriteString(commandsHead)
	for _, f := range fixtures {
		_, ops := f.declare()
		for i, o := range ops {
			tableRow(&b, f.name+" "+o.name, sent(t, &f, plain, i)[0], sent(t, &f, bulk, i)[0], sent(t, &f, inTx, i)[0])
		}
	}
	for _, f := range alone {
		_, ops := f.declare()
		all := make([]int, len(ops))
		for i := range ops {
			all[i] = i
		}
		lists := [][][]string{sent(t, &f, plain, all...), sent(t, &f, bulk, all...), sent(t, &f, inTx, all...)}
		for i, o := range ops {
			tableRow(&b, f.name+" "+o.name, lists[0][i], lists[1][i], lists[2][i])
		}
	}
	if t.Failed() {
		return
	}
	compared(t, &b)
	holdFile(t, commandsFile, b.String())
}

// tableRow writes a row of the table.
func tableRow(b *strings.Builder, name string, plain, bulk, inTx []string) {
	count := func(list []string) string {
		if list == nil {
			return "-"
		}
		return fmt.Sprint(len(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == refused })))
	}
	there := strings.Join(folded(inTx), ", ")
	if slices.Equal(plain, inTx) {
		there = "the same"
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, count(plain), count(bulk), count(inTx),
		strings.Join(folded(plain), ", "), there)
}

// compared writes what operations send now that sent more earlier.
func compared(t *testing.T, b *strings.Builder) {
	table := b.String()
	b.WriteString("\n## Before and after\n\nReads of one collection that were two are one.\n\n")
	b.WriteString("| operation | before | after | in a transaction before | after |\n| --- | --- | --- | --- | --- |\n")
	for _, was := range earlier {
		_, line, found := strings.Cut(table, "| "+was.operation+" | ")
		cells := strings.SplitN(line, " | ", 4)
		if !found || len(cells) < 4 {
			t.Fatalf("the table has no %s", was.operation)
		}
		fmt.Fprintf(b, "| %s | %d | %s | %d | %s |\n", was.operation, was.plain, cells[0], was.inTx, cells[2])
	}
}

// folded counts equal neighbours.
func folded(list []string) (out []string) {
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		out = append(out, list[i]+ifAny(list[1:n], fmt.Sprintf(" ×%d", n)))
		i += n
	}
	return out
}

// An on is which database an operation runs on.
type on uint8

const (
	plain on = iota
	bulk
	inTx
)

// sent are the commands of some operations of a technique, which run one after another on fresh documents. They are nil
// for one that needs a transaction and has none.
func sent(t *testing.T, f *fixture, on on, which ...int) (out [][]string) {
	t.Helper()
	ctx, monitor := t.Context(), mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	raw := client.Database("commands")
	technique, ops := f.declare()
	for name, list := range seeded() {
		if _, err := raw.Collection(name).InsertMany(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	m := model.New("commands", technique)
	var left *model.LeftError
	if a := m.Audit(); len(a.Checks) > 0 {
		if _, err := a.Job().Run(ctx, raw, model.JobOptions{}); err != nil && !errors.As(err, &left) {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	if err := m.Indexes().Ensure(ctx, raw); err != nil { // a unique one needs what the audit derived
		t.Fatalf("%s: %v", f.name, err)
	}
	var db model.DB = raw
	var err error
	switch on {
	case bulk:
		db, err = model.WithBulkWrite(ctx, raw, nil)
	case inTx:
		db, err = model.WithTransactions(ctx, raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range which {
		if ops[i].needsTx && on != inTx {
			out = append(out, nil)
			continue
		}
		monitor.Reset()
		err := ops[i].run(ctx, db)
		if err != nil && !typed(err) {
			t.Errorf("%s %s: %v", f.name, ops[i].name, err)
		}
		list := []string{}
		for _, c := range monitor.Commands() {
			if c.Name != "commitTransaction" {
				list = append(list, strings.TrimSpace(c.Name+" "+c.Collection))
			}
		}
		if err != nil && !errors.As(err, &left) {
			list = append(list, refused)
		}
		out = append(out, list)
		wantOwnStoreFields(t, raw, f.name+" "+ops[i].name)
	}
	return out
}

// ran is an operation that runs what returns an error.
func ran(name string, run func(ctx context.Context, db model.DB) error) operation {
	return operation{name: name, run: run}
}
