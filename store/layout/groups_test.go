package layout

import (
	"reflect"
	"testing"
)

func TestGroupSettings(t *testing.T) {
	defaults := Groups{
		MinSessionMS: 6000, MaxSessionMS: 1800000, MaxSize: 1<<31 - 1,
		ConsumerSessionMS: 45000, ConsumerHeartbeatMS: 5000, ConsumerMaxSize: 1<<31 - 1,
		ConsumerAssignors: []string{"uniform", "range"}, ConsumerMigration: "bidirectional",
	}
	if g := BrokerDefaults(nil).Groups; !reflect.DeepEqual(g, defaults) {
		t.Errorf("without a file: %+v", g)
	}
	props, err := ParseProperties([]byte(`group.initial.rebalance.delay.ms=3000
group.min.session.timeout.ms=1000
group.max.size=7
group.consumer.session.timeout.ms=30000
group.consumer.heartbeat.interval.ms=1000
group.consumer.max.size=9
group.consumer.assignors=org.apache.kafka.coordinator.group.assignor.RangeAssignor, uniform
group.consumer.migration.policy=Disabled
`))
	if err != nil {
		t.Fatal(err)
	}
	b := BrokerDefaults(props)
	want := Groups{
		InitialDelayMS: 3000, MinSessionMS: 1000, MaxSessionMS: 1800000, MaxSize: 7,
		ConsumerSessionMS: 30000, ConsumerHeartbeatMS: 1000, ConsumerMaxSize: 9,
		ConsumerAssignors: []string{"range", "uniform"}, ConsumerMigration: "disabled",
	}
	if !reflect.DeepEqual(b.Groups, want) || b.Unknown != nil || b.Unused != nil || b.Invalid != nil {
		t.Errorf("%+v, invalid %q, unused %q", b.Groups, b.Invalid, b.Unused)
	}
	for _, line := range []string{
		"group.consumer.assignors=sticky", "group.consumer.assignors=range,range", "group.consumer.assignors=",
		"group.consumer.migration.policy=both", "group.consumer.session.timeout.ms=0", "group.max.size=many",
	} {
		props, err := ParseProperties([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if b := BrokerDefaults(props); !reflect.DeepEqual(b.Groups, defaults) || len(b.Invalid) != 1 {
			t.Errorf("%s: %+v, invalid %q", line, b.Groups, b.Invalid)
		}
	}
}
