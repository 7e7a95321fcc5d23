package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of endpoint that DescribeCluster may ask for.
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

// describeCluster tells of the cluster (DescribeCluster 0-2): one broker, which is the controller too. Controllers are not
// told on a broker's listener.
func (s *Server) describeCluster(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeClusterRequest)
	r := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	f := fault{}
	if c.version >= 1 {
		switch req.EndpointType {
		case endpointBrokers:
		case endpointControllers:
			f = refuse(kerr.MismatchedEndpointType, "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
		default:
			f = refuse(kerr.UnsupportedEndpointType, "Unsupported endpoint type %d", req.EndpointType)
		}
	}
	if f.bad() {
		r.ErrorCode, r.ErrorMessage = f.code, f.message()
		return r, nil
	}
	b := kmsg.NewDescribeClusterResponseBroker()
	b.NodeID = s.b.Engine.NodeID()
	b.Host, b.Port = c.conn.endpoint()
	r.ClusterID, r.ControllerID, r.Brokers = s.b.Engine.ClusterID(), b.NodeID, append(r.Brokers, b)
	if req.IncludeClusterAuthorizedOperations {
		r.ClusterAuthorizedOperations = clusterOperations
	}
	return r, nil
}
