package wire

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// FindCoordinator, 0-6: it is always we. Versions 0-3 ask for one key, from 4 on for several; version 6 knows share
// groups, whose keys are looked at and answered though share groups are not served.
func (s *Server) findCoordinator(c *call) (reply, error) {
	req := c.req.(*kmsg.FindCoordinatorRequest)
	r := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	host, port := c.conn.endpoint()
	if c.version < 4 {
		f := findable(req.CoordinatorType, req.CoordinatorKey, c.version)
		r.NodeID, r.Host, r.Port = s.b.Engine.NodeID(), host, port
		text := "NONE"
		if f.bad() {
			r.NodeID, r.Host, r.Port, text = -1, "", -1, f.text
			if text == "" {
				text = kerr.TypedErrorForCode(f.code).Description
			}
		}
		r.ErrorCode, r.ErrorMessage = f.code, &text
		return r, nil
	}
	for _, key := range req.CoordinatorKeys {
		f := findable(req.CoordinatorType, key, c.version)
		k := kmsg.NewFindCoordinatorResponseCoordinator()
		k.Key, k.NodeID, k.Host, k.Port = key, s.b.Engine.NodeID(), host, port
		if f.bad() {
			k.NodeID, k.Host, k.Port = -1, "", -1
		}
		text := f.text
		k.ErrorCode, k.ErrorMessage = f.code, &text
		r.Coordinators = append(r.Coordinators, k)
	}
	return r, nil
}

// Kinds of coordinators.
const (
	coordinatesGroup = 0
	coordinatesTxn   = 1
	coordinatesShare = 2
)

// findable says why nobody coordinates a key.
func findable(kind int8, key string, version int16) fault {
	switch {
	case kind == coordinatesGroup, kind == coordinatesTxn && version >= 1:
		return fault{}
	case kind != coordinatesShare:
		return refuse(kerr.InvalidRequest, "The coordinator type %d is unknown.", kind)
	case version < 6 || !shareKey(key):
		return fault{code: kerr.InvalidRequest.Code}
	}
	return fault{}
}

// shareKey reports whether a key is GROUP:TOPIC_ID:PARTITION.
func shareKey(key string) bool {
	parts := strings.Split(key, ":")
	if len(parts) < 3 {
		return false
	}
	n := len(parts)
	_, err := layout.ParseID(parts[n-2])
	p, perr := strconv.ParseInt(parts[n-1], 10, 32)
	return err == nil && perr == nil && p >= 0
}
