package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// reply is an answer: its body, without the header. A kmsg.Response is one. nil is no answer at all (acks=0).
type reply interface {
	AppendTo(dst []byte) []byte
}

// streamed is a reply whose body does not have to be in memory as a whole: AppendTo is not called.
type streamed interface {
	reply
	// size returns the length of the body, bytes.
	size() int
	// stream writes the body, size bytes. After an error the connection is closed.
	stream(w *sink) error
	// release is called once, whether the reply was written or not.
	release()
}

// failing is a reply that knows whether an error code stands in it; kmsg's are looked through.
type failing interface{ failed() bool }

// handler serves one request. It runs on its connection's goroutine and may wait until c.ctx ends; then it answers what
// it has. An error closes the connection.
type handler func(s *Server, c *call) (reply, error)

// api is an API that is served.
type api struct {
	min, max int16
	handle   handler
	// floor is the lowest version served where that is not min: versions below are advertised and closed on.
	floor int16
	// early is served before the client has said who it is.
	early bool
	// quick never waits for anything but the disk, so that the answers before it may wait for its own.
	quick bool
	// waits is answered when others have acted: how long it takes says nothing of the server.
	waits bool
	// raw is decoded by its handler: c.req is nil, and c.body what follows the header.
	raw bool
	// reuse says that nothing keeps a part of the request ([]byte fields lie in its frame) when the handler has returned.
	reuse bool

	flexible int16 // the first flexible version; see complete
}

