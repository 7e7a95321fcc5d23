package embedded

import (
	"math"
	"strconv"
	"time"

	"github.com/strata-kafka/strata/groups/coordinator"
	"github.com/strata-kafka/strata/store/layout"
)

// openGroups opens the group coordinator. It is there without a listener too: members of the process before are to be
// outlived, and members in this process need it.
func (b *Broker) openGroups(g layout.Groups) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	b.coordinator = coordinator.New(b.Service, coordinator.Options{
		InitialDelay: ms(g.InitialDelayMS), MinSession: ms(g.MinSessionMS), MaxSession: ms(g.MaxSessionMS), MaxSize: g.MaxSize,
		Topics: assignable{b.Engine},
		Consumer: coordinator.ConsumerOptions{
			Session: ms(g.ConsumerSessionMS), Heartbeat: ms(g.ConsumerHeartbeatMS), MaxSize: g.ConsumerMaxSize,
			Assignors: g.ConsumerAssignors, Migration: g.ConsumerMigration, Own: b.ownTimes,
		},
		Partitions: func(topic string) int32 { return int32(min(b.PartitionCount(topic), math.MaxInt32)) },
	})
}

// ownTimes returns what a consumer group's own configs say, 0 for what they do not.
func (b *Broker) ownTimes(group string) (session, heartbeat time.Duration) {
	own := b.GroupConfigs(group)
	ms := func(name string) time.Duration {
		n, _ := strconv.ParseInt(own[name], 10, 64) // validated when it was set
		return time.Duration(n) * time.Millisecond
	}
	return ms("consumer.session.timeout.ms"), ms("consumer.heartbeat.interval.ms")
}

// JoinHere makes a consumer in this process a member of a group, beside those that come from outside.
func (b *Broker) JoinHere(group string, info MemberInfo) (*coordinator.Member, error) {
	return b.coordinator.JoinHere(group, info)
}

// MemberInfo describes a member in this process.
type MemberInfo = coordinator.MemberInfo
