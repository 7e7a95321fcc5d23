package layout

import (
	"fmt"
	"strings"
	"testing"
)

func TestListenersOfProperties(t *testing.T) {
	for name, tc := range map[string]struct {
		props, listeners, advertised, invalid string
	}{
		"none":                  {"", "[]", "[]", "[]"},
		"one":                   {"listeners=PLAINTEXT://127.0.0.1:9092", "[PLAINTEXT PLAINTEXT 127.0.0.1:9092]", "[]", "[]"},
		"every interface":       {"listeners=PLAINTEXT://:9092", "[PLAINTEXT PLAINTEXT :9092]", "[]", "[]"},
		"v6":                    {"listeners=plaintext://[::1]:9093", "[PLAINTEXT PLAINTEXT [::1]:9093]", "[]", "[]"},
		"controllers are none":  {"listeners=PLAINTEXT://localhost:9092, CONTROLLER://localhost:9093\ncontroller.listener.names=CONTROLLER", "[PLAINTEXT PLAINTEXT localhost:9092]", "[]", "[]"},
		"names of one's own":    {"listeners=IN://localhost:1,OUT://localhost:2\nlistener.security.protocol.map=IN:PLAINTEXT,OUT:SASL_SSL", "[IN PLAINTEXT localhost:1 OUT SASL_SSL localhost:2]", "[]", "[]"},
		"advertised":            {"listeners=PLAINTEXT://127.0.0.1:9092\nadvertised.listeners=PLAINTEXT://kafka.local:19092", "[PLAINTEXT PLAINTEXT 127.0.0.1:9092]", "[PLAINTEXT PLAINTEXT kafka.local:19092]", "[]"},
		"old keys":              {"host.name=127.0.0.1\nport=9093", "[PLAINTEXT PLAINTEXT 127.0.0.1:9093]", "[]", "[]"},
		"old keys, port alone":  {"port=9093", "[PLAINTEXT PLAINTEXT :9093]", "[]", "[]"},
		"listeners before old":  {"port=9093\nlisteners=PLAINTEXT://:1", "[PLAINTEXT PLAINTEXT :1]", "[]", "[]"},
		"no port":               {"listeners=PLAINTEXT://127.0.0.1", "[]", "[]", "[line 1: listeners is \"PLAINTEXT://127.0.0.1\": want " + wantListeners + "]"},
		"a name nobody knows":   {"listeners=OUT://127.0.0.1:1", "[]", "[]", "[line 1: listeners is \"OUT://127.0.0.1:1\": want " + wantListeners + "]"},
		"a port that is none":   {"listeners=PLAINTEXT://a:99999", "[]", "[]", "[line 1: listeners is \"PLAINTEXT://a:99999\": want " + wantListeners + "]"},
		"a protocol of nothing": {"listener.security.protocol.map=A:HTTP", "[]", "[]", "[line 1: listener.security.protocol.map is \"A:HTTP\": want NAME:PROTOCOL, several with commas; protocols are PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]"},
	} {
		t.Run(name, func(t *testing.T) {
			props, err := ParseProperties([]byte(tc.props))
			if err != nil {
				t.Fatal(err)
			}
			b := BrokerDefaults(props)
			words := func(ls []Listener) string {
				var all []string
				for _, l := range ls {
					all = append(all, l.Name, l.Protocol, l.Address())
				}
				return "[" + strings.Join(all, " ") + "]"
			}
			if got := words(b.Listeners); got != tc.listeners {
				t.Errorf("listeners %s, want %s", got, tc.listeners)
			}
			if got := words(b.Advertised); got != tc.advertised {
				t.Errorf("advertised %s, want %s", got, tc.advertised)
			}
			if got := fmt.Sprint(b.Invalid); got != tc.invalid {
				t.Errorf("invalid %s, want %s", got, tc.invalid)
			}
			if len(b.Unknown) > 0 {
				t.Errorf("unknown %q", b.Unknown)
			}
		})
	}
}
