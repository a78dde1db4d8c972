package engine_test

import "testing"

func TestDelete(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":1}`, `{"_id":3,"n":1}`)
	if r, err := c.DeleteOne(ctx, doc(t, `{"n":1}`)); err != nil || r.DeletedCount != 1 {
		t.Fatal(r, err)
	}
	if r, err := c.DeleteMany(ctx, doc(t, `{"n":1}`)); err != nil || r.DeletedCount != 2 {
		t.Fatal(r, err)
	}
	wantAll(t, c)
}
