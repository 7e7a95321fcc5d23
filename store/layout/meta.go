package layout

import (
	"encoding/json"
	"strconv"
	"time"
)

// Meta is what meta.properties says of a log directory.
type Meta struct {
	Version     int   // 0: a broker of the ZooKeeper days, 1: KRaft
	NodeID      int32 // broker.id or node.id; -1 where there is none
	ClusterID   string
	DirectoryID string
}

// ParseMeta reads meta.properties. With an error, which is a *FormatError, comes what could be read.
func ParseMeta(b []byte) (Meta, error) {
	props, err := ParseProperties(b)
	m := Meta{NodeID: -1}
	fail := func(line int, format string, args ...any) {
		if err == nil {
			err = badLine(line, format, args...)
		}
	}
	if p, ok := property(props, "version"); ok {
		v, nerr := strconv.ParseInt(p.Value, 10, 32)
		if nerr != nil || v < 0 {
			fail(p.Line, "version %s is no number", short(p.Value))
		} else if m.Version = int(v); v > 1 {
			fail(p.Line, "unknown version %d", v)
		}
	}
	node := "node.id"
	p, ok := property(props, node)
	if !ok || m.Version == 0 {
		if old, found := property(props, "broker.id"); found {
			node, p, ok = "broker.id", old, true
		}
	}
	switch {
	case ok:
		n, nerr := strconv.ParseInt(p.Value, 10, 32)
		if nerr != nil || n < 0 {
			fail(p.Line, "%s %s is no number", node, short(p.Value))
		} else {
			m.NodeID = int32(n)
		}
	case m.Version == 1:
		fail(1, "no node.id")
	}
	p, _ = property(props, "cluster.id")
	if m.ClusterID = p.Value; m.ClusterID == "" && m.Version == 1 {
		fail(1, "no cluster.id")
	}
	if p, ok := property(props, "directory.id"); ok {
		m.DirectoryID = p.Value
	}
	return m, err
}

// AppendMeta appends meta.properties, dated as a broker does.
func AppendMeta(dst []byte, m Meta, at time.Time) []byte {
	dst = append(dst, "#\n#"...)
	dst = append(at.AppendFormat(dst, "Mon Jan 02 15:04:05 MST 2006"), '\n')
	var props []Property
	add := func(key, value string) {
		if value != "" {
			props = append(props, Property{Key: key, Value: value})
		}
	}
	node := ""
	if m.NodeID >= 0 {
		node = strconv.Itoa(int(m.NodeID))
	}
	if m.Version == 0 {
		add("broker.id", node)
	} else {
		add("node.id", node)
	}
	add("directory.id", m.DirectoryID)
	add("version", strconv.Itoa(m.Version))
	add("cluster.id", m.ClusterID)
	return AppendProperties(dst, props)
}

// CleanShutdown is what the mark of a clean stop says.
type CleanShutdown struct {
	Version     int
	BrokerEpoch int64 // -1 where the mark does not say
}

// ParseCleanShutdown reads the mark of a clean stop. The mark counts by being there: an older broker leaves it empty.
// Errors are *FormatError.
func ParseCleanShutdown(b []byte) (CleanShutdown, error) {
	c := CleanShutdown{BrokerEpoch: -1}
	if len(b) == 0 {
		return c, nil
	}
	var file struct {
		Version     int
		BrokerEpoch *int64
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return c, badLine(1, "%v", err)
	}
	c.Version = file.Version
	if file.BrokerEpoch != nil {
		c.BrokerEpoch = *file.BrokerEpoch
	}
	return c, nil
}

// AppendCleanShutdown appends the mark of a clean stop, as a broker of our days writes it.
func AppendCleanShutdown(dst []byte, c CleanShutdown) []byte {
	dst = strconv.AppendInt(append(dst, `{"version":`...), int64(c.Version), 10)
	dst = strconv.AppendInt(append(dst, `,"brokerEpoch":`...), c.BrokerEpoch, 10)
	return append(dst, '}')
}

// Quorum is what a KRaft node remembers of its elections.
type Quorum struct {
	Version     int
	LeaderID    int32 // -1 for none
	LeaderEpoch int32
	VotedID     int32   // -1 for none
	Voters      []int32 // only of version 0
}

// ParseQuorum reads quorum-state. Errors are *FormatError.
func ParseQuorum(b []byte) (Quorum, error) {
	file := struct {
		LeaderID      int32 `json:"leaderId"`
		LeaderEpoch   int32 `json:"leaderEpoch"`
		VotedID       int32 `json:"votedId"`
		DataVersion   int   `json:"data_version"`
		CurrentVoters []struct {
			VoterID int32 `json:"voterId"`
		} `json:"currentVoters"`
	}{LeaderID: -1, LeaderEpoch: -1, VotedID: -1}
	if err := json.Unmarshal(b, &file); err != nil {
		return Quorum{LeaderID: -1, LeaderEpoch: -1, VotedID: -1}, badLine(1, "%v", err)
	}
	q := Quorum{Version: file.DataVersion, LeaderID: file.LeaderID, LeaderEpoch: file.LeaderEpoch, VotedID: file.VotedID}
	for _, v := range file.CurrentVoters {
		q.Voters = append(q.Voters, v.VoterID)
	}
	return q, nil
}
