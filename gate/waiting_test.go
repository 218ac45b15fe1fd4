package gate_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// What a Policy says is about a message as it is: nothing in it is a time to
// wait, so no rule can hold an Eval up. A Source that waits does so before.
func TestAPolicyHasNothingToWaitFor(t *testing.T) {
	t.Parallel()
	t.Run("no key of a Policy is a duration or a time (RV-9)", func(t *testing.T) {
		t.Parallel()
		for _, at := range waits(reflect.TypeFor[gate.Policy](), "policy") {
			t.Errorf("%s is a time to wait for", at)
		}
	})
	t.Run("and one would be found (RV-9)", func(t *testing.T) {
		t.Parallel()
		type rule struct{ MinAge time.Duration }
		if got := waits(reflect.TypeFor[map[string][]rule](), "p"); len(got) != 1 {
			t.Errorf("waits = %v, want the one key", got)
		}
	})
}

// waits lists the durations and times below a type.
func waits(t reflect.Type, at string) (found []string) {
	switch {
	case t == reflect.TypeFor[time.Duration]() || t == reflect.TypeFor[time.Time]():
		return []string{at}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer:
		return waits(t.Elem(), at+"[]")
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			found = append(found, waits(t.Field(i).Type, at+"."+t.Field(i).Name)...)
		}
	}
	return found
}
