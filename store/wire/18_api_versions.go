package wire

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions, 0-5: what is served. Versions that are not are answered by unsupportedApiVersions. From version 3 on the
// client names its software, by rules; from version 5 on it may say which cluster and node it takes us for.

// feature is one of the cluster's features, at the level that we serve.
type feature struct {
	name     string
	min, max int16 // supported
	level    int16 // finalized
}

// features are those of Apache Kafka 4.4 that are served here: the new group protocol, and transactions that verify
// their producers (KIP-890).
func features() []feature {
	return []feature{
		{name: "group.version", min: 0, max: 1, level: 1},
		{name: "metadata.version", min: 7, max: 33, level: 33},
		{name: "transaction.version", min: 0, max: 2, level: 2},
	}
}

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
	if r.ErrorCode = s.checkApiVersions(req); r.ErrorCode != 0 {
		return r, nil
	}
	if c.version >= 3 {
		c.conn.facts.named(req.ClientSoftwareName, req.ClientSoftwareVersion)
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.apis), cmp.Compare) {
		a := s.apis[k]
		r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: int16(k), MinVersion: a.min, MaxVersion: a.max})
	}
	r.FinalizedFeaturesEpoch = 1
	for _, f := range features() {
		if f.min > 0 || c.version >= 4 { // clients of version 3 stumble over a 0
			r.SupportedFeatures = append(r.SupportedFeatures, kmsg.ApiVersionsResponseSupportedFeature{Name: f.name, MinVersion: f.min, MaxVersion: f.max})
		}
		r.FinalizedFeatures = append(r.FinalizedFeatures, kmsg.ApiVersionsResponseFinalizedFeature{Name: f.name, MaxVersionLevel: f.level, MinVersionLevel: f.level})
	}
	return r, nil
}

// checkApiVersions returns the error code of a request.
func (s *Server) checkApiVersions(req *kmsg.ApiVersionsRequest) int16 {
	if req.Version >= 3 && (!softwareWord(req.ClientSoftwareName) || !softwareWord(req.ClientSoftwareVersion)) {
		return kerr.InvalidRequest.Code
	}
	if req.Version < 5 {
		return 0
	}
	switch {
	case (req.ClusterID == nil) != (req.NodeID == -1):
		return kerr.InvalidRequest.Code
	case req.ClusterID != nil && (*req.ClusterID != s.b.Engine.ClusterID() || req.NodeID != s.b.Engine.NodeID()):
		return codeRebootstrapRequired
	}
	return 0
}

// codeRebootstrapRequired tells a client that it has reached another cluster, or node, than it believes.
const codeRebootstrapRequired = 129

// softwareWord reports whether a software's name or version is well-formed: letters, digits, inner dots and dashes.
func softwareWord(s string) bool {
	for i := range len(s) {
		b := s[i]
		switch {
		case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9':
		case (b == '.' || b == '-') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != ""
}
