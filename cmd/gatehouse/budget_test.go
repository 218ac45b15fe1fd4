package main

import (
	"net/http"
	"testing"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	body := func(n int64) *http.Request { return &http.Request{ContentLength: n} }
	b := newBudget(40 << 20)
	first, ok := b.take(body(25 << 20))
	if !ok {
		t.Fatal("the first large body was refused")
	}
	t.Run("what does not fit is refused, what fits is not (RS-8a)", func(t *testing.T) {
		for _, c := range []struct {
			says string
			n    int64
			want bool
		}{
			{"another large body", 25 << 20, false},
			{"a body of unsaid length", -1, false},
			{"a small body", 12 << 10, true},
			{"a body that nobody will read", 26 << 20, true},
		} {
			give, ok := b.take(body(c.n))
			if ok != c.want {
				t.Errorf("%s was taken: %t, want %t", c.says, ok, c.want)
			}
			if ok {
				give()
			}
		}
	})
	first()
	if give, ok := b.take(body(-1)); !ok {
		t.Error("after the large body was done a body of unsaid length was refused (RS-8a)")
	} else {
		give()
	}
	if left := b.left.Load(); left != 40<<20 {
		t.Errorf("%d bytes are left of 40 MiB", left)
	}
}
