package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestReturnKey has what MongoDB's own test of returnKey has, and more.
func TestReturnKey(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"a":1,"b":3}`, `{"_id":2,"a":2,"b":2,"c":[7,8]}`, `{"_id":3,"a":3,"b":1,"d":{"e":5}}`)
	for _, index := range []string{`{"a":1}`, `{"b":1}`, `{"a":1,"d.e":-1}`, `{"c":1}`, `{"h":"hashed"}`} {
		if err := c.Database().
			RunCommand(t.Context(), doc(t, `{"createIndexes":"`+c.Name()+`","indexes":[{"key":`+index+`,"name":"`+
				strings.NewReplacer(`"`, "", "{", "", "}", "").Replace(index)+`"}]}`)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ reason, options, want string }{
		{"an index", `"hint":{"a":1},"sort":{"a":1},"returnKey":true`, `[{"a":1},{"a":2},{"a":3}]`},
		{"backwards", `"hint":{"a":1},"sort":{"a":-1},"returnKey":true`, `[{"a":3},{"a":2},{"a":1}]`},
		{"sorted in memory", `"hint":{"a":1},"sort":{"b":1},"returnKey":true`, `[{"a":3},{"a":2},{"a":1}]`},
		{"a projection doesn't count", `"hint":{"a":1},"projection":{"b":1},"limit":1,"returnKey":true`, `[{"a":1}]`},
		{"nor does showRecordId", `"sort":{"_id":1},"returnKey":true,"showRecordId":true`,
			`[{"_id":1},{"_id":2},{"_id":3}]`},
		{"by _id", `"filter":{"_id":2},"returnKey":true`, `[{"_id":2}]`},
		{
			reason:  "several fields, one missing",
			options: `"hint":{"a":1,"d.e":-1},"filter":{"a":{"$gte":2}},"returnKey":true`,
			want:    `[{"a":2,"d.e":null},{"a":3,"d.e":5}]`,
		},
		{"an array", `"filter":{"c":{"$gte":1}},"returnKey":true`, `[{"c":7}]`},
		{"branches", `"filter":{"$or":[{"a":1},{"b":1}]},"returnKey":true`, `[{"a":1},{"b":1}]`},
		{"no index", `"hint":{"$natural":1},"returnKey":true`, `[{},{},{}]`},
		{"off", `"filter":{"_id":1},"returnKey":false,"projection":{"a":1}`, `[{"_id":1,"a":1}]`},
		{"a hashed index", `"filter":{"h":1},"returnKey":true`, "error 238"},
	} {
		reply, err := c.Database().RunCommand(t.Context(), doc(t, `{"find":"`+c.Name()+`",`+tt.options+`}`)).Raw()
		got := ""
		if err != nil {
			got = "error 238"
			wantCode(t, tt.reason, err, 238)
		} else {
			var list []string
			docs, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
			for _, v := range docs {
				var d bson.D
				if err := bson.Unmarshal(v.Document(), &d); err != nil {
					t.Fatal(err)
				}
				list = append(list, show(t, d))
			}
			got = "[" + strings.Join(list, ",") + "]"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
	reply, err := c.Database().
		RunCommand(t.Context(),
			doc(t, `{"find":"`+c.Name()+`","projection":{"a":1,"_id":0},"limit":1,"showRecordId":true}`)).Raw()
	if err != nil {
		t.Fatal(err)
	}
	first := reply.Lookup("cursor", "firstBatch", "0").Document()
	if id := first.Lookup("$recordId"); id.Type != bson.TypeInt64 || first.Lookup("a").AsInt64() != 1 {
		t.Errorf("with its record's id: %s", first)
	}
	var stored bson.M
	if err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: 1}}).Decode(&stored); err != nil || len(stored) != 3 {
		t.Errorf("afterwards: %v, %v", stored, err)
	}
}
