package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// reply is an answer: its body, without the header. A kmsg.Response is one. nil is no answer at all (acks=0).
type reply interface {
	AppendTo(dst []byte) []byte
}

// handler serves one request. It runs on its connection's goroutine and may wait until c.ctx ends. An error closes the
// connection.
type handler func(s *Server, c *call) (reply, error)

// api is an API that is served.
type api struct {
	min, max int16
	handle   handler
	// floor is the lowest version served where that is not min: versions below are advertised and closed on.
	floor int16
	// early is served before the client has said who it is.
	early bool
}

// apis are the APIs by key, which are advertised as they stand here.
func apis() map[kmsg.Key]api {
	return map[kmsg.Key]api{
		kmsg.ApiVersions:    {min: 0, max: 5, handle: (*Server).apiVersions, early: true},
		kmsg.InitProducerID: {min: 0, max: 5, handle: (*Server).initProducerID},
	}
}
