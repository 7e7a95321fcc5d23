package wire

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// unsupportedApiVersions is the answer to a version that is not served: version 0, and key 18 alone, from which the
// client sees what to ask with.
func unsupportedApiVersions(a api) reply {
	r := kmsg.NewPtrApiVersionsResponse()
	r.ErrorCode = kerr.UnsupportedVersion.Code
	r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: int16(kmsg.ApiVersions), MinVersion: a.min, MaxVersion: a.max})
	return r
}

// apiVersions lists what is served.
func (s *Server) apiVersions(c *call) (reply, error) {
	req := c.req.(*kmsg.ApiVersionsRequest)
	r := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	c.conn.software, c.conn.version = req.ClientSoftwareName, req.ClientSoftwareVersion
	for _, k := range slices.SortedFunc(maps.Keys(s.apis), cmp.Compare) {
		a := s.apis[k]
		r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: int16(k), MinVersion: a.min, MaxVersion: a.max})
	}
	return r, nil
}
