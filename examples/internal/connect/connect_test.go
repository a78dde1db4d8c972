package connect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A program runs on an engine and, if configured, on a server. Its database is dropped at
// the end, even after an error.
func TestRun(t *testing.T) {
	for _, uri := range []string{"", os.Getenv(mongotest.EnvURI)} {
		monitor := mongotest.NewMonitor()
		var out bytes.Buffer
		err := Run(t.Context(), uri, "connect", &out, func(ctx context.Context, out io.Writer, db *mongo.Database) error {
			_, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
			fmt.Fprint(out, "in ", db.Name()[:len("connect_")])
			return fmt.Errorf("the program's: %w", err)
		}, monitor)
		if err == nil || !strings.HasPrefix(err.Error(), "the program's") || out.String() != "in connect_" {
			t.Errorf("%q, %v", out.String(), err)
		}
		var sent []string
		for _, c := range monitor.Commands() {
			sent = append(sent, c.Name)
		}
		if s := strings.Join(sent, " "); !strings.HasSuffix(s, "insert dropDatabase") {
			t.Errorf("sent is %s", s)
		}
	}
}

func TestServerThatIsDown(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, uri := range []string{"mongodb://127.0.0.1:1/", "no address"} {
		if _, _, err := Open(ctx, uri); err == nil || !strings.Contains(err.Error(), mongotest.EnvURI) {
			t.Errorf("want an error that names %s, got %v", mongotest.EnvURI, err)
		}
	}
}
