package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// setting is a config with its value and where that comes from.
type setting struct {
	def    layout.ConfigDef
	value  string
	source kmsg.ConfigSource
}

// topicConfigs returns the configs of a topic that has set own itself, by name; where names is not nil, those of it.
func (s *Server) topicConfigs(own map[string]string, names []string) []setting {
	layers := s.b.Engine.BaseConfigs()
	var list []setting
	for _, d := range layout.Configs() {
		e := setting{def: d, value: d.Default, source: kmsg.ConfigSourceDefaultConfig}
		if v, ok := layers[d.Name]; ok {
			e.value, e.source = v, kmsg.ConfigSourceStaticBrokerConfig
		}
		if v, ok := own[d.Name]; ok {
			e.value, e.source = v, kmsg.ConfigSourceDynamicTopicConfig
		}
		list = append(list, e)
	}
	return list
}
