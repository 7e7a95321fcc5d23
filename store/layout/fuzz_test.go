package layout

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

func seeds(f *testing.F, names ...string) {
	for _, dir := range dirs {
		for _, n := range names {
			f.Add(real(f, dir, n))
		}
	}
}

func FuzzOffsets(f *testing.F) {
	seeds(f, RecoveryPointFile, CleanerFile)
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, err := ParseOffsets(b)
		again, aerr := ParseOffsets(AppendOffsets(nil, lines))
		if aerr != nil || !reflect.DeepEqual(lines, again) {
			t.Fatalf("%q, %v: %v, then %v, %v", b, err, lines, again, aerr)
		}
	})
}

func FuzzEpochs(f *testing.F) {
	f.Add(real(f, "clean", EpochsFile))
	f.Add([]byte("0\n9\n0 0\n2 30\n4 33\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, err := ParseEpochs(b)
		again, aerr := ParseEpochs(AppendEpochs(nil, lines))
		if err == nil && aerr != nil || !reflect.DeepEqual(lines, again) {
			t.Fatalf("%q, %v: %v, then %v, %v", b, err, lines, again, aerr)
		}
	})
}

func FuzzPartitionMeta(f *testing.F) {
	f.Add(real(f, "clean", PartitionMetaFile))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := ParsePartitionMeta(b)
		if err != nil {
			return
		}
		if again, err := ParsePartitionMeta(AppendPartitionMeta(nil, id)); err != nil || again != id {
			t.Fatalf("%v, then %v, %v", id, again, err)
		}
	})
}

func FuzzProperties(f *testing.F) {
	seeds(f, MetaFile)
	f.Add([]byte("version=1\nnode.id=0\ncluster.id=\n"))
	f.Add([]byte("a\\ b = \\u00e4\\\n  c\r\n!x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		props, _ := ParseProperties(b)
		written := AppendProperties(nil, props)
		again, err := ParseProperties(written)
		if err != nil || len(again) != len(props) {
			t.Fatalf("%+v: %+v, then %+v, %v", b, props, again, err)
		}
		for i := range props {
			if props[i].Key != again[i].Key || props[i].Value != again[i].Value {
				t.Fatalf("%+v, then %+v", props[i], again[i])
			}
		}
		m, err := ParseMeta(b)
		if err == nil {
			if m2, err := ParseMeta(AppendMeta(nil, m, time.Unix(0, 0).UTC())); err != nil || m2 != m {
				t.Fatalf("%+v, then %+v, %v", m, m2, err)
			}
		}
		BrokerDefaults(props)
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Add(real(f, "clean", "00000000000000000325.snapshot"))
	f.Add(real(f, "clean", "00000000000000000016.snapshot"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := ParseSnapshot(b)
		if got := AppendSnapshot(nil, list); err == nil && !bytes.Equal(got, b) {
			t.Fatalf("%x, then %x", b, got)
		}
		if len(list)*snapshotEntry > len(b) {
			t.Fatal("more entries than bytes")
		}
	})
}

func FuzzJSONFiles(f *testing.F) {
	f.Add([]byte(`{"version":0,"brokerEpoch":343}`))
	f.Add(real(f, "clean", QuorumStateFile))
	f.Fuzz(func(t *testing.T, b []byte) {
		ParseQuorum(b)
		c, err := ParseCleanShutdown(b)
		if err != nil {
			return
		}
		if again, err := ParseCleanShutdown(AppendCleanShutdown(nil, c)); err != nil || again != c {
			t.Fatalf("%+v, then %+v, %v", c, again, err)
		}
	})
}

func FuzzConfig(f *testing.F) {
	for _, d := range Configs() {
		f.Add(d.Name, d.Default)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		err := ValidateConfig(name, value)
		c := ParseTopicConfig(map[string]string{name: value})
		if d, ok := Config(name); ok && err != nil {
			if c != ParseTopicConfig(map[string]string{name: d.Default}) {
				t.Fatalf("%s=%q is refused and has an effect", name, value)
			}
		}
		BrokerDefaults([]Property{{Key: name, Value: value, Line: 1}})
	})
}
