package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/config"
)

// flagsOf creates a struct that has a flag for each wanted setting. With it, --help lists the settings without a second
// definition.
func flagsOf(wanted func(config.Setting) bool) any {
	var fields []reflect.StructField
	for _, s := range config.Settings() {
		if !wanted(s) {
			continue
		}
		kind := reflect.TypeFor[*string]()
		if s.Switch {
			kind = reflect.TypeFor[*bool]()
		}
		fields = append(fields, reflect.StructField{
			Name: "F" + strconv.Itoa(len(fields)), Type: kind,
			Tag: reflect.StructTag(fmt.Sprintf("name:%q help:%q placeholder:%q group:%q setting:%q", s.Name, help(s), s.Form, s.Group, s.Name)),
		})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

func help(s config.Setting) string {
	var notes []string
	if s.Default != "" {
		notes = append(notes, "default "+s.Default)
	}
	notes = append(notes, s.Env)
	return s.Help + " (" + strings.Join(notes, ", ") + ")"
}

// givenIn returns the flags that the user has set on the command line, by name.
func givenIn(flags any) map[string]string {
	given := map[string]string{}
	v := reflect.ValueOf(flags).Elem()
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsNil() {
			given[v.Type().Field(i).Tag.Get("setting")] = fmt.Sprint(field.Elem().Interface())
		}
	}
	return given
}
