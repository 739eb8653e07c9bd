package harness

import (
	"reflect"
	"strings"
	"testing"
)

// fieldsOf lists the JSON names of a struct, those of embedded parts too.
func fieldsOf[T any](t *testing.T) []string {
	t.Helper()
	var names []string
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-":
			case options == "embed" && f.Type.Kind() == reflect.Struct:
				walk(f.Type)
			case name != "":
				names = append(names, name)
			}
		}
	}
	walk(reflect.TypeFor[T]())
	return names
}

// TestStructsAreSmall holds the rule of eight fields.
func TestStructsAreSmall(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[Harness](), reflect.TypeFor[Plugin](), reflect.TypeFor[ACP](), reflect.TypeFor[Own](), reflect.TypeFor[Command](), reflect.TypeFor[Problem]()} {
		if n := typ.NumField(); n > 8 {
			t.Errorf("%s has %d fields", typ.Name(), n)
		}
	}
}
