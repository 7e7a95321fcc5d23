package wire

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// describeConfigs tells configs (DescribeConfigs 1-4): of topics all that Kafka 4.4 knows, of the broker those that mean
// something here, of all brokers ("" as a name) and of groups what was set. A name that there is not is left out of the answer.
// There are no loggers, and no client metrics.
func (s *Server) describeConfigs(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeConfigsRequest)
	r := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	l := s.layers()
	r.Resources = make([]kmsg.DescribeConfigsResponseResource, 0, len(req.Resources))
	for i := range req.Resources {
		asked := &req.Resources[i]
		list, f := s.resourceConfigs(l, asked)
		a := kmsg.NewDescribeConfigsResponseResource()
		a.ErrorCode, a.ErrorMessage = f.code, f.message()
		a.ResourceType, a.ResourceName = asked.ResourceType, asked.ResourceName
		a.Configs = make([]kmsg.DescribeConfigsResponseResourceConfig, 0, len(list))
		for i := range list {
			a.Configs = append(a.Configs, described(&list[i], req))
		}
		r.Resources = append(r.Resources, a)
	}
	return r, nil
}

// described puts a config into the protocol's words.
func described(s *setting, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.ReadOnly, c.IsSensitive, c.Source, c.ConfigType = s.name, s.readOnly, s.sensitive, s.source, s.kind
	if !s.sensitive && !s.null {
		c.Value = &s.value
	}
	if req.IncludeDocumentation && s.doc != "" {
		c.Documentation = &s.doc
	}
	c.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	if !req.IncludeSynonyms {
		return c
	}
	for i := range s.synonyms {
		v := &s.synonyms[i]
		n := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		n.Name, n.Source = v.name, v.source
		if !s.sensitive {
			n.Value = &v.value
		}
		c.ConfigSynonyms = append(c.ConfigSynonyms, n)
	}
	return c
}

// resourceConfigs returns what is asked for of one resource.
func (s *Server) resourceConfigs(l layers, asked *kmsg.DescribeConfigsRequestResource) ([]setting, fault) {
	name := asked.ResourceName
	switch asked.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		if isVirtual(name) && !s.b.Engine.HasTopic(name) {
			return topicConfigs(l, virtualConfigs(), asked.ConfigNames), fault{}
		}
		if err := layout.ValidTopic(name); err != nil {
			return nil, refuse(kerr.InvalidTopicException, "%v", err)
		}
		if !s.b.Engine.HasTopic(name) {
			return nil, fault{code: kerr.UnknownTopicOrPartition.Code}
		}
		return topicConfigs(l, s.b.Engine.OwnConfigs(name), asked.ConfigNames), fault{}
	case kmsg.ConfigResourceTypeBroker:
		if name == "" {
			return defaultConfigs(l, asked.ConfigNames), fault{}
		}
		if f := s.self(name); f.bad() {
			return nil, f
		}
		return brokerConfigs(l, asked.ConfigNames), fault{}
	case kmsg.ConfigResourceTypeBrokerLogger:
		return nil, s.self(name)
	case clientMetrics:
		if name == "" {
			return nil, refuse(kerr.InvalidRequest, "Client metrics subscription name must not be empty")
		}
		return nil, fault{}
	case kmsg.ConfigResourceTypeGroupConfig:
		if name == "" {
			return nil, refuse(kerr.InvalidRequest, "Group name must not be empty")
		}
		return groupConfigs(l, s.b.Engine.GroupConfigs(name), asked.ConfigNames), fault{}
	}
	return nil, refuse(kerr.InvalidRequest, "Unsupported resource type: %d", asked.ResourceType)
}

// clientMetrics is the type of resource that says which metrics clients send, of which there are none here.
const clientMetrics = kmsg.ConfigResourceType(16)

// virtualConfigs are the configs that Kafka gives to the topic with the groups' offsets.
func virtualConfigs() map[string]string {
	return map[string]string{"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"}
}

// self says what is wrong with the name of a broker: there is one.
func (s *Server) self(name string) fault {
	n, err := strconv.ParseInt(name, 10, 32)
	switch self := s.b.Engine.NodeID(); {
	case err != nil:
		return refuse(kerr.InvalidRequest, "Broker id must be an integer, but it is: %s", name)
	case int32(n) != self:
		return refuse(kerr.InvalidRequest, "Unexpected broker id, expected %d but received %d", self, n)
	}
	return fault{}
}
