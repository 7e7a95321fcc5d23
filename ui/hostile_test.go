package ui

import (
	"reflect"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

// evil is what every string of a hostile source ends in.
const evil = "\x1b[2J\x1b]52;c;aGk=\a\u202e\u009b\r\n\t\xff"

// poison appends evil to all strings below a value, but for the names by which the source finds what it is asked for.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + evil)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if v.Type().Elem().Kind() == reflect.Slice {
				poison(it.Value())
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; {
			case !v.Type().Field(i).IsExported():
			case name == "TopicPartition", name == "TP", name == "Group" && v.Type() == reflect.TypeFor[model.Group]():
			default:
				poison(v.Field(i))
			}
		}
	}
}

// TestNoPageLetsAByteThrough draws every page over a source all of whose words are hostile, without the root's guard.
func TestNoPageLetsAByteThrough(t *testing.T) {
	for kind, build := range registry() {
		t.Run(string(kind), func(t *testing.T) {
			src := uitest.NewSource(uitest.Now())
			src.Configs = []model.ConfigEntry{{Name: "a", Value: "b", Default: "c", Source: "d", Doc: "e"}}
			src.Dirs = []model.DirOverview{{Path: "/data", Facts: []model.Fact{{Name: "a", Value: "b", Note: "c"}}, Odd: []model.Fact{{Name: "a", Value: "b", Note: "c"}}}}
			src.Verified = []model.VerifyEvent{{At: "orders", Fault: &model.Fault{File: "0.log", Kind: "crc", What: "bad", Follows: "nothing", Position: 4, Offset: 5, Severity: model.SevDamage}}}
			src.Fields = []model.Field{{Name: "crc", Value: "1", Note: "bad", Len: 1}}
			src.Raw = []byte(evil)
			src.Found = model.LookupResult{Steps: []model.LookupStep{{Step: "segments", What: "a", Value: "b"}}, Faults: []model.Fault{{File: "a", What: "b"}}}
			poison(reflect.ValueOf(src).Elem())
			o := placeOf(kind)
			p := build(uitest.Env(t, src), o)
			defer p.Close()
			uitest.Drive(p, p.Init())
			fitsSome(t, p)
			o.Addr.Topic += evil
			if o.Addr.Group != "" {
				o.Addr.Group += evil
			}
			odd := build(uitest.Env(t, src), o)
			defer odd.Close()
			uitest.Drive(odd, odd.Init())
			fitsSome(t, odd)
		})
	}
}
