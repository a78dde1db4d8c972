package testserver

import "testing"

type server struct{ Server }

// A monitor keeps the server of its latest client when an earlier client is closed.
func TestRegister(t *testing.T) {
	key, first, second := new(int), &server{}, &server{}
	if Find(key) != nil {
		t.Error("an unknown key has a server")
	}
	forgetFirst := Register(key, first)
	forgetSecond := Register(key, second)
	forgetFirst()
	if Find(key) != Server(second) {
		t.Error("the later server was forgotten with the earlier one")
	}
	forgetSecond()
	if Find(key) != nil {
		t.Error("a server was kept")
	}
}

func TestFindOfTest(t *testing.T) {
	s := &server{}
	t.Run("backend", func(t *testing.T) {
		defer Register(t.Name(), s)()
		t.Run("part", func(t *testing.T) {
			if FindOfTest(t) != Server(s) {
				t.Error("a subtest doesn't find the server")
			}
		})
	})
	if FindOfTest(t) != nil {
		t.Error("the test itself has a server")
	}
}
