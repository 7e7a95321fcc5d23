package remote

import (
	"encoding/binary"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// reading are the requests that change nothing in a cluster, by API key; every other one is held back from a cluster that
// is read-only, also those that are yet to be invented.
//
// Fetch counts as reading and ShareFetch does not: it takes records from the others of its group. FindCoordinator does,
// though a cluster that has never had a group may make the topic of groups for it, as it does for Kafka's own tools.
func reading(key int16) bool {
	switch kmsg.Key(key) {
	case kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetFetch, kmsg.FindCoordinator, kmsg.DescribeGroups, kmsg.ListGroups,
		kmsg.SASLHandshake, kmsg.ApiVersions, kmsg.OffsetForLeaderEpoch, kmsg.DescribeACLs, kmsg.DescribeConfigs, kmsg.DescribeLogDirs,
		kmsg.SASLAuthenticate, kmsg.DescribeDelegationToken, kmsg.ListPartitionReassignments, kmsg.DescribeClientQuotas,
		kmsg.DescribeUserSCRAMCredentials, kmsg.DescribeQuorum, kmsg.DescribeCluster, kmsg.DescribeProducers,
		kmsg.DescribeTransactions, kmsg.ListTransactions, kmsg.ConsumerGroupDescribe, kmsg.ListConfigResources,
		kmsg.DescribeTopicPartitions, kmsg.ShareGroupDescribe, kmsg.StreamsGroupDescribe, kmsg.DescribeShareGroupOffsets:
		return true
	}
	return false
}

// guard is a connection that lets reading requests through and nothing else. It stands nearer to the network than all that
// makes requests, but for TLS, so that none can go round it.
type guard struct{ net.Conn }

// Write sends whole requests. Where one of them writes, nothing is sent, and the error wraps model.ErrReadOnly.
func (g guard) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		if len(rest) < 12 {
			return 0, held("a piece of a request")
		}
		size := int64(binary.BigEndian.Uint32(rest)) + 4
		if size < 12 || size > int64(len(rest)) {
			return 0, held("a piece of a request")
		}
		if err := mayPass(rest[4:size]); err != nil {
			return 0, err
		}
		rest = rest[size:]
	}
	return g.Conn.Write(b)
}

func held(what string) error {
	return fmt.Errorf("%s is held back: %w", what, model.ErrReadOnly)
}

// mayPass looks at a request without its length.
func mayPass(req []byte) error {
	key, version := int16(binary.BigEndian.Uint16(req)), int16(binary.BigEndian.Uint16(req[2:]))
	name := kmsg.NameForKey(key)
	switch {
	case !reading(key):
		return held("a request " + name)
	case kmsg.Key(key) == kmsg.SASLHandshake && version == 0:
		return held("a login as of Kafka before 1.0, after which requests cannot be told from it,")
	case kmsg.Key(key) == kmsg.Metadata && makesTopics(req, version):
		return held("a request Metadata that may make topics")
	}
	return nil
}

// makesTopics reports whether a request for metadata may make the topics that it names.
func makesTopics(req []byte, version int16) bool {
	m := kmsg.NewPtrMetadataRequest()
	if version > m.MaxVersion() {
		return true // nobody knows
	}
	m.SetVersion(version)
	body, ok := afterHeader(req, m.IsFlexible())
	if !ok || m.ReadFrom(body) != nil {
		return true
	}
	if version < 4 {
		return len(m.Topics) > 0 // it is not asked then, but done where the broker is set up to
	}
	return m.AllowAutoTopicCreation
}

// afterHeader cuts off the header: key, version, correlation id, the client's id, and in flexible versions no tags.
func afterHeader(req []byte, flexible bool) ([]byte, bool) {
	if len(req) < 10 {
		return nil, false
	}
	n := int(int16(binary.BigEndian.Uint16(req[8:])))
	rest := req[10:]
	if n > len(rest) {
		return nil, false
	}
	rest = rest[max(0, n):]
	if !flexible {
		return rest, true
	}
	if len(rest) == 0 || rest[0] != 0 {
		return nil, false
	}
	return rest[1:], true
}

// writing returns an error where the cluster is only to be read. It spares the way to the guard, and says what it was
// that may not be done.
func (c *Client) writing(what string) error {
	switch {
	case !c.o.ReadOnly:
		return nil
	case c.o.Profile.Name != "":
		return fmt.Errorf("%s: %w, as its profile %s says", what, model.ErrReadOnly, c.o.Profile.Name)
	}
	return fmt.Errorf("%s: %w", what, model.ErrReadOnly)
}
