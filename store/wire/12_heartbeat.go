package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// heartbeat is a classic member's sign of life (versions 0 to 4).
func (s *Server) heartbeat(c *call) (reply, error) {
	req := c.req.(*kmsg.HeartbeatRequest)
	r := req.ResponseKind().(*kmsg.HeartbeatResponse)
	r.ErrorCode = int16(s.b.Coordinator.Heartbeat(req.Group, req.MemberID, text(req.InstanceID), req.Generation))
	return r, nil
}

// text is a string that may be null, as "".
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
