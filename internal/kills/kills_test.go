package kills

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	writers   = 4
	kills     = 200
	envWriter = "DOCMODEL_KILLS_WRITER" // what a process is told: uri, database, which writer, its first operation
)

// An act is how writers use a technique.
type act struct {
	name       string
	technique  model.Technique
	begin      func(ctx context.Context, db *mongo.Database) error       // before all
	do         func(ctx context.Context, db *mongo.Database, o op) error // one operation
	background func(ctx context.Context, db *mongo.Database) error       // what each writer runs beside its operations
	// after all: what its documentation says of recovery
	settle func(ctx context.Context, db *mongo.Database) error
	judge  func(t *testing.T, db *mongo.Database, done [writers]int) // done says how many operations each writer did
}

var acts []act

// An op is one operation of a writer. Its token is the same each time that it is run.
type op struct {
	writer, n int
	token     bson.ObjectID
}

func opOf(writer, n int) op {
	o := op{writer: writer, n: n}
	o.token[0], o.token[3], o.token[10], o.token[11] = 0x60, byte(writer+1), byte(n>>8), byte(n)
	return o
}

func e(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// noon is when everything happens: writers' clocks agree.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestMain is also the main function of the writers.
func TestMain(m *testing.M) {
	if what := os.Getenv(envWriter); what != "" {
		if err := write(strings.Fields(what)); err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write runs operations until its standard input is closed, and at least one: the killed
// process before it may have left that one half done. It says which it begins.
func write(args []string) error {
	writer, _ := strconv.Atoi(args[2])
	first, _ := strconv.Atoi(args[3])
	client, err := mongo.Connect(options.Client().ApplyURI(args[0]))
	if err != nil {
		return err
	}
	db := client.Database(args[1])
	ended := make(chan struct{})
	var beside sync.WaitGroup
	defer beside.Wait()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, a := range acts {
		if a.background != nil {
			beside.Go(func() { _ = a.background(ctx, db) })
		}
	}
	for n := first; ; n++ {
		select {
		case <-ended:
			if n > first {
				fmt.Println("end", n)
				return nil
			}
		default:
		}
		fmt.Println("begin", n)
		for _, a := range acts {
			if err := a.do(context.Background(), db, opOf(writer, n)); err != nil {
				return fmt.Errorf("%s, operation %d: %w", a.name, n, err)
			}
		}
	}
}

// A writer is one of the processes.
type writer struct {
	n     int
	next  int // the operation that it begins with when it is started again
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
}

func (w *writer) start(t *testing.T, uri, db string) {
	t.Helper()
	w.cmd = exec.Command(os.Args[0])
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", envWriter, uri, db, w.n, w.next))
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.lines = make(chan string, 10_000)
	go func() {
		defer close(w.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.lines <- s.Text()
		}
	}()
}

// read takes what the writer said, until it has ended or, if it is to go on, until it says nothing.
func (w *writer) read(t *testing.T, ended bool) {
	t.Helper()
	for {
		var line string
		var ok bool
		if ended {
			line, ok = <-w.lines
		} else {
			select {
			case line, ok = <-w.lines:
			default:
			}
		}
		if !ok {
			return
		}
		what, n, _ := strings.Cut(line, " ")
		if what == "error" {
			t.Fatalf("writer %d: %s", w.n, n)
		}
		if k, err := strconv.Atoi(n); err == nil {
			w.next = k
		}
	}
}

func (w *writer) kill(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.read(t, true)
	_ = w.cmd.Wait()
}

// end lets the writer finish its operation.
func (w *writer) end(t *testing.T) {
	t.Helper()
	w.stdin.Close()
	w.read(t, true)
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("writer %d: %v", w.n, err)
	}
}

// Writers that are killed lose nothing.
func TestKills(t *testing.T) {
	tenancy.Differs(t, "the writers are processes without a scope")
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Run("engine", func(t *testing.T) {
		uri, stop, err := mongotest.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		n := kills / 8
		if os.Getenv("DOCMODEL_FULL") != "" {
			n = kills
		}
		murder(t, uri, "kills", n)
	})
	t.Run("server", func(t *testing.T) {
		uri := os.Getenv(mongotest.EnvURI)
		if uri == "" {
			t.Skip("MONGODB_URI is not set")
		}
		murder(t, uri, fmt.Sprintf("kills_%d", time.Now().UnixNano()), kills)
	})
}

func murder(t *testing.T, uri, name string, kills int) {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	defer func() { _ = client.Disconnect(ctx) }()
	db := client.Database(name)
	defer func() { _ = db.Drop(ctx) }()
	var techniques []model.Technique
	for _, a := range acts {
		if err := a.begin(ctx, db); err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		techniques = append(techniques, a.technique)
	}
	all := model.New("kills", techniques...)
	if err := all.Indexes().Ensure(ctx, db); err != nil {
		t.Fatal(err)
	}
	var list [writers]writer
	for i := range list {
		list[i].n = i
		list[i].start(t, uri, name)
	}
	rng := rand.New(rand.NewPCG(1, uint64(kills)))
	for range kills {
		time.Sleep(time.Duration(20+rng.IntN(100)) * time.Millisecond)
		w := &list[rng.IntN(writers)]
		w.kill(t)
		w.start(t, uri, name)
	}
	var done [writers]int
	sum := 0
	for i := range list {
		list[i].end(t)
		done[i] = list[i].next
		sum += done[i]
	}
	t.Logf("%d kills, %v operations of each technique", kills, done)
	if sum < kills/4 {
		t.Errorf("only %d operations: the writers hardly ran", sum)
	}
	for _, a := range acts {
		if a.settle != nil {
			if err := a.settle(ctx, db); err != nil {
				t.Errorf("%s: %v", a.name, err)
			}
		}
	}
	audit := all.Audit()
	for f, err := range audit.Each(ctx, db) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("the audit finds: %s: %s", f.Technique, f)
	}
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) { a.judge(t, db, done) })
	}
}

// mended runs the jobs of a technique's checks.
func mended(of model.Technique) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range of.Checks() {
			if c.Age = 0; c.Mend == nil && c.MendAll == nil {
				continue
			}
			if _, err := c.Job().Run(ctx, db, model.JobOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
}
