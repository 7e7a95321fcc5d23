package meta

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
)

// plainJSON makes of a decoded value what encoding/json makes of Kafka's dump of it.
func plainJSON(v any) any {
	switch v := v.(type) {
	case Fields:
		m := map[string]any{}
		for _, f := range v {
			m[f.Name] = plainJSON(f.Value)
		}
		return m
	case []int32:
		list := make([]any, len(v))
		for i, n := range v {
			list[i] = float64(n)
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainJSON(v[i])
		}
		return list
	case int64:
		return float64(v)
	case layout.ID:
		return v.String()
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	}
	return v
}

// differ says where ours is not theirs. Theirs may name fields at their default, which ours has not on disk.
func differ(at string, ours, theirs any) string {
	o, isMap := ours.(map[string]any)
	t, theirMap := theirs.(map[string]any)
	if isMap != theirMap {
		return fmt.Sprintf("%s: %v, Kafka says %v", at, ours, theirs)
	}
	if isMap {
		for k, v := range o {
			tv, ok := t[k]
			if !ok {
				return at + "." + k + ": Kafka does not name it"
			}
			if d := differ(at+"."+k, v, tv); d != "" {
				return d
			}
		}
		for k, v := range t {
			if _, ok := o[k]; ok {
				continue
			}
			switch fmt.Sprint(v) {
			case "<nil>", "-1", "0", "[]", "":
			default:
				return fmt.Sprintf("%s.%s: Kafka says %v", at, k, v)
			}
		}
		return ""
	}
	ol, isList := ours.([]any)
	tl, theirList := theirs.([]any)
	if isList && theirList && len(ol) == len(tl) {
		for i := range ol {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), ol[i], tl[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(ours, theirs) {
		return fmt.Sprintf("%s: %v, Kafka says %v", at, ours, theirs)
	}
	return ""
}

// decoded returns the key's and the value's fields, prepared as Kafka's dump tool prints them.
func decoded(t *testing.T, topic string, key, value []byte) (k, v any) {
	t.Helper()
	check := func(m Message, err error) Fields {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if m.Rest > 0 {
			t.Errorf("%s: %d bytes left over", m.Name, m.Rest)
		}
		return m.Fields
	}
	switch topic {
	case layout.MetadataTopic:
		m, err := ParseMetadataRecord(value)
		return nil, plainJSON(check(m.Message, err))
	case layout.OffsetsTopic:
		gk, err := ParseGroupKey(key)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{b: key, pos: 2}
		km, err := groupKeySchemas()[gk.Version].read(&r, 0)
		k = plainJSON(check(km, err))
		if value == nil {
			return k, nil
		}
		vm, err := ParseGroupValue(gk, value)
		v = plainJSON(check(vm, err))
		if gk.Version == KeyGroup {
			openProtocol(t, v)
		}
	case layout.TransactionsTopic:
		km, err := parseValue(txnKeySchemas(), 0, key)
		k = plainJSON(check(km, err))
		vm, err := parseValue(txnValueSchemas(), 0, value)
		v = plainJSON(check(vm, err))
		m := v.(map[string]any)
		m["transactionStatus"] = TxnStatus(m["transactionStatus"].(float64)).String()
	case layout.ShareTopic:
		sk, err := ParseShareKey(key)
		if err != nil {
			t.Fatal(err)
		}
		k = map[string]any{"groupId": sk.Group, "topicId": sk.Topic.String(), "partition": float64(sk.Partition)}
		vm, err := parseValue(shareValueSchemas(), sk.Version, value)
		v = plainJSON(check(vm, err))
	}
	return k, v
}

// openProtocol decodes the members' subscriptions and assignments in place.
func openProtocol(t *testing.T, group any) {
	t.Helper()
	for _, m := range group.(map[string]any)["members"].([]any) {
		m := m.(map[string]any)
		for id, name := range []string{"subscription", "assignment"} {
			b, err := base64.StdEncoding.DecodeString(m[name].(string))
			if err != nil {
				t.Fatal(err)
			}
			p, err := parseProtocol(int16(id), b)
			if err != nil {
				t.Fatal(err)
			}
			m[name] = plainJSON(p.Fields)
		}
	}
}

func TestEveryRecordIsWhatKafkaDumps(t *testing.T) {
	dump := dumped(t)
	compared, types := 0, map[string]bool{}
	for _, topic := range []string{layout.MetadataTopic, layout.OffsetsTopic, layout.TransactionsTopic, layout.ShareTopic} {
		for _, s := range logged(t, "clean", topic) {
			if s.head.Control() {
				continue
			}
			if topic == layout.MetadataTopic {
				if m, err := ParseMetadataRecord(s.rec.Value); err == nil && m.Name == "NoOpRecord" {
					continue
				}
			}
			if len(dump[s.file]) == 0 {
				if topic == layout.OffsetsTopic && s.partition == 1 && s.rec.Offset < 352 {
					continue // Kafka was not asked about this segment
				}
				t.Fatalf("%s@%d: Kafka does not have it", s.file, s.rec.Offset)
			}
			want := dump[s.file][0]
			dump[s.file] = dump[s.file][1:]
			if want.offset >= 0 && want.offset != s.rec.Offset {
				t.Fatalf("%s@%d: Kafka has %d", s.file, s.rec.Offset, want.offset)
			}
			k, v := decoded(t, topic, s.rec.Key, s.rec.Value)
			for _, side := range []struct {
				ours   any
				theirs string
			}{{k, want.key}, {v, want.value}} {
				var theirs any
				if err := json.Unmarshal([]byte(side.theirs), &theirs); err != nil {
					t.Fatal(err)
				}
				if m, ok := theirs.(map[string]any); ok {
					theirs = m["data"]
					types[fmt.Sprint(m["type"])] = true
				}
				if d := differ("", side.ours, theirs); d != "" {
					t.Errorf("%s@%d %s", s.file, s.rec.Offset, d)
				}
			}
			compared++
			words, ok := Text(topic, s.rec.Key, s.rec.Value)
			if !ok || words == "" || strings.HasPrefix(words, "not ") || strings.ContainsAny(words, "\n\r\x1b") {
				t.Errorf("%s@%d in words: %q", s.file, s.rec.Offset, words)
			}
		}
	}
	for file, rest := range dump {
		if len(rest) > 0 {
			t.Errorf("%s: %d records of Kafka's were not met", file, len(rest))
		}
	}
	if compared < 600 || len(types) < 20 {
		t.Errorf("compared %d records of %d types only", compared, len(types))
	}
}