// apis are the APIs by key, which are advertised as they stand here.
func apis() map[kmsg.Key]api {
	return map[kmsg.Key]api{
		kmsg.Produce:                      {min: 0, max: 13, floor: 3, handle: (*Server).produce, quick: true, raw: true, reuse: true},
		kmsg.Fetch:                        {min: 4, max: 18, handle: (*Server).fetch, reuse: true},
		kmsg.ListOffsets:                  {min: 1, max: 11, handle: (*Server).listOffsets, quick: true},
		kmsg.DeleteRecords:                {min: 0, max: 2, handle: (*Server).deleteRecords},
		kmsg.OffsetForLeaderEpoch:         {min: 2, max: 4, handle: (*Server).offsetForLeaderEpoch, quick: true},
		kmsg.DescribeProducers:            {min: 0, max: 0, handle: (*Server).describeProducers, quick: true},
		kmsg.Metadata:                     {min: 0, max: 13, handle: (*Server).metadata, quick: true},
		kmsg.FindCoordinator:              {min: 0, max: 6, handle: (*Server).findCoordinator, quick: true},
		kmsg.OffsetCommit:                 {min: 2, max: 10, handle: (*Server).offsetCommit, quick: true, reuse: true},
		kmsg.OffsetFetch:                  {min: 1, max: 10, handle: (*Server).offsetFetch, quick: true, reuse: true},
		kmsg.JoinGroup:                    {min: 0, max: 9, handle: (*Server).joinGroup, reuse: true, waits: true},
		kmsg.Heartbeat:                    {min: 0, max: 4, handle: (*Server).heartbeat, quick: true, reuse: true},
		kmsg.LeaveGroup:                   {min: 0, max: 5, handle: (*Server).leaveGroup, quick: true, reuse: true},
		kmsg.SyncGroup:                    {min: 0, max: 5, handle: (*Server).syncGroup, reuse: true, waits: true},
		kmsg.DescribeGroups:               {min: 0, max: 6, handle: (*Server).describeGroups, quick: true, reuse: true},
		kmsg.ListGroups:                   {min: 0, max: 5, handle: (*Server).listGroups, quick: true, reuse: true},
		kmsg.DeleteGroups:                 {min: 0, max: 3, handle: (*Server).deleteGroups, quick: true, reuse: true},
		kmsg.OffsetDelete:                 {min: 0, max: 0, handle: (*Server).offsetDelete, quick: true, reuse: true},
		kmsg.DescribeUserSCRAMCredentials: {min: 0, max: 0, handle: (*Server).describeUsers},
		kmsg.AlterUserSCRAMCredentials:    {min: 0, max: 0, handle: (*Server).alterUsers, reuse: true},
		kmsg.SASLHandshake:                {min: 0, max: 1, handle: (*Server).saslHandshake, early: true},
		kmsg.SASLAuthenticate:             {min: 0, max: 2, handle: (*Server).saslAuthenticate, early: true, reuse: true},
		kmsg.ApiVersions:                  {min: 0, max: 5, handle: (*Server).apiVersions, early: true, quick: true},
		kmsg.CreateTopics:                 {min: 2, max: 7, handle: (*Server).createTopics},
		kmsg.DeleteTopics:                 {min: 1, max: 6, handle: (*Server).deleteTopics},
		kmsg.CreatePartitions:             {min: 0, max: 3, handle: (*Server).createPartitions},
		kmsg.AlterConfigs:                 {min: 0, max: 2, handle: (*Server).alterConfigs},
		kmsg.IncrementalAlterConfigs:      {min: 0, max: 1, handle: (*Server).incrementalAlterConfigs},
		kmsg.DescribeLogDirs:              {min: 1, max: 5, handle: (*Server).describeLogDirs},
		kmsg.DescribeCluster:              {min: 0, max: 2, handle: (*Server).describeCluster},
		kmsg.DescribeTopicPartitions:      {min: 0, max: 0, handle: (*Server).describeTopicPartitions},
		kmsg.ElectLeaders:                 {min: 0, max: 2, handle: (*Server).electLeaders},
		kmsg.AlterPartitionAssignments:    {min: 0, max: 1, handle: (*Server).alterPartitionReassignments},
		kmsg.ListPartitionReassignments:   {min: 0, max: 0, handle: (*Server).listPartitionReassignments},
		kmsg.DescribeClientQuotas:         {min: 0, max: 1, handle: (*Server).describeClientQuotas},
		kmsg.DescribeACLs:                 {min: 1, max: 3, handle: (*Server).describeACLs},
		kmsg.CreateACLs:                   {min: 1, max: 3, handle: (*Server).createACLs},
		kmsg.DeleteACLs:                   {min: 1, max: 3, handle: (*Server).deleteACLs},
		kmsg.DescribeConfigs:              {min: 1, max: 4, handle: (*Server).describeConfigs},
		kmsg.ListConfigResources:          {min: 0, max: 1, handle: (*Server).listConfigResources},
		kmsg.InitProducerID:               {min: 0, max: 5, handle: (*Server).initProducerID},
		kmsg.AddPartitionsToTxn:           {min: 0, max: 5, handle: (*Server).addPartitionsToTxn},
		kmsg.AddOffsetsToTxn:              {min: 0, max: 4, handle: (*Server).addOffsetsToTxn},
		kmsg.EndTxn:                       {min: 0, max: 5, handle: (*Server).endTxn},
		kmsg.WriteTxnMarkers:              {min: 1, max: 2, handle: (*Server).writeTxnMarkers},
		kmsg.TxnOffsetCommit:              {min: 0, max: 6, handle: (*Server).txnOffsetCommit},
		kmsg.ConsumerGroupHeartbeat:       {min: 0, max: 1, handle: (*Server).consumerGroupHeartbeat, quick: true},
		kmsg.ConsumerGroupDescribe:        {min: 0, max: 1, handle: (*Server).consumerGroupDescribe, quick: true},
		kmsg.DescribeTransactions:         {min: 0, max: 0, handle: (*Server).describeTransactions},
		kmsg.ListTransactions:             {min: 0, max: 2, handle: (*Server).listTransactions},
	}
}

// complete fills in what kmsg knows of the APIs.
func complete(all map[kmsg.Key]api) map[kmsg.Key]api {
	for k, a := range all {
		a.flexible = a.max + 1
		r := kmsg.RequestForKey(int16(k))
		for v := a.max; v >= 0; v-- {
			if r.SetVersion(v); r.IsFlexible() {
				a.flexible = v
			}
		}
		all[k] = a
	}
	return all
}
